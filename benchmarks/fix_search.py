"""Does the fix search find what trying everything finds? Compared over recorded launches that are refused.

    python -m benchmarks.fix_search ANSWERS... --configs DIR [--count N] [--wide]

Every setting that the user gave, and every one behind a blocker, is set to its default, to each choice, to each value
the rules compare it with, one change and then two, and the launch is tried in every later release. Where any of this
starts, the search has to find a fix that is no larger. `--wide` also takes back what no fix may touch.
"""

import argparse
import itertools
import statistics
import sys
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path

from archcap.errors import RequestError
from archcap.model.releases import version
from archcap.resolver.fixes import changed, compared_with, fixes_of, policy
from archcap.resolver.outcome import outcome_of
from archcap.resolver.provenance import provenance
from archcap.resolver.subject import subject_of
from archcap.snapshot.store import default
from archcap.verify.answers import recorded
from archcap.verify.launches import Configs

STARTS = ("ok", "adjusted")


def behind(outcome):
    return {name for at in outcome.blockers for name in provenance(outcome, at)}


def values(view, name, asked):
    span = view.spans[name]
    yield span.default
    yield from (True, False) if span.type == "bool" else ()
    yield from span.choices
    yield from compared_with(view.program).get(name, ())
    while isinstance(asked, int) and not isinstance(asked, bool) and asked > 1:
        asked //= 2
        yield asked


def domain(outcome, names, wide):
    view = outcome.subject.view
    found = {}
    for name in sorted(names):
        if name not in view.spans or name not in view.settings:
            continue
        given = outcome.subject.settings.get(name, view.spans[name].default)
        how = policy(view.settings[name], view.spans[name])
        tried = values(view, name, given) if how == "free" else reduced(view, name, given, how, wide)
        for value in tried:
            if repr(value) != repr(given):
                found[name, repr(value)] = (name, value)
    return list(found.values())


def reduced(view, name, given, how, wide):
    """Return what a setting that is the user's own choice may become: its default, or less of it."""
    if how == "never" and not wide:
        return
    yield view.spans[name].default
    while isinstance(given, int) and not isinstance(given, bool) and given > 1 and how != "never":
        given //= 2
        yield given


def tried(subject, changes, snapshot):
    try:
        return outcome_of(changed(subject, changes), snapshot)
    except RequestError:
        return None


def brute(outcome, snapshot, most, wide):
    """Return the smallest changes that start, None when up to *most* of them do not."""
    if most < 1:
        return None
    names = set(outcome.subject.settings) | behind(outcome)
    singles = [(one, tried(outcome.subject, [one], snapshot)) for one in domain(outcome, names, wide)]
    found = next(([one] for one, got in singles if started(got)), None)
    found = found or next(([there.subject.view.release] for there in later(outcome, snapshot) if started(there)), None)
    if found or most < 2:
        return found
    for _, got in singles:
        names |= behind(got) if got is not None else set()
    return next(two(outcome, domain(outcome, names, wide), wide, snapshot), None)


def two(outcome, changes, wide, snapshot):
    """Yield the pairs of changes that start."""
    for one, other in itertools.combinations(changes, 2):
        if one[0] != other[0] and started(tried(outcome.subject, [one, other], snapshot)):
            yield [one, other]
    for there in later(outcome, snapshot):
        for one in domain(there, set(there.subject.settings) | behind(there), wide):
            if started(tried(there.subject, [one], snapshot)):
                yield [there.subject.view.release, one]


def started(outcome):
    return outcome is not None and outcome.verdict in STARTS


def later(outcome, snapshot):
    request = outcome.subject.request
    for release in snapshot.releases(request.engine):
        if version(release) > version(outcome.subject.view.release):
            try:
                yield outcome_of(subject_of(request.model_copy(update={"release": release}), snapshot), snapshot)
            except RequestError:
                continue


def size(fix):
    return len(fix.changes) + (fix.release is not None)


def refused(paths, configs, count, snapshot):
    """Yield launches that we refuse as recorded, the same ones each time."""
    held = [launch for path in paths for launch, answer in recorded(path, "sglang", configs, "nnodes") if answer.error]
    held.sort(key=lambda one: sha256(f"{one.release} {one.gpu} {one.id}".encode()).digest())
    for launch in held:
        try:
            outcome = outcome_of(subject_of(launch.request(), snapshot), snapshot)
        except RequestError:
            continue
        if outcome.verdict == "refused" and count > 0:
            count -= 1
            yield launch, outcome


def main(words):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fix_search", description=__doc__.split("\n")[0])
    parser.add_argument("answers", nargs="+", type=Path)
    parser.add_argument("--configs", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--wide", action="store_true")
    args = parser.parse_args(words)
    snapshot = default()
    tally, times = Counter(), []
    for launch, outcome in refused(args.answers, Configs(args.configs), args.count, snapshot):
        start = time.process_time()
        fixes = fixes_of(outcome, snapshot)
        times.append((time.process_time() - start) * 1e3)
        smallest = min(map(size, fixes), default=3)
        better = brute(outcome, snapshot, smallest - 1, args.wide)
        kind = "as small" if better is None else "larger" if fixes else "missed"
        tally[kind if fixes or better else "nothing cures it"] += 1
        if better is not None:
            print(f"{kind}: {launch.release} {launch.gpu} {launch.subject.name} {launch.settings}: {better}")
    print(f"{len(times)} refused launches: {dict(tally)}; search median {statistics.median(times):.0f} ms")
    return 1 if tally["missed"] or tally["larger"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
