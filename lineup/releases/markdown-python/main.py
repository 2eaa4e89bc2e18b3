"""Renders a manual with inline HTML."""
import markdown

page = "\n\n".join(
    f"## Part {i}\n\nSome *text* with <b>bold</b> and `code`, see [part](#{i}).\n\n<div>\n<p>block {i}</p>\n</div>"
    for i in range(220))
print(len(markdown.markdown(page)))
