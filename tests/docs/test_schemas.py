"""The published JSON schemas are those of the records, and answers fit them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from archcap.model.base import JsonObject
from archcap.model.codec import to_object
from tests.docs.schemas import FOLDER, schemas
from tests.resolver.toy import answer


@pytest.mark.parametrize(
    ("path", "text"), schemas().items(), ids=lambda part: part.name if isinstance(part, Path) else ""
)
def test_a_schema_file_is_the_records(path: Path, text: str) -> None:
    assert path.read_text(encoding="utf-8") == text, "write them again: python -m tests.docs.schemas"


def test_a_request_may_leave_out_all_but_engine_and_release() -> None:
    schema = json.loads((FOLDER / "request.json").read_text(encoding="utf-8"))
    assert schema["required"] == ["engine", "release"]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("fixes", [True, False])
def test_an_answer_has_the_keys_its_schema_names(fixes: bool) -> None:
    schema = json.loads((FOLDER / "resolution.json").read_text(encoding="utf-8"))
    said: Any = to_object(answer(settings={"shard_size": 2}, fixes=fixes, id="a"))
    assert unfit(schema, said) == []
    assert ("fixes" in said) is fixes
    for part, name in (("findings", "Finding"), ("fixes", "Fix"), ("undetermined", "Undetermined")):
        for item in said.get(part) or []:
            assert unfit(schema["$defs"][name], item) == []
    for value in said["settings"].values():
        assert unfit(schema["$defs"]["SettingValue"], value) == []


def unfit(schema: JsonObject, value: JsonObject) -> list[str]:
    """Return the keys of *value* that *schema* does not know, and those it requires and *value* lacks."""
    properties, required = schema["properties"], schema.get("required", [])
    assert isinstance(properties, dict)
    assert isinstance(required, list)
    return sorted(value.keys() - properties.keys()) + sorted(str(key) for key in required if key not in value)
