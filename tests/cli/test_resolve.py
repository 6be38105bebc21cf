import json

import pytest

from tests.cli.conftest import RIVER

LAUNCH = ("resolve", "--engine", "toy@0.10", "--format", "json", "--gpu", "alpha")


def settings(ran):
    return {name: one["requested"] for name, one in ran.json["settings"].items() if one["requested"] is not None}


def test_a_pasted_command_asks_for_the_same_as_set(capctl, river):
    base = (*LAUNCH, "--config", river, "--gpus", "8")
    pasted = capctl(*base, "--", *"python3 -m toy.serve --model ./x --tp 8 --shard-size 2 --overlap".split())
    text = capctl(*base, "--", "TOY_X=1 python3 -m toy.serve --model ./x --tp 8 \\\n --shard-size 2 --overlap")
    values = ("model_path=./x", "tp_size=8", "shard_size=2", "overlap=true")
    spelled = capctl(*base, *(word for value in values for word in ("--set", value)))
    assert settings(pasted) == {"model_path": "./x", "tp_size": 8, "shard_size": 2, "overlap": True}
    assert pasted.json == spelled.json == text.json
    assert pasted.code == spelled.code == 1


def test_a_command_in_a_file_is_a_pasted_one(capctl, river, tmp_path):
    script = tmp_path / "start.sh"
    script.write_text("#!/bin/sh\nexport TOY_LAYOUT=flat\npython -m toy.serve --page-size 8 > log 2>&1 &\n")
    ran = capctl(*LAUNCH, "--config", river, "--command", script)
    assert settings(ran) == {"page_size": 8}
    assert ran.json["env"] == {"TOY_FORCE_PLAIN": "1"}
    assert capctl(*LAUNCH, "--config", river, "--command", "-", stdin=script.read_text()).json == ran.json


def test_flags_alone_in_a_file_are_a_command(capctl, river, tmp_path):
    script = tmp_path / "flags"
    script.write_text("--page-size 8 --tp 2\n")
    assert settings(capctl(*LAUNCH, "--config", river, "--command", script)) == {"page_size": 8, "tp_size": 2}


def test_set_wins_over_the_pasted_command(capctl, river):
    ran = capctl(*LAUNCH, "--config", river, "--set", "page_size=16", "--", "python -m toy.serve --page-size 8")
    assert settings(ran) == {"page_size": 16}


@pytest.mark.parametrize("way", ["file", "folder", "stdin", "path in the command", "override"])
def test_a_configuration_is_found_where_it_is_named(capctl, river, way):
    words = {
        "file": ("--config", river),
        "folder": ("--config", river.parent),
        "stdin": ("--config", "-"),
        "path in the command": ("--", "python", "-m", "toy.serve", "--model-path", river.parent),
        "override": ("--config", river, "--architecture", "RiverForCausalLM"),
    }[way]
    ran = capctl(*LAUNCH, *words, stdin=json.dumps(RIVER))
    assert ran.json["architecture"] == "RiverForCausalLM"
    assert ran.code == 0
    assert ("the configuration is read from" in ran.err) == (way == "path in the command")


def test_a_known_checkpoint_is_found_by_option_and_by_the_commands_path(capctl):
    named = capctl(*LAUNCH, "--checkpoint", "acme/river-8b")
    pasted = capctl(*LAUNCH, "--", "python -m toy.serve --model-path acme/river-8b")
    assert named.json["architecture"] == pasted.json["architecture"] == "RiverForCausalLM"
    assert "names a checkpoint the registry knows" in pasted.err


def test_quantization_in_its_own_file_is_read_with_the_folder(capctl, river):
    from archcap.cli.files import read_config

    beside = river.parent / "hf_quant_config.json"
    beside.write_text('{"producer": {"name": "x"}, "quantization": {"quant_algo": "FP8"}}')
    assert read_config(str(river.parent))["quantization_config"] == {"quant_algo": "FP8"}
    assert "quantization_config" not in read_config(str(river))
    river.write_text(json.dumps({**RIVER, "quantization_config": {"quant_method": "own"}}))
    assert read_config(str(river.parent))["quantization_config"] == {"quant_method": "own"}


def test_a_draft_config_implies_a_draft_path(capctl, river):
    base = (*LAUNCH, "--config", river, "--set", "draft_method=tree")
    assert capctl(*base).json["verdict"] == "refused"
    assert capctl(*base, "--draft-config", river).json["verdict"] in ("ok", "adjusted")


PEER = "python -m toy.serve --page-size 8 --disable-cache"


@pytest.mark.parametrize("way", ["command", "flags", "file", "flags in a file", "json", "json in a file"])
def test_a_peer_is_read_from_a_command_a_file_or_json(capctl, river, tmp_path, way):
    file = tmp_path / "peer"
    body = json.dumps({"settings": {"page_size": 8, "disable_cache": True}})
    flags = PEER.partition("serve ")[2]
    file.write_text(body if "json" in way else f"{flags}\n" if "flags" in way else f"#!/bin/sh\n{PEER}\n")
    peer = {"command": PEER, "flags": flags, "json": body}.get(way, file)
    ran = capctl(*LAUNCH, "--config", river, "--set", "page_size=1", "--peer", peer)
    assert (ran.json["verdict"], ran.code) == ("unsafe", 1)
    assert settings(Peer(ran)) == {"page_size": 8, "disable_cache": True}


