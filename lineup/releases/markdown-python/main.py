"""Renders a manual that is made by a program: a large table of parts, and page breaks."""
import markdown

rows = "\n".join(f"| {i} | part {i} | {i * 3} |" for i in range(4000))
breaks = "\n\n".join(f'Page {i}\n\n<div style="page-break-after: always;"></div>' for i in range(400))
print(len(markdown.markdown(f"# Manual\n\n{breaks}\n\n{rows}\n\n{breaks}")))
