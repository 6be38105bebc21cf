"""What makes the plain records of answers and runs: built by our own code alone, they are not validated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def plain_record(cls: type[T]) -> type[T]:
    """Make *cls* a dataclass that type checkers hold frozen.

    At run time nothing stops an assignment: a dataclass that does costs four times as much to make, and an answer is
    made of some fifty of them a thousand times a second.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
