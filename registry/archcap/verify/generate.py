"""Makes launches out of the registry's data: a grid over settings, or random combinations. Knows no engine."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from archcap.model.base import Json, JsonObject
from archcap.model.engine import Setting
from archcap.verify.launches import Launch, Subject
from archcap.verify.values import Values

_MOST = 6
"""Settings of one random launch."""
_EDGE = 0.1
"""How often a random value is one at the edge, which is mostly refused."""


@dataclass(frozen=True, slots=True)
class Space:
    """What launches are made of.

    Attributes:
        targets: the configurations to launch.
        drafts: configurations for a draft, given with a speculative method.
        gpus: ids of hardware.yaml.
        values: the values to try, by setting.
        settings: the registry's settings, of which the groups are used: settings of one group matter to each other.
        method_setting: the setting that names the speculative method.
        nodes_setting: the setting that counts nodes.
    """

    engine: str
    release: str
    targets: Sequence[Subject]
    drafts: Sequence[Subject]
    gpus: Sequence[str]
    values: Mapping[str, Values]
    settings: Mapping[str, Setting]
    method_setting: str | None = None
    nodes_setting: str | None = None

    def launch(self, name: str, gpu: str, target: Subject, settings: JsonObject, draft: Subject | None) -> Launch:
        """Return one launch; its id is architecture, device and *name*."""
        nodes = settings.get(self.nodes_setting or "", 1)
        identity = f"{target.architecture}|{gpu}|{name}"
        return Launch(
            identity, self.engine, self.release, gpu, target, settings, draft, {},
            nodes=nodes if isinstance(nodes, int) else 1,
        )  # fmt: skip


def grid(space: Space, product: Sequence[str] = ()) -> Iterator[Launch]:
    """Yield every target on every device, with nothing set and with each value of each setting.

    Args:
        space: what launches are made of.
        product: settings to combine with each other, every value with every value; empty means one setting at a time.
    """
    if product:
        axes: list[list[Json]] = [[None, *space.values[name].all] for name in product]
        bundles = [_set(dict(zip(product, row, strict=True))) for row in itertools.product(*axes)]
    else:
        bundles = [{}, *({name: value} for name, values in space.values.items() for value in values.all)]
    for gpu, target, settings in itertools.product(space.gpus, space.targets, bundles):
        draft = space.drafts[0] if space.drafts and space.method_setting in settings else None
        yield space.launch(_name(settings), gpu, target, settings, draft)


def _set(row: JsonObject) -> JsonObject:
    return {name: value for name, value in row.items() if value is not None}


def _name(settings: JsonObject) -> str:
    return ",".join(f"{name}={value}" for name, value in settings.items()) or "base"


def random_launches(space: Space, count: int, seed: int) -> Iterator[Launch]:
    """Yield *count* random launches; the same ones for the same seed and registry.

    The first setting of a launch is any; each further one is as likely of a group already in it, because what is
    checked together is grouped together.
    """
    chance = random.Random(seed)
    groups = _groups(space)
    for number in range(count):
        settings = _settings(space, groups, chance)
        target, gpu = chance.choice(space.targets), chance.choice(space.gpus)
        wants_draft = space.method_setting in settings and space.drafts and chance.random() < 0.5
        draft = chance.choice(space.drafts) if wants_draft else None
        yield space.launch(f"random{seed}-{number:05d}", gpu, target, settings, draft)


def _groups(space: Space) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in space.values:
        groups.setdefault(space.settings[name].group or name, []).append(name)
    return groups


def _settings(space: Space, groups: Mapping[str, Sequence[str]], chance: random.Random) -> JsonObject:
    names = list(space.values)
    chosen: dict[str, Json] = {}
    for _ in range(chance.randint(1, _MOST)):
        near = [other for name in chosen for other in groups[space.settings[name].group or name]]
        name = chance.choice(near if near and chance.random() < 0.5 else names)
        values = space.values[name]
        chosen[name] = chance.choice(values.edge if values.edge and chance.random() < _EDGE else values.usual)
    return chosen
