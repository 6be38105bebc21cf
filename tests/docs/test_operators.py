"""The tables in the pages for operators name what the registry names."""

from __future__ import annotations

import re

import pytest

from archcap.load import load_registry
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs/operators/hybrid-cache-and-dcp.md").read_text(encoding="utf-8")
ROWS = {
    "ordinary (MHA, GQA)": "dcp_backends_mha",
    "latent (MLA)": "dcp_backends_mla",
    "sparse (DSA)": "dcp_backends_mla",
}


@pytest.mark.parametrize("identifier", sorted(set(ROWS.values())))
def test_the_table_names_the_backends_with_dcp_code(identifier: str) -> None:
    shown: set[str] = set()
    for title, listed in ROWS.items():
        row = re.search(rf"^\| {re.escape(title)} \|(.*)\|$", PAGE, re.MULTILINE)
        assert row is not None
        if listed == identifier:
            shown |= set(re.findall(r"`(\w+)`", row.group(1)))
    assert shown == set(load_registry(ROOT).engines["sglang"].lists[identifier].names)
