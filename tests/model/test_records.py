"""Records refuse what would contradict itself."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from archcap.model.architectures import ListEntry, NameList
from archcap.model.base import Record
from archcap.model.engine import Setting, SettingSpan
from archcap.model.registry import Registry
from archcap.model.support import Support, support_at


def test_partial_support_is_explained() -> None:
    assert Support(state="partial", note="only so").note == "only so"
    with pytest.raises(ValidationError, match="needs a note"):
        Support(state="partial")


def test_a_condition_belongs_to_conditional_support_alone() -> None:
    assert Support(state="conditional", when="True").when == "True"
    for wrong in ({"state": "conditional"}, {"when": "True"}):
        with pytest.raises(ValidationError, match="only conditional support has one"):
            Support.model_validate(wrong)


def test_support_without_platform_goes_before_a_platforms() -> None:
    entries = [Support(platform="hip", value=1), Support(added="0.10", value=2)]
    assert [found.value if (found := support_at(entries, release)) else None for release in ("0.9", "0.10")] == [1, 2]
    assert support_at([Support(added="0.10")], "0.9") is None


@pytest.mark.parametrize(
    "spans",
    [
        (SettingSpan(type="int"), SettingSpan(type="int", added="0.10")),
        (SettingSpan(type="int", removed="0.11"), SettingSpan(type="int", added="0.10")),
        (SettingSpan(type="int", removed="0.11"), SettingSpan(type="int")),
        (SettingSpan(type="int", added="0.10"), SettingSpan(type="int", removed="0.10")),
    ],
)
def test_spans_of_a_setting_follow_one_another(spans: tuple[SettingSpan, SettingSpan]) -> None:
    with pytest.raises(ValidationError, match="release order"):
        Setting(spans=spans)


def test_spans_may_leave_a_gap() -> None:
    setting = Setting(spans=(SettingSpan(type="int", removed="0.10"), SettingSpan(type="str", added="0.11")))
    kinds = [span.type if (span := setting.at(release)) else None for release in ("0.9", "0.10", "0.11")]
    assert kinds == ["int", None, "str"]


def test_a_list_holds_a_name_while_one_of_its_stays_lasts() -> None:
    names = NameList(source="x", names={"A": (ListEntry(removed="0.10"), ListEntry(added="0.11")), "B": (ListEntry(),)})
    assert [names.at(release) for release in ("0.9", "0.10", "0.11")] == [{"A", "B"}, {"B"}, {"A", "B"}]


def every_record(kind: type[Record]) -> set[type[Record]]:
    found = {kind}
    for below in kind.__subclasses__():
        found |= every_record(below)
    return found


def test_all_records_are_frozen_strict_and_closed() -> None:
    assert Registry in every_record(Record)
    for record in every_record(Record):
        config = record.model_config
        assert (config.get("frozen"), config.get("strict"), config.get("extra")) == (True, True, "forbid"), record
