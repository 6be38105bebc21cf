"""Small invented engines for the tests of the rule language, written as their YAML would be."""

from __future__ import annotations

import json

import yaml

from archcap.model.architectures import Architecture, Family, NameList
from archcap.model.engine import Engine, Names, Release, Setting, SettingSpan
from archcap.model.registry import EngineRegistry
from archcap.model.rules import Define, PipelineEntry, Step
from archcap.model.vocabulary import Vocabulary
from archcap.rules.run import ConfigView, Inputs, NeedsInterpreter

RELEASES = ("1.0", "1.1", "1.2", "2.0")


def spans(value):
    items = value if isinstance(value, list) else [value]
    return tuple(SettingSpan.model_validate_json(_json(item)) for item in items)


def _json(value):
    return json.dumps(value)


def setting(value):
    return Setting(spans=spans(value))


def registry(
    rules,
    settings=None,
    facts=None,
    vars=None,
    assumptions=None,
    env=None,
    lists=None,
    architectures=None,
    releases=RELEASES,
    pipeline=None,
):
    """Return an engine with *rules* (YAML text or data); the pipeline holds all steps unless given."""
    data = yaml.safe_load(rules) if isinstance(rules, str) else rules
    steps = {name: Step.model_validate_json(_json(step)) for name, step in (data.get("steps") or {}).items()}
    entries = pipeline if pipeline is not None else data.get("pipeline", list(steps))
    return EngineRegistry(
        engine=Engine(
            engine="toy", title="Toy", package="toy", launch=("toy",), releases={r: Release() for r in releases}
        ),
        settings={name: setting(value) for name, value in (settings or {}).items()},
        names=Names.model_validate_json(
            _json({"facts": facts or {}, "vars": vars or {}, "assumptions": assumptions or {}, "env": env or {}})
        ),
        lists={key: NameList.model_validate_json(_json(value)) for key, value in (lists or {}).items()},
        families={
            "toys": Family(
                family="toys",
                architectures={
                    name: Architecture.model_validate_json(_json(one)) for name, one in (architectures or {}).items()
                },
            )
        },
        defines={name: defines(value) for name, value in (data.get("define") or {}).items()},
        steps=steps,
        step_files=dict.fromkeys(steps, "rules/toy.yaml"),
        pipeline=tuple(entry(one) for one in entries),
    )


def entry(value):
    return PipelineEntry(step=value) if isinstance(value, str) else PipelineEntry.model_validate_json(_json(value))


def defines(value):
    items = value if isinstance(value, list) else [value]
    return tuple(
        Define(expr=item) if isinstance(item, str) else Define.model_validate_json(_json(item)) for item in items
    )


def vocabulary(*capabilities):
    absence = {"stage": "init", "effect": "error"}
    known = {name: {"title": name, "group": "g", "meaning": name, "absence": absence} for name in capabilities}
    groups = {"g": {"title": "G", "meaning": "g"}}
    return Vocabulary.model_validate_json(_json({"groups": groups, "capabilities": known}))


def inputs(
    raw,
    user=(),
    hw=None,
    assume=None,
    env=None,
    env_set=(),
    config=None,
    text=None,
    draft=None,
    unknown=(),
    architecture="Toy",
    profile=None,
    capabilities=(),
    lists=None,
    facts=None,
    functions=None,
    **more,
):
    hf = ConfigView("config", config, frozenset(unknown))
    return Inputs(
        raw=dict(raw),
        user=frozenset(user),
        hw=hw or {},
        assume=assume or {},
        env=env or {},
        env_set=frozenset(env_set),
        hf=hf,
        text=hf if text is None else ConfigView("config", text, frozenset(unknown)),
        draft_hf=ConfigView("draft_config", draft),
        draft_text=ConfigView("draft_config", draft),
        architecture=architecture,
        profile=profile,
        capabilities=frozenset(capabilities),
        lists=lists or {},
        facts=facts or {},
        functions=functions or {},
        **more,
    )


def compiled_run(program, launch):
    """Return the run that compiled rules make of a launch, None where they meet something unknown."""
    try:
        return program.fast(launch)
    except NeedsInterpreter:
        return None
