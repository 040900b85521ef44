"""Writes fathom_lab/records.py from docs/json-schema: typed dataclasses of the records.

    python3 python/generate.py           writes the file
    python3 python/generate.py --check   fails if the file doesn't match the schemas
"""

from __future__ import annotations

import json
import keyword
import pathlib
import sys
import textwrap
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
SCHEMAS = HERE.parent / "docs" / "json-schema"
TARGET = HERE / "fathom_lab" / "records.py"
# The records by schema, with the names of their classes.
RECORDS = {
    "bench": "BenchRecord",
    "why": "WhyRecord",
    "difference": "DifferenceRecord",
    "compare": "CompareRecord",
}
SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def type_of(schema: dict[str, Any]) -> str:
    """Returns the annotation of a schema; `Any` if it has no known type."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    for key in ("oneOf", "anyOf"):
        if key in schema:
            parts = [type_of(one) for one in schema[key]]
            if all(part.startswith("Literal[") for part in parts):
                return f"Literal[{', '.join(part[8:-1] for part in parts)}]"
            return " | ".join(dict.fromkeys(parts))
    types = schema.get("type")
    if isinstance(types, list):
        return " | ".join(type_of({**schema, "type": one}) for one in types)
    if types == "array":
        if "prefixItems" in schema:
            return f"tuple[{', '.join(type_of(one) for one in schema['prefixItems'])}]"
        return f"list[{type_of(schema['items'])}]"
    if types == "object":
        values = list(schema.get("properties", {}).values())
        return f"dict[str, {type_of(values[0])}]" if len(values) == 1 else "dict[str, Any]"
    return SIMPLE.get(str(types), "Any")


def paragraph(text: str, indent: str) -> str:
    return "\n".join(textwrap.wrap(" ".join(text.split()), 110, initial_indent=indent, subsequent_indent=indent))


def class_of(name: str, schema: dict[str, Any]) -> str:
    lines = ["@dataclass(frozen=True)", f"class {name}:"]
    lines.append('    """' + paragraph(schema.get("description", name), "    ").strip() + '"""\n')
    required = schema.get("required", [])
    fields = sorted(schema.get("properties", {}).items(), key=lambda item: item[0] not in required)
    for key, of in fields:
        assert not keyword.iskeyword(key), key
        annotation = type_of(of)
        if key not in required:
            annotation = f"{annotation.removesuffix(' | None')} | None = None"
        if "description" in of:
            lines.append(paragraph(of["description"], "    # "))
        lines.append(f"    {key}: {annotation}")
    return "\n".join(lines) + "\n"


def generated() -> str:
    classes: dict[str, dict[str, Any]] = {}
    for file, name in RECORDS.items():
        schema = json.loads((SCHEMAS / f"{file}.schema.json").read_text())
        for inner, of in {**schema["$defs"], name: schema}.items():
            assert classes.setdefault(inner, of) == of, f"two different {inner}"
    out = [
        '"""The records of Fathom, as `--json` writes them. Made by python/generate.py from docs/json-schema."""\n',
        "from __future__ import annotations\n",
        "from dataclasses import dataclass\nfrom typing import Any, Literal\n",
    ]
    names = sorted(classes)
    aliases = [name for name in names if classes[name].get("type") != "object"]
    out.extend(f"{name} = {type_of(classes[name])}" for name in aliases)
    out.append("\n")
    out.append("\n\n".join(class_of(name, classes[name]) for name in names if name not in aliases))
    return "\n".join(out)


if __name__ == "__main__":
    text = generated()
    if "--check" not in sys.argv:
        TARGET.write_text(text)
    elif TARGET.read_text() != text:
        sys.exit(f"{TARGET} doesn't match the schemas; run: python3 python/generate.py")
