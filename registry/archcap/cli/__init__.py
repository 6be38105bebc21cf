"""`capctl`: the command line. This module finds the command and turns every failure into one clear line.

Imports nothing at import time but `sys`: `capctl --version` costs a bare interpreter, a command only what it needs.
Knows no command's options; each lives in a module of its own and is imported when it is called.
"""

from __future__ import annotations

import sys

OK, FOUND, MISUSE, UNKNOWN = 0, 1, 2, 3
"""Exit codes: fine; refused, unsafe or findings; misuse; undecided."""
INTERNAL, INTERRUPTED, PIPE_CLOSED = 70, 130, 141
"""Exit codes of what is nobody's answer: a bug of archcap, Ctrl-C, a reader that went away."""

COMMANDS = {
    "resolve": ("archcap.cli.resolve", "say whether a launch starts, what it changes, why not, and what would"),
    "explain": ("archcap.cli.explain", "say why a setting gets its value"),
    "diagnose": ("archcap.cli.diagnose", "say which rule a traceback is about, why, and what would help"),
    "upgrade": ("archcap.cli.upgrade", "say what another release makes of a launch, and how to ask it for the same"),
    "list": ("archcap.cli.list", "list architectures, capabilities, settings, releases, hardware and more"),
    "show": (
        "archcap.cli.show",
        "show one architecture, capability, setting, step, known issue, list, release or hardware",
    ),
    "diff": ("archcap.cli.diff", "compare two releases"),
    "history": ("archcap.cli.history", "say in which releases an architecture got and lost what"),
    "validate": ("archcap.cli.validate", "check the registry's data"),
    "verify": ("archcap.cli.verify", "compare the rules with the engine's own resolution"),
    "scan": ("archcap.cli.scan", "read the facts of releases from an engine's source"),
    "drift": ("archcap.cli.drift", "compare the registry with an engine's source, both ways"),
    "siblings": ("archcap.cli.siblings", "find registrations that look forgotten"),
    "build": ("archcap.cli.build", "compile the registry into a snapshot"),
    "doctor": ("archcap.cli.doctor", "check this installation"),
}
"""Module and summary by name. Other distributions add commands by entry points of the group `archcap.commands`."""


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code; never raises.

    Args:
        argv: words after `capctl`; those of the process when None.
    """
    words = sys.argv[1:] if argv is None else argv
    if words in (["--version"], ["-V"]):
        from archcap import __version__

        sys.stdout.write(f"capctl {__version__}\n")
        return OK
    from archcap.cli.run import run

    return run(words)
