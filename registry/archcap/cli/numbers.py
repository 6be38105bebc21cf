"""Numbers on a command line, each with its bounds; argparse types. Knows no command."""

from __future__ import annotations

import argparse


def count(text: str) -> int:
    """Read a whole number from 0.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0, not {text!r}")
    return int(text)


def positive(text: str) -> int:
    """Read a whole number from 1.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    number = count(text)
    if number == 0:
        raise argparse.ArgumentTypeError("expected at least 1")
    return number


def port(text: str) -> int:
    """Read a port; 0 is the system's choice.

    Raises:
        argparse.ArgumentTypeError: there is no such port.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= 18 and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, not {text!r}")
    return int(text)


def days(text: str) -> float:
    """Read a span of days, fractions too, up to a hundred years.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 36500:
        raise argparse.ArgumentTypeError(f"expected a number of days above 0 and up to 36500, not {text!r}")
    return number
