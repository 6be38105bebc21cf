"""Lines answered as they come: at once where one stands alone, by all processors where many wait.

Knows no request. Order is kept, and nothing waits for input while an answer could be given: a program may write a few
lines, read their answers, and write on.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence, Sized
from concurrent.futures import Future, ProcessPoolExecutor
from io import BufferedReader
from multiprocessing import get_context

Line = tuple[int, bytes]
"""A line with its number, from 1."""
Answer = tuple[bytes, str | None]
"""What is written for a line, and what there is to say about it."""
_READ, _ALONE, _TASK, _WAITING = 1 << 20, 4, 48, 8
"""Bytes read at once; lines answered where they are; lines of one task; tasks of each process that wait."""
_answer: Callable[[bytes, int], Answer]


def processors() -> int:
    """Return how many processors may work on lines; 1 where processes cannot be forked."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1


def answered(source: BufferedReader, answer: Callable[[bytes, int], Answer], workers: int) -> Iterator[Answer]:
    """Yield the answers to the lines of *source* in order.

    Args:
        source: what is read; it has a file descriptor.
        answer: answers a line, given its number; runs in this process or in a fork of it.
        workers: processes to use, 2 or more.
    """
    global _answer
    _answer = answer
    waiting: deque[Future[list[Answer]]] = deque()
    pool: ProcessPoolExecutor | None = None
    try:
        for lines in _read(source, waiting):
            if lines is None:
                yield from waiting.popleft().result()
            elif not waiting and len(lines) <= _ALONE:
                yield from _all(lines)
            else:
                if pool is None:
                    yield from _all(lines[:1])  # what every process needs is loaded before they part
                    lines = lines[1:]
                    pool = ProcessPoolExecutor(workers, get_context("fork"), _left_alone)
                waiting += [pool.submit(_all, lines[at : at + _TASK]) for at in range(0, len(lines), _TASK)]
                while len(waiting) > workers * _WAITING:
                    yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)


def _read(source: BufferedReader, waiting: Sized) -> Iterator[list[Line] | None]:
    """Yield the lines that are there, None where there are none yet while answers are outstanding."""
    rest, number = b"", 0
    while True:
        if waiting and not select.select([source], [], [], 0)[0]:
            yield None
            continue
        data = source.read1(_READ)
        *whole, rest = (rest + data).split(b"\n")
        if not data and rest:
            whole, rest = [rest], b""
        lines = [(number + place, line) for place, line in enumerate(whole, 1)]
        number += len(whole)
        if lines:
            yield lines
        if not data:
            return


def _all(lines: Sequence[Line]) -> list[Answer]:
    return [_answer(line, number) for number, line in lines if line and not line.isspace()]


def _left_alone() -> None:
    """Let an interrupt end the process that asked; it ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