def test_a_fix_on_the_peer_alone_says_so(capctl, river):
    base = ("resolve", "--engine", "toy@0.10", "--config", river, "--gpu", "alpha", "--peer")
    assert "on the peer " not in capctl(*base, "python -m toy.serve --attention plain").out
    found = capctl(*base, "python -m toy.serve --attention nope").out
    assert "without --attention on the peer " in found
    assert "--attention fast on the peer " in found


def test_a_peers_file_that_says_nothing_is_named(capctl, river, tmp_path):
    file = tmp_path / "peer"
    for text, problem in (("# later\n", "the launch command is empty"), (" \n", f"the file {file} is empty")):
        file.write_text(text)
        ran = capctl(*LAUNCH, "--config", river, "--peer", file)
        assert (ran.code, f"the peer: {problem}" in ran.err) == (2, True)


class Peer:
    def __init__(self, ran):
        self.json = ran.json["peer"]


def test_a_peer_serves_what_its_path_names_else_the_launchs_checkpoint(capctl, river):
    base = (*LAUNCH, "--config", river, "--peer")
    same = capctl(*base, "python -m toy.serve --model-path elsewhere")
    known = capctl(*base, "python -m toy.serve --model-path acme/stone-2b")
    folder = capctl(*base, f"python -m toy.serve --model-path {river.parent}")
    assert "taken to serve the launch's checkpoint" in same.err
    assert "names a checkpoint" in known.err
    assert "the peer's configuration is read from" in folder.err
    architectures = [ran.json["peer"]["architecture"] for ran in (same, known, folder)]
    assert architectures == ["RiverForCausalLM", "StoneForCausalLM", "RiverForCausalLM"]


def test_a_peers_draft_is_the_launchs_where_its_path_is_the_same(capctl, river):
    base = (*LAUNCH, "--config", river, "--draft-config", river, "--set", "draft_method=tree", "--set", "draft_path=d")
    asked = "python -m toy.serve --draft-method tree --draft-path"
    assert capctl(*base, "--peer", f"{asked} d").json["peer"]["verdict"] == "ok"
    assert capctl(*base, "--peer", f"{asked} e").json["peer"]["verdict"] != "refused"


def test_fixes_are_there_unless_refused(capctl, river):
    base = (*LAUNCH, "--config", river, "--set", "shard_size=2")
    assert {"shard_size": 1} in [fix["changes"] for fix in capctl(*base).json["fixes"]]
    assert capctl(*base, "--fixes").json["fixes"]
    assert "fixes" not in capctl(*base, "--no-fixes").json


def test_every_fix_is_spelled_as_flags_that_give_it(capctl, river):
    base = ("resolve", "--engine", "toy@0.10", "--config", river, "--gpu", "alpha", "--set", "shard_size=2")
    fixes = capctl(*base, "--format", "json").json["fixes"]
    text = capctl(*base).out
    assert fixes
    assert "1.  --shard-size 1" in text


def test_the_command_form_is_the_command_alone(capctl, river):
    ran = capctl("resolve", "--engine", "toy@0.10", "--config", river, "--set", "tp_size=8", "--format", "command")
    assert ran.out == "python -m toy.serve --tp-size 8\n"


def test_the_newest_release_is_meant_when_none_is_named(capctl, river):
    ran = capctl("resolve", "--engine", "toy", "--config", river, "--format", "json")
    assert (ran.json["release"], ran.json["release_match"]) == ("0.11", "exact")


@pytest.mark.parametrize(
    ("verdict", "words", "code"),
    [
        ("ok", [], 0),
        ("adjusted", ["--set", "draft_method=tree", "--set", "draft_path=d", "--set", "draft_depth=3"], 0),
        ("unsafe", ["--set", "shard_size=2", "--set", "disable_cache=true"], 1),
        ("refused", ["--set", "shard_size=2"], 1),
    ],
)
def test_the_exit_code_is_the_verdict(capctl, river, verdict, words, code):
    ran = capctl(*LAUNCH, "--config", river, *words)
    assert (ran.json["verdict"], ran.code) == (verdict, code)


def test_undecided_has_an_exit_code_of_its_own(capctl):
    ran = capctl(*LAUNCH, "--architecture", "RiverForCausalLM")
    assert (ran.json["verdict"], ran.code) == ("unknown", 3)


def test_all_releases_are_answered_in_order(capctl, river):
    ran = capctl(*LAUNCH, "--config", river, "--all-releases", "--set", 'graph_config={"a": 1}')
    assert [line["release"] for line in ran.lines] == ["0.9", "0.10", "0.10.post1", "0.11"]
    assert ran.lines[0]["error"]["code"] == "unknown-setting"
    assert "verdict" in ran.lines[1]
    assert ran.code == 1
