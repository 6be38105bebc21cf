"""The JSON schemas of requests and answers, made from the records. `python -m tests.docs.schemas` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from archcap.model.request import Request
from archcap.model.resolution import Resolution
from tests.docs.pages import ROOT

FOLDER = ROOT / "docs" / "schemas"


def schemas() -> dict[Path, str]:
    """Return the text of every schema file."""
    answer = _unfolded(TypeAdapter(Resolution).json_schema(mode="serialization"))
    answer["required"].remove("fixes")  # left out when they were not asked for
    made = {"request.json": Request.model_json_schema(), "resolution.json": answer}
    return {FOLDER / name: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in made.items()}


def _unfolded(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an answer, which may hold another one, with the answer itself at its top."""
    text = json.dumps(schema).replace('"#/$defs/Resolution"', '"#"')
    schema = json.loads(text)
    return {**schema["$defs"].pop("Resolution"), "$defs": schema["$defs"]}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in schemas().items():
        path.write_text(text, encoding="utf-8")
