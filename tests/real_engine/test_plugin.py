"""The unmodified engine loads the plug-in by its own loader, and asks the registry."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.real_engine.conftest import Engine, Service

ARCHITECTURE = "Qwen3_5MoeForCausalLM"
STORY: dict[str, Any] = {"tp_size": 8, "dcp_size": 2, "attention_backend": "triton"}
BOTH = tuple(
    {"engine": "sglang", "releases": "0.5.18", "architecture": ARCHITECTURE, "capability": capability, "value": True,
     "reason": "Backported on our fleet."}
    for capability in ("mamba_radix_cache", "mamba_extra_buffer")
)  # fmt: skip


def strategy(said: Any) -> object:
    assert said["answer"]["outcome"] == "ok", said["answer"]
    return said["answer"]["changed"].get("mamba_radix_cache_strategy", "auto")


def differences(said: Any) -> list[str]:
    return [line for line in said["log"] if "registry adds" in line]


def test_without_the_plug_in_story_one_stays_without_a_buffer(story_engine: Engine) -> None:
    said = story_engine.resolve(plugin=False, **STORY)
    assert strategy(said) == "auto"
    assert said["log"] == said["archcap"] == []


def test_extended_by_two_overrides_story_one_gets_its_buffer(story_engine: Engine, service: Service) -> None:
    service.overrides(*BOTH)
    said = story_engine.resolve(ARCHCAP_URL=service.url, ARCHCAP_MODE="extend", **STORY)
    assert strategy(said) == "extra_buffer"
    for number, name in ((1, "_MAMBA_RADIX_CACHE_ARCHS"), (2, "_MAMBA_EXTRA_BUFFER_ARCHS")):
        line = next(one for one in differences(said) if name in one)
        wanted = rf"registry adds {ARCHITECTURE} to {name} \(override #\d+, reason: Backported on our fleet\.\)"
        assert re.search(wanted, line), (number, line)
    assert any("answers from service, age 0 s, sglang 0.5.18, sha256:" in line for line in said["log"])


def test_audit_tells_the_two_differences_and_changes_nothing(story_engine: Engine, service: Service) -> None:
    service.overrides(*BOTH)
    said = story_engine.resolve(ARCHCAP_URL=service.url, **STORY)
    assert strategy(said) == "auto"
    assert len(differences(said)) == 2
    assert any("archcap audit: sglang 0.5.18 differs from the registry in 2 names, nothing was changed" in line
               for line in said["log"])  # fmt: skip


def test_off_asks_nobody(story_engine: Engine, service: Service) -> None:
    service.overrides(*BOTH)
    said = story_engine.resolve(ARCHCAP_URL=service.url, ARCHCAP_MODE="off", **STORY)
    assert strategy(said) == "auto"
    assert said["log"] == []
    assert "archcap.client.sglang.plugin" not in said["archcap"]


def test_an_unmodified_release_agrees_with_the_registry_that_is_installed_with_it(engine: Engine) -> None:
    said = engine.resolve(tp_size=8)
    assert said["answer"]["outcome"] == "ok", said["answer"]
    assert said["version"] == engine.release
    assert [line for line in said["log"] if line.startswith(("WARNING", "ERROR"))] == []
    assert any("differs from the registry in 0 names" in line for line in said["log"])
    assert any("answers from bundle" in line for line in said["log"])
    assert not [name for name in said["archcap"] if name != "archcap" and not name.startswith("archcap.client")]


def test_other_modules_that_hold_the_object_see_what_was_added(story_engine: Engine, service: Service) -> None:
    service.overrides(
        {"engine": "sglang", "releases": "0.5.18", "list": "srt.configs.model_config.multimodal_model_archs",
         "architecture": ARCHITECTURE, "value": True, "reason": "A trial."}
    )  # fmt: skip
    check = (
        "from sglang.srt.configs import model_config\n"
        f"assert '{ARCHITECTURE}' in model_config.multimodal_model_archs\n"
        f"assert model_config.is_multimodal_model(['{ARCHITECTURE}'])\n"
    )
    said = story_engine.resolve(ARCHCAP_URL=service.url, ARCHCAP_MODE="extend", then=(check,), tp_size=8)
    assert any("to multimodal_model_archs (override #" in line for line in said["log"])


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://10.255.255.1:8000", "nonsense"])
def test_a_dead_service_stops_nothing(story_engine: Engine, url: str) -> None:
    said = story_engine.resolve(ARCHCAP_URL=url, ARCHCAP_MODE="extend", ARCHCAP_TIMEOUT_S="2", **STORY)
    assert strategy(said) == "auto"
    assert any("answers from bundle" in line for line in said["log"])


def test_a_version_nobody_knows_is_only_compared(story_engine: Engine, service: Service) -> None:
    service.overrides(*[{**one, "releases": ">=0.5.18,<0.5.19"} for one in BOTH])
    asked = {"ARCHCAP_URL": service.url, "ARCHCAP_MODE": "extend", **STORY}
    said = story_engine.resolve(version="0.5.18.post9", **asked)
    assert strategy(said) == "auto"
    assert any("does not know sglang 0.5.18.post9 and answers as 0.5.18" in line for line in said["log"])
    assert len(differences(said)) == 2


def test_a_preflight_says_what_comes_and_the_engine_agrees(story_engine: Engine, service: Service) -> None:
    said = story_engine.resolve(ARCHCAP_URL=service.url, ARCHCAP_PREFLIGHT="warn", tp_size=8, dcp_size=2)
    lines = [line for line in said["log"] if "preflight" in line]
    assert any(f"refused: {ARCHITECTURE} on sglang 0.5.18 does not start" in line for line in lines)
    assert any("mamba.tree-page-one" in line for line in lines)
    assert any("fix 1: " in line for line in lines)
    assert not [line for line in lines if "in the engine" in line], lines


def test_a_preflight_that_refuses_stops_the_launch(story_engine: Engine, service: Service) -> None:
    said = story_engine.resolve(ARCHCAP_URL=service.url, ARCHCAP_PREFLIGHT="refuse", tp_size=8, dcp_size=2)
    stopped = said["answer"]["error"]
    assert stopped["type"] == "SystemExit"
    assert stopped["message"].startswith(f"archcap preflight: refused: {ARCHITECTURE} on sglang 0.5.18 does not start")


def test_a_preflight_without_a_service_asks_the_installed_archcap(engine: Engine) -> None:
    said = engine.resolve(ARCHCAP_MODE="off", ARCHCAP_PREFLIGHT="warn", ARCHCAP_TIMEOUT_S="60", tp_size=8)
    lines = [line for line in said["log"] if "preflight" in line]
    assert lines[0] == f"INFO archcap preflight: ok: {ARCHITECTURE} on sglang {engine.release} starts as asked", lines
    assert not [line for line in lines if " in the engine, " in line], lines
