"""Words suspicions: what is suspect, what the engine does about it, and what a change would have to do."""

from __future__ import annotations

from collections.abc import Iterable

from archcap.model.siblings import SiblingGuide
from archcap.model.vocabulary import Vocabulary
from archcap.siblings.facts import Seen
from archcap.siblings.find import Finding

KINDS = {
    "sibling": "Architectures that share code, and not what they can do.",
    "list": "Architectures that share code, and not a list of the engine.",
    "pair": "One half of something that needs two.",
    "one-level": "A draft's depth that is written where the engine does not read it.",
    "near-lists": "Two collections that hold nearly the same names.",
    "dead-name": "A name in a collection that no class bears.",
    "unimplemented": "A hook that the engine asks for and no class has.",
}
_STAGES = {
    "parse": "when its command line is read",
    "resolve": "when its settings are resolved",
    "load": "while the checkpoint is loaded",
    "init": "after loading, before it serves",
    "request": "while it serves",
}
_EFFECTS = {
    "error": "The engine fails",
    "unsafe": "The engine goes wrong",
    "silent": "The engine does without, and says nothing,",
    "degrade": "The engine does with less, and says so,",
    "none": "Nothing fails; it is decided otherwise",
}


def names(of: Iterable[str], most: int = 4) -> str:
    """Return names in a row, shortened to the first few."""
    every = list(of)
    shown = every if len(every) <= most + 1 else every[:most]
    rest = len(every) - len(shown)
    if rest:
        return f"{', '.join(shown)} and {rest} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def summary(finding: Finding, vocabulary: Vocabulary) -> str:
    """Return what is suspect, in a sentence."""
    lack, have = names(finding.lacking), names(finding.having)
    verb = "lacks" if len(finding.lacking) == 1 else "lack"
    if finding.kind == "sibling":
        title = vocabulary.capabilities[finding.what].title
        return f"{lack} {verb} {finding.what} ({_small(title)}); {have} {_has(finding)} it ({_common(finding.shared)})."
    if finding.kind == "list":
        be = "is" if len(finding.lacking) == 1 else "are"
        are = "is" if len(finding.having) == 1 else "are"
        return f"{lack} {be} not in {finding.what}; {have} {are} ({_common(finding.shared)})."
    if finding.kind == "pair":
        return f"{lack} {'has' if len(finding.lacking) == 1 else 'have'} {finding.shared}."
    if finding.kind == "one-level":
        return (
            f"As its own draft ({finding.shared}), {lack} gets its depth at the top level of the configuration only; "
            f"it has a nested one."
        )
    if finding.kind == "near-lists":
        return f"{finding.what} holds nearly the same names as {finding.shared}, without {lack}."
    if finding.kind == "dead-name":
        return f"{finding.what} names {lack}, and no entry class is called so."
    return f"The engine asks for {lack} ({finding.what}); no class has it."


def _small(title: str) -> str:
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def _has(finding: Finding) -> str:
    return "has" if len(finding.having) == 1 else "have"


def _common(shared: str) -> str:
    return f"both called {shared}" if shared.endswith("*") else f"all on {shared}"


def consequence(finding: Finding, vocabulary: Vocabulary, guide: SiblingGuide) -> str:
    """Return what the engine does about it."""
    if finding.kind == "pair":
        return next((pair.because for pair in guide.pairs if pair.id == finding.what), "")
    if finding.kind == "one-level":
        return (
            "The engine reads the depth from the nested level, finds none, and sizes the draft's cache by the "
            "target's layers."
        )
    if finding.kind in ("list", "near-lists"):
        return "What the collection decides is decided otherwise for those who are not in it, without a word."
    if finding.kind == "dead-name":
        return "The entry does nothing: a class was renamed or removed, or the name is misspelt."
    absence = vocabulary.capabilities[finding.what].absence
    said = f"{_EFFECTS[absence.effect]} {_STAGES[absence.stage.value]}."
    return f"{said} {absence.note}" if absence.note else said


def patch(finding: Finding, vocabulary: Vocabulary, guide: SiblingGuide) -> str:
    """Return what a change would have to do and where, if the suspicion is right."""
    lack = names(finding.lacking)
    listed = _at(finding.having.values())
    if finding.kind == "list":
        return f"Add {lack} to {finding.what}{listed}, or say beside it why not."
    if finding.kind == "near-lists":
        return f"Add {lack} to {finding.what}{_at(finding.lacking.values())}, or say beside it why not."
    if finding.kind == "dead-name":
        there = _at(finding.lacking.values())
        return f"Take {lack} out of {finding.what}{there}, or give it the name of the class that is meant."
    if finding.kind == "one-level":
        there = _at(finding.lacking.values())
        return f"Write the depth to the nested configuration as well, beside the write to the top level{there}."
    if finding.kind == "unimplemented":
        return f"Implement {lack} where it is needed, or take the question away."
    return _give(finding, lack, vocabulary, guide)


def _give(finding: Finding, lack: str, vocabulary: Vocabulary, guide: SiblingGuide) -> str:
    """Return how those who lack a capability would get it."""
    pair = next((one for one in guide.pairs if one.id == finding.what), None)
    capability = pair.lacks if pair is not None and finding.kind == "pair" else finding.what
    model = next(iter(finding.having))
    there = _at([finding.having[model]])
    if (keeper := _list_of(capability, vocabulary)) is not None:
        return f"Add {lack} to {keeper}{there}, beside {model}."
    hook = _hook(capability, vocabulary)
    if finding.kind == "pair":
        return f"Give {lack} {hook} as well, as {model} has it{there}, or take the other half away."
    return f"Give {lack}{_at(finding.lacking.values())} {hook}, as {model} has it{there}."


def _at(places: Iterable[Seen]) -> str:
    """Return the place in brackets when it is one, and its line is known; else nothing."""
    known = {f"{seen.file}:{seen.line}" for seen in places if seen.file and seen.line}
    return f" ({known.pop()})" if len(known) == 1 else ""


def _list_of(capability: str, vocabulary: Vocabulary) -> str | None:
    """Return the collection, or the function with the test, that says who has a capability."""
    described = vocabulary.capabilities.get(capability)
    for probe in described.probes.values() if described is not None else ():
        for value in (probe.set, probe.named_in):
            if value:
                return value if isinstance(value, str) else value[0]
    return None


def _hook(capability: str, vocabulary: Vocabulary) -> str:
    """Return what a class needs for a capability, in the engine's words."""
    described = vocabulary.capabilities.get(capability)
    for probe in described.probes.values() if described is not None else ():
        if probe.method:
            return f"the method {probe.method}"
        if probe.attribute:
            return f"the attribute {probe.attribute}"
        if probe.parameter:
            return f"the parameter {probe.parameter.rpartition('.')[2]} of {probe.parameter.rpartition('.')[0]}"
    return capability
