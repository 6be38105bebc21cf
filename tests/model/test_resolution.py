"""What a verdict stands on is a finding that fits it."""

from __future__ import annotations

import pytest

from archcap.model.resolution import Finding, deciding


def finding(severity: str) -> Finding:
    return Finding(f"some.{severity}", severity, "init", f"Some {severity}.", (), "a.py:f", "source")


@pytest.mark.parametrize(
    ("verdict", "severities", "decides"),
    [
        ("refused", ["unsafe", "silent", "error", "error"], 2),
        ("unsafe", ["silent", "warning", "unsafe", "unsafe"], 2),
        ("refused", ["error", "unsafe"], 0),
        ("adjusted", ["silent", "warning"], None),
        ("unknown", ["silent"], None),
        ("ok", [], None),
    ],
)
def test_a_verdict_stands_on_the_first_finding_that_fits_it(verdict, severities, decides):
    findings = [finding(severity) for severity in severities]
    assert deciding(verdict, findings) is (None if decides is None else findings[decides])
