"""Siblings: registrations that look forgotten, found by comparing architectures that share code, and lists.

`facts` is what is compared, `find` finds, `rank` orders by what later releases closed, `words` says it, and `suspects`
puts it together. Pure, on records; knows no engine, no file and no command.
"""

from archcap.siblings.facts import Facts, Seen
from archcap.siblings.suspects import Suspect, suspects, suspects_of_registry

__all__ = ["Facts", "Seen", "Suspect", "suspects", "suspects_of_registry"]
