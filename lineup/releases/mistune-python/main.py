"""Renders a manual."""
import mistune

page = "\n\n".join(
    f"## Part {i}\n\nSome *text* and **more** with `code`, see [part](#{i}).\n\n- one\n- two\n\n> quoted {i}"
    for i in range(500))
print(len(mistune.html(page)))
