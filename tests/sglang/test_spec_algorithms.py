"""Speculative settings as SGLang settles them, and what it refuses."""

import pytest

from tests.sglang.spec_launches import DFLASH_DRAFT, NEXTN, dense, errors, latent, launch, rules_of, value

SIZES = ("speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens")


def sizes(answer):
    return tuple(value(answer, name) for name in SIZES)


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        pytest.param(dense(), (5, 4, 8), id="llama drafts wide"),
        pytest.param(dense("Qwen2ForCausalLM", "qwen2"), (3, 1, 4), id="others draft one branch"),
        pytest.param(latent(), (3, 1, 4), id="a draft inside the checkpoint"),
    ],
)
def test_sizes_are_chosen_by_family_when_none_is_given(config, wanted):
    assert sizes(launch("0.5.23", config, {"speculative_algorithm": "EAGLE"})) == wanted


def test_nextn_is_eagle_under_another_name_and_no_adjustment():
    answer = launch("0.5.23", latent(), {"tp_size": 8, **NEXTN})
    assert value(answer, "speculative_algorithm") == "EAGLE"
    assert answer.verdict == "ok"


def test_one_branch_verifies_one_token_more_than_its_steps():
    answer = launch("0.5.23", latent(), {"tp_size": 8, **NEXTN, "speculative_num_draft_tokens": 9})
    assert sizes(answer) == (3, 1, 4)
    assert answer.verdict == "adjusted"


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"speculative_eagle_topk": 1}, "eagle.half-given"),
        ({"speculative_num_draft_tokens": 4}, "eagle.half-given"),
        ({"speculative_num_steps": 3}, "eagle.topk-missing"),
    ],
)
def test_half_of_the_sizes_is_refused(given, rule):
    answer = launch("0.5.23", latent(), {"tp_size": 8, "speculative_algorithm": "EAGLE", **given})
    [finding] = errors(answer)
    assert (finding.rule, finding.stage) == (rule, "resolve")


def test_dflash_takes_its_block_from_the_draft_and_one_step():
    answer = launch("0.5.23", dense(num_hidden_layers=40), {"speculative_algorithm": "DFLASH"}, draft=DFLASH_DRAFT)
    assert sizes(answer) == (1, 1, 16)


def test_dflash_without_a_draft_is_refused():
    assert errors(launch("0.5.23", dense(), {"speculative_algorithm": "DFLASH"}))[0].rule == "dflash.draft-path"


def test_a_draft_that_listens_beyond_the_last_layer_is_refused():
    shallow = launch("0.5.23", dense(num_hidden_layers=32), {"speculative_algorithm": "DFLASH"}, draft=DFLASH_DRAFT)
    assert "dflash.target-layers" in rules_of(shallow)
    deep = launch("0.5.23", dense(num_hidden_layers=40), {"speculative_algorithm": "DFLASH"}, draft=DFLASH_DRAFT)
    assert not errors(deep)


def test_dspark_on_xpu_came_with_0_5_23():
    settings = {"speculative_algorithm": "DSPARK"}
    before = launch("0.5.22", dense(), settings, gpu="gpu-max-1550", draft=DFLASH_DRAFT)
    after = launch("0.5.23", dense(), settings, gpu="gpu-max-1550", draft=DFLASH_DRAFT)
    assert "dspark.device-before-xpu" in rules_of(before)
    assert not {rule for rule in rules_of(after) if rule.startswith("dspark.device")}


def test_eagle_without_a_named_draft_loads_the_target_twice_and_says_nothing():
    answer = launch("0.5.23", dense(), {**NEXTN, "speculative_algorithm": "EAGLE3"})
    assert "draft.target-again" in rules_of(answer)
    assert "draft.target-again" not in rules_of(launch("0.5.23", latent(), {"tp_size": 8, **NEXTN}))


def test_pipeline_parallelism_speculates_on_a_prefill_server_only():
    settings = {"tp_size": 8, "pp_size": 2, **NEXTN}
    assert errors(launch("0.5.23", latent(), settings))[0].rule == "pipeline.draft-on-prefill"
    assert not errors(launch("0.5.23", latent(), {**settings, "disaggregation_mode": "prefill"}))
    allowed = launch("0.5.23", latent(), settings, env={"SGLANG_ENABLE_PP_SPEC": "1"})
    assert not errors(allowed)


def test_before_0_5_21_pipeline_parallelism_never_speculated_on_cuda():
    settings = {"tp_size": 8, "pp_size": 2, "disaggregation_mode": "prefill", **NEXTN}
    assert errors(launch("0.5.20", latent(), settings))[0].rule == "pipeline.overlap-or-draft"


def test_heads_that_do_not_divide_stop_the_load():
    config = dense(num_attention_heads=28, num_key_value_heads=4)
    assert errors(launch("0.5.23", config, {"tp_size": 8}))[0].rule == "tensor-parallel.heads"
    assert not errors(launch("0.5.23", config, {"tp_size": 4}))


def test_a_draft_that_does_not_say_how_many_tokens_it_takes_is_warned_about_not_refused():
    silent = {name: part for name, part in DFLASH_DRAFT.items() if name != "max_position_embeddings"}
    said = {**silent, "max_position_embeddings": 2048}
    for draft, rules in ((silent, {"draft.context-unsaid"}), (said, {"draft.context-length"}), (DFLASH_DRAFT, set())):
        answer = launch("0.5.23", dense(num_hidden_layers=40), {"speculative_algorithm": "DFLASH"}, draft=draft)
        assert {rule for rule in rules_of(answer) if rule.startswith("draft.context")} == rules
