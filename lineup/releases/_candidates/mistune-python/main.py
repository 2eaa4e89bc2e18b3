"""Renders a manual."""
import mistune

page = "\n\n".join(
    f"## Part {i}\n\nSome *text* and **more** with `code`, see [part](#{i}).\n\n- one\n- two\n\n> quoted {i}"
    for i in range(1000))
print(len(mistune.markdown(page)))
