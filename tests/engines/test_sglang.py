import pytest
from hypothesis import given
from hypothesis import strategies as st

from archcap.engines import Options, support
from archcap.engines.sglang import parse_partition, pipeline_layers
from archcap.errors import RequestError
from archcap.model.engine import SettingSpan

SPANS = {
    "model_path": SettingSpan(type="str", flags=("--model-path", "--model")),
    "tp_size": SettingSpan(type="int", default=1, flags=("--tp-size",)),
    "cache": SettingSpan(type="bool", default=False, flags=("--enable-cache",)),
}


def parse(*words, read=None, release="0.5.18"):
    return support("sglang", release).parse_command(words, Options(release, SPANS), read)


@pytest.mark.parametrize(
    "command",
    [
        "python3 -m sglang.launch_server --model-path ./x --tp 8 --enable-cache",
        "/opt/bin/python3.12 -u -m sglang.launch_server --model ./x --tp-size=8 --enable-cache",
        "python /sgl/python/sglang/launch_server.py --model-path ./x --tp 8 --enable-cache",
        "sglang serve ./x --tp 8 --enable-cache",
        "sglang serve --model-type llm --model-path ./x --tp 8 --enable-cache",
        "/usr/local/bin/sglang serve --model-path ./x --model-type=auto --tp 8 --enable-cache",
        "python -m sglang.cli.main serve ./x --tp 8 --enable-cache",
        "--model-path ./x --tp 8 --enable-cache",
        "docker run --gpus all --ipc=host img python3 -m sglang.launch_server --model-path ./x --tp 8 --enable-cache",
    ],
)
def test_every_way_to_start_the_server_gives_the_same_settings(command):
    expected = {"model_path": "./x", "tp_size": 8, "cache": True}
    assert parse(*command.split()).settings == expected
    if not command.startswith("--"):
        assert parse(command).settings == expected


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("python -m sglang.bench_serving --model x", "no-launch"),
        ("python -m vllm.entrypoints.openai.api_server --model x", "no-launch"),
        ("vllm serve x", "no-launch"),
        ("sglang generate x", "no-launch"),
        ("sglang serve --model-type diffusion x", "no-launch"),
        ("python -m sglang.launch_server x --tp 8", "stray-word"),
        ("sglang serve ./x --tp-syze 8", "unknown-flag"),
        ("sglang serve ./x --config launch.yaml", "bad-flags-file"),
        ("sglang serve ./x --config", "bad-flags-file"),
        ("sglang serve ./x --config a.yaml --config b.yaml", "bad-flags-file"),
        ("sglang serve ./x --config launch.json", "bad-flags-file"),
    ],
)
def test_other_programs_and_unreadable_flags_are_refused(command, code):
    with pytest.raises(RequestError) as caught:
        parse(*command.split())
    assert caught.value.code == code


def test_flags_of_the_command_win_over_those_of_its_file():
    content = {"tp-size": 4, "enable-cache": True}
    launch = parse(*"sglang serve ./x --config f.yaml --tp-size 8".split(), read=lambda _: content)
    assert launch.settings == {"model_path": "./x", "tp_size": 8, "cache": True}
    assert launch.notes == ("flags read from f.yaml",)


def test_a_key_of_the_file_is_a_spelling_and_not_a_setting():
    with pytest.raises(RequestError, match="has no flag --tp_size"):
        parse(*"sglang serve ./x --config f.yaml".split(), read=lambda _: {"tp_size": 4})


@pytest.mark.parametrize("engine", ["tgi", "flags", "../sglang", "", "sglang.flags"])
def test_an_unknown_engine_is_misuse(engine):
    with pytest.raises(RequestError) as caught:
        support(engine)
    assert caught.value.code == "unknown-engine"


