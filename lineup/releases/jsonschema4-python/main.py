"""Checks a document against the schema of its format, each time by jsonschema.validate."""
import jsonschema

NAMES = [f"part{i}" for i in range(40)]
SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {name: {"$ref": f"#/definitions/{name}"} for name in NAMES},
    "definitions": {name: {"type": "object", "properties": {"id": {"type": "integer"}}} for name in NAMES},
}

for i in range(12):
    jsonschema.validate({name: {"id": i} for name in NAMES}, SCHEMA)
print("ok")
