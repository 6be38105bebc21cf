"""Writes docs/coverage.md: `python -m tests.coverage`. Says what is neither stated nor named."""

from __future__ import annotations

import sys

from archcap.snapshot import store
from tests.coverage.effects import RELEASE, stated, unstated
from tests.coverage.page import page


def main() -> int:
    """Write the page; fail when an effect is neither a statement nor named."""
    root = store.checkout_root()
    assert root is not None
    found = stated(store.open_registry(root).release("sglang", RELEASE).program)
    (root / "docs" / "coverage.md").write_text(page(found), encoding="utf-8")
    left = [effect for effect, said in found.items() if not said]
    rest = [effect for effect in left if not any(row.covers(effect) for row in unstated())]
    for effect in rest:
        print(f"{effect.file}:{effect.line}: {effect.function}: {effect.kind} {effect.name or sorted(effect.needs)}")
    said = sum(found.values())
    print(f"{said} of {len(found)} effects are statements ({100 * said / len(found):.1f} %)")
    return int(bool(rest))


if __name__ == "__main__":
    sys.exit(main())
