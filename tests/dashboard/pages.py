"""Every page of the invented registry, and what pages are read with."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import urlencode

RIVER_CONFIG = """{"architectures": ["RiverForCausalLM"], "model_type": "delta", "num_hidden_layers": 4,
 "num_attention_heads": 4, "state_layers": 2}"""
CHECK = "/check?engine=toy&release=0.10&checkpoint=acme/river-8b&gpu=alpha"
LAUNCH = {"engine": "toy", "release": "0.10", "checkpoint": "acme/river-8b", "gpu": "alpha", "count": "1"}
TRACEBACK = """[10:00:00 TP0] python -m toy.serve --draft-method tree --draft-path d --draft-depth 6
[10:00:01 TP0] Traceback (most recent call last):
[10:00:01 TP0]   File "/opt/toy/serve.py", line 7, in main
[10:00:01 TP0]     start(secret)
[10:00:01 TP0]   File "/opt/toy/draft/tree.py", line 70, in Tree.grow
[10:00:01 TP0]     self.buffer[level] = node
[10:00:01 TP0] IndexError: level 6 of 5
[10:00:02] bye"""
PAGES = {
    "start": "/",
    "engine": "/engines/toy",
    "matrix": "/matrix/toy/0.11",
    "matrix-filtered": "/matrix/toy/0.11?with=pipeline&without=window&open=cache,parallel&since=0.9&q=river",
    "matrix-empty": "/matrix/toy/0.10?q=nobody",
    "architecture": "/architectures/toy/0.11/RiverForCausalLM",
    "architecture-absent": "/architectures/toy/0.10/StoneForCausalLM",
    "capabilities": "/capabilities/toy/0.11",
    "capability": "/capabilities/toy/0.11/pipeline",
    "capability-values": "/capabilities/toy/0.11/attention_kind",
    "compare": "/compare/toy/0.9/0.11",
    "compare-same": "/compare/toy/0.10/0.10",
    "rules": "/rules/toy/0.11",
    "setting": "/rules/toy/0.11/settings/page_size",
    "step": "/rules/toy/0.11/steps/cache_mode",
    "siblings": "/siblings/toy/0.11",
    "check": "/check",
    "check-answered": f"{CHECK}&count=1&command=--shard-size+2",
    "check-wrong": f"{CHECK}&command=--nothing-like-it",
    "diagnose": "/diagnose",
    "diagnose-answered": f"/diagnose?{urlencode({**LAUNCH, 'log': TRACEBACK})}",
    "diagnose-elsewhere": f"/diagnose?{urlencode({**LAUNCH, 'log': TRACEBACK.replace('Tree', 'Bush')})}",
    "diagnose-wrong": f"/diagnose?{urlencode({**LAUNCH, 'log': 'it does not work'})}",
    "strip": "/check/releases?engine=toy&release=0.10&checkpoint=acme/river-8b&gpu=alpha",
    "overrides": "/overrides",
    "revision": "/overrides/revisions/1",
    "search": "/search?q=river",
    "search-nothing": "/search?q=rivver",
    "status": "/status",
}
REFUSED = {"check-wrong", "diagnose-wrong"}


class Read(HTMLParser):
    """What a page links to, its alternate, and what its elements are called."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.twin: str | None = None
        self.loaded: list[str] = []
        self.inline: list[str] = []
        self.tags: set[str] = set()
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note links, and what a strict policy forbids."""
        given = dict(attrs)
        self.tags.add(tag)
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        if tag == "link" and given.get("rel") == "alternate":
            self.twin = given["href"]
        if tag == "link" and given.get("rel") == "stylesheet":
            self.loaded.append(str(given["href"]))
        if tag == "script":
            self.loaded.append(str(given.get("src")))
        self.inline += [name for name in given if name.startswith("on") or name == "style"]

    def handle_data(self, data: str) -> None:
        """Note what is read."""
        self.words += data
