"""Print precision and recall of `refused` or `unsafe`: reports with their neighbours, and launches the engine resolved.

    python -m tests.sglang.figures

What has to come out is known from elsewhere: a report's own verdict; of a recorded launch, whether the engine refused
it, or whether one of the later checks worked out in `test_late_checks` stops it. Stops for reasons that neither knows
of (kernels without DCP code, hooks that a request needs) are counted apart, by rule: recordings end with the arguments
and can neither confirm nor deny them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

STOPS = ("refused", "unsafe")


class Found(NamedTuple):
    """A launch: whether it has to stop, whether we stop it, by which rule, and whether the truth knows that rule."""

    wanted: bool
    stopped: bool
    rule: str
    known: bool


def of_reports() -> Iterator[Found]:
    """Yield what each report and neighbour has to come to, and comes to."""
    from tests.sglang import test_cases

    for case in test_cases.launches():
        got = test_cases.answer(case)
        yield Found(case["verdict"] in STOPS, got.verdict in STOPS, (test_cases.blockers(got) or [""])[0], True)


def of_recordings() -> Iterator[Found]:
    """Yield the same for each recorded launch; the later checks are worked out for CUDA and ROCm in 0.5.23."""
    from tests.sglang import test_cases, test_late_checks, test_recorded

    for release, launches in sorted(test_recorded.launches().items()):
        for launch in launches:
            got = test_recorded.answer_to(launch)
            rule = (test_cases.blockers(got) or [""])[0]
            worked_out = release == "0.5.23" and bool(launch["config"]) and test_late_checks.cuda_or_rocm(launch)
            late = worked_out and not launch["refused"] and bool(test_late_checks.later_checks(launch))
            known = worked_out and rule in test_late_checks.NAMES
            yield Found(bool(launch["refused"]) or late, got.verdict in STOPS, rule, known)


def figures(name: str, found: Iterator[Found]) -> str:
    """Return one line of figures."""
    counts: Counter[tuple[bool, bool]] = Counter()
    beyond: Counter[str] = Counter()
    for one in found:
        if one.stopped and not one.wanted and not one.known:
            beyond[one.rule] += 1
        else:
            counts[one.wanted, one.stopped] += 1
    hit, missed, false = counts[True, True], counts[True, False], counts[False, True]
    told = f"precision {share(hit, hit + false)}, recall {share(hit, hit + missed)}"
    apart = f"; {beyond.total()} stop for other reasons: {dict(beyond.most_common(6))}" if beyond else ""
    return f"{name}: {hit + missed} have to stop, {counts[False, False] + false} have not; {told}{apart}"


def share(part: int, whole: int) -> str:
    """Return *part* of *whole* in per cent."""
    return f"{100 * part / whole:.1f} %" if whole else "none"


if __name__ == "__main__":
    print(figures("reports and neighbours", of_reports()))
    print(figures("recorded launches", of_recordings()))
