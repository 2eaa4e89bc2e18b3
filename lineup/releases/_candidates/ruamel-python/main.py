"""Formats settings with comments in them."""
import io

from ruamel.yaml import YAML

text = "".join(
    f"service{i}:\n  # the port of {i}\n  port: {i}\n  hosts:\n  - a{i}  # first\n  - b{i}\n  limits: {{cpu: {i}}}\n\n"
    for i in range(120))
yaml = YAML()
out = io.StringIO()
yaml.dump(yaml.load(text), out)
print(len(out.getvalue()))