# Configs


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"num_hidden_layers": 4}, {"num_hidden_layers": 4}),
        ({"text_config": None, "a": 1}, {"text_config": None, "a": 1}),
        ({"text_config": {"a": 2}, "a": 1}, {"a": 2}),
        ({"llm_config": {"a": 2}}, {"a": 2}),
        ({"language_config": {"a": 2}}, {"a": 2}),
        ({"thinker_config": {"text_config": {"a": 3}, "a": 2}}, {"a": 3}),
        ({"thinker_config": {"a": 2}}, {"a": 2}),
        ({"architectures": ["LlavaLlamaForCausalLM"], "text_config": {"a": 2}, "a": 1},
         {"architectures": ["LlavaLlamaForCausalLM"], "text_config": {"a": 2}, "a": 1}),
        ({"architectures": ["LlavaForConditionalGeneration"], "text_config": {"a": 2}}, {"a": 2}),
        ({"text_config": {"a": 2}, "tie_word_embeddings": True}, {"a": 2, "tie_word_embeddings": True}),
        ({"text_config": {"eos_token_id": 7}, "eos_token_id": 5}, {"eos_token_id": 7}),
    ],
)  # fmt: skip
def test_the_language_level_is_the_one_the_engine_reads(config, text):
    assert support("sglang", "0.5.23").text_config_of(config) == text


def test_the_first_release_prefers_text_config():
    config = {"text_config": {"a": 1}, "llm_config": {"a": 2}}
    assert support("sglang", "0.5.9").text_config_of(config) == {"a": 1}
    assert support("sglang", "0.5.10").text_config_of(config) == {"a": 2}


@pytest.mark.parametrize("given", [None, "{}", {}])
def test_no_override_leaves_the_config_as_it_is(given):
    config = {"a": 1}
    assert support("sglang").effective_config(config, {"json_model_override_args": given}) is config


def test_an_override_replaces_a_whole_level_before_0_5_17_and_is_merged_since():
    config = {"text_config": {"a": 1, "b": 2}, "max": 8}
    settings = {"json_model_override_args": '{"text_config": {"a": 9}, "max": 16}'}
    replaced, merged = {"a": 9}, {"a": 9, "b": 2}
    assert support("sglang", "0.5.16").effective_config(config, settings) == {"text_config": replaced, "max": 16}
    assert support("sglang", "0.5.17").effective_config(config, settings) == {"text_config": merged, "max": 16}
    assert config == {"text_config": {"a": 1, "b": 2}, "max": 8}


@pytest.mark.parametrize("given", ["{", "[1]", "x", "[" * 100_000])
def test_an_override_that_is_no_object_is_misuse(given):
    with pytest.raises(RequestError) as caught:
        support("sglang").effective_config({}, {"json_model_override_args": given})
    assert caught.value.code == "bad-config-override"


# Functions


@pytest.mark.parametrize(
    ("layers", "ranks", "partition", "ends"),
    [
        (60, 1, None, [60]),
        (60, 4, None, [15, 30, 45, 60]),
        (61, 4, None, [15, 30, 45, 61]),
        (62, 4, None, [15, 30, 46, 62]),
        (3, 4, None, [0, 1, 2, 3]),
        (10, 2, [7, 3], [7, 10]),
        (0, 2, None, [0, 0]),
    ],
)
def test_the_last_ranks_hold_what_is_left_over(layers, ranks, partition, ends):
    assert [held.stop for held in pipeline_layers(layers, ranks, partition)] == ends


@given(st.integers(0, 200), st.integers(1, 16))
def test_ranks_cover_all_layers_once_and_evenly(layers, ranks):
    held = pipeline_layers(layers, ranks)
    assert [layer for rank in held for layer in rank] == list(range(layers))
    assert max(map(len, held)) - min(map(len, held)) <= 1


@pytest.mark.parametrize(
    ("layers", "ranks", "partition"), [(10, 2, [5, 4]), (10, 2, [10]), (10, 0, None), (-1, 2, None)]
)
def test_a_partition_that_does_not_fit_is_the_engines_own_exception(layers, ranks, partition):
    with pytest.raises(ValueError, match=r"layers|ranks"):
        pipeline_layers(layers, ranks, partition)


def test_rules_give_the_partition_as_the_environment_spells_it():
    function = support("sglang").functions["pipeline_layers"]
    assert function(10, 2, None) == [[0, 5], [5, 10]]
    assert function(10, 2, "7,3") == [[0, 7], [7, 10]]
    assert parse_partition(None) is None
    with pytest.raises(ValueError, match="invalid literal"):
        function(10, 2, "7;3")
