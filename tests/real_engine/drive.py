"""Runs inside the engine's Python: becomes a machine, loads plug-ins as the engine does, resolves one launch.

Standard library only. Reads one JSON object from standard input, writes one to standard output. Nothing of the engine
is replaced; the fake is below it, the one that `capctl verify` uses.
"""

import json
import logging
import os
import sys


class Kept(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(f"{record.levelname} {record.getMessage()}")


def main():
    given = json.loads(sys.stdin.read())
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path.insert(0, given["worker"])
    from archcap_worker import machine, sglang

    kept = Kept()
    logging.getLogger("archcap").addHandler(kept)
    logging.getLogger("archcap").setLevel(logging.DEBUG)
    loader = Kept()
    logging.getLogger("sglang.srt.plugins").addHandler(loader)
    engine = sglang.prepare(machine.Machine(given["machine"]), given)
    folder = os.path.join(given["scratch"], "checkpoint")
    os.makedirs(folder)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(given["config"], file)
    if given["version"]:
        sys.modules["sglang.version"].__version__ = given["version"]
    from sglang.srt.plugins import load_plugins

    load_plugins()
    for code in given.get("then", ()):
        exec(code)
    answer = engine.resolve(given["settings"], folder, None)
    outside = sorted(
        name for name in sys.modules if name.startswith("archcap") and not name.startswith("archcap_worker")
    )
    said = {"answer": answer, "log": kept.lines, "loader": loader.lines, "archcap": outside, "version": engine.version}
    json.dump(said, out)
    out.flush()
    os._exit(0)


main()
