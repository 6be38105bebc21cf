"""docs/coverage.md: what of SGLang 0.5.23 the rules say, counted, and what they leave out and why. Computes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from tests.coverage.effects import RELEASE, Effect, Unstated, unstated

HEAD = f"""# What the rules say of SGLang {RELEASE}

Argument resolution of SGLang {RELEASE} has {{total:,}} effects: places in `srt/arg_groups` that refuse a launch, set
something, or set an environment variable. This page counts how many of them are statements of the rules and names the
others. It is computed: `make coverage` writes it, and a test holds it to the rules.

- A **refusal** counts as stated when a refusing statement that names the engine's function reads every setting that the
  engine's condition reads. Statements may join several conditions.
- A **write** counts as stated when a statement that names the function writes the same setting, or sets the same
  variable.
- Whether the statement then *does* the same is another question, and another check: [docs/verify.md](verify.md).

**{{stated:,}} of {{total:,}} effects are statements ({{share:.1f}} %); {{named}} are named below.**

## By file

| file | effects | stated | named |
|---|---:|---:|---:|
"""
LEFT = """
## What no statement says

| function | what | why not |
|---|---|---|
"""


def page(found: Mapping[Effect, bool]) -> str:
    """Return the page."""
    total, said = len(found), sum(found.values())
    head = HEAD.format(total=total, stated=said, share=100 * said / total, named=total - said)
    return head + "".join(_file_rows(found)) + LEFT + "".join(_left_rows(found))


def _file_rows(found: Mapping[Effect, bool]) -> list[str]:
    every = Counter(effect.file for effect in found)
    said = Counter(effect.file for effect, stated in found.items() if stated)
    return [f"| `{file}` | {n} | {said[file]} | {n - said[file] or ''} |\n" for file, n in sorted(every.items())]


def _left_rows(found: Mapping[Effect, bool]) -> list[str]:
    rest = [effect for effect, stated in found.items() if not stated]
    return [_left_row(row, [effect for effect in rest if row.covers(effect)]) for row in unstated()]


def _left_row(row: Unstated, left: list[Effect]) -> str:
    names = ", ".join(f"`{name}`" if name != "*" else "names it computes" for name in row.names)
    what = names or ("a refusal" if len(left) == 1 else f"{len(left)} refusals")
    return f"| `{row.function}` | {what} | {row.why} |\n"
