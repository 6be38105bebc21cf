"""Makes the corpus, and writes down what agrees: `python -m tests.conformance make|grow|agreement`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from archcap.snapshot import Snapshot, store
from archcap.verify.answers import recorded
from archcap.verify.launches import Configs
from tests.conformance import agreed, corpus, table


def make(args: argparse.Namespace) -> int:
    """Choose answers out of the files given and out of the corpus as it is; write them, and the lists anew."""
    snapshot = store.default()
    lost = [release for release in corpus.releases() if judged(release, snapshot).regressions]
    if lost and not args.anew:
        print(f"what agreed does not any more in {', '.join(lost)}: mend that first")
        print("python -m tests.conformance grow says what")
        return 1
    configs = Configs(args.configs)
    found = [] if args.anew else [row for release in corpus.releases() for row in corpus.rows(release)]
    for path in args.answers:
        found += recorded(path, corpus.ENGINE, configs, corpus.NODES)
    corpus.write(corpus.choose(found, args.size))
    for release in corpus.releases():
        standing = agreed.standing_of(release, snapshot)
        agreed.start(standing)
        share = f"{len(standing.everywhere)} of {len(standing.seen)} settings agree"
        print(f"{release}: {len(corpus.rows(release))} launches, {share}, {len(standing.verdicts)} verdicts open")
    return 0


def judged(release: str, snapshot: Snapshot) -> agreed.Verdict:
    """Return how a release stands to its lists."""
    standing = agreed.standing_of(release, snapshot)
    return agreed.judge(standing, agreed.agreed_of(release), agreed.open_of(release))


def grow(args: argparse.Namespace) -> int:
    """Add to the lists what has been reached; say what was lost."""
    del args
    snapshot = store.default()
    lost = False
    for release in corpus.releases():
        standing = agreed.standing_of(release, snapshot)
        added, closed = agreed.grow(standing)
        print(f"{release}: {len(agreed.agreed_of(release))} settings agree ({', '.join(added) or 'none'} new), "
              f"{len(agreed.open_of(release))} verdicts open ({len(closed)} closed)")  # fmt: skip
        verdict = agreed.judge(standing, agreed.agreed_of(release), agreed.open_of(release))
        if verdict.regressions:
            print(verdict)
            lost = True
    return int(lost)


def agreement(args: argparse.Namespace) -> int:
    """Print how far the rules agree, release by release."""
    del args
    print("\n".join(table.lines(table.figures(store.default()))))
    return 0


def main() -> int:
    """Run one of the three."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("make", help="choose answers anew, out of the corpus and the files given")
    making.add_argument("answers", nargs="*", type=Path, help="recorded answers: .jsonl, .jsonl.gz")
    making.add_argument("--configs", type=Path, required=True, help="the folder their configurations are in")
    making.add_argument("--size", type=int, default=1500, help="launches, where fewer would hold everything")
    making.add_argument("--anew", action="store_true", help="forget the answers that are in the corpus")
    making.set_defaults(run=make)
    growing = commands.add_parser("grow", help="add to the lists what agrees by now")
    growing.set_defaults(run=grow)
    telling = commands.add_parser("agreement", help="print how far the rules agree with the corpus")
    telling.set_defaults(run=agreement)
    args = parser.parse_args()
    code: int = args.run(args)
    return code


if __name__ == "__main__":
    sys.exit(main())
