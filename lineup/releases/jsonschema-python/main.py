"""Checks orders against a schema whose parts refer to each other."""
import jsonschema

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"id": {"$ref": "#/$defs/id"}, "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}}},
    "$defs": {
        "id": {"type": "integer", "minimum": 1},
        "line": {"type": "object", "required": ["article", "count"],
                 "properties": {"article": {"$ref": "#/$defs/id"}, "count": {"$ref": "#/$defs/id"}}},
    },
}

validator = jsonschema.Draft202012Validator(SCHEMA)
for order in range(1, 150):
    lines = [{"article": order + line, "count": line + 1} for line in range(20)]
    validator.validate({"id": order, "lines": lines})
print("ok")
