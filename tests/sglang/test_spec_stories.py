"""Founding stories 2 to 4 on the shipped data."""

import pytest

from tests.sglang.spec_launches import DFLASH, DFLASH_DRAFT, NEXTN, errors, launch, qwen35, rules_of

TEXT_ONLY, WRAPPED = "Qwen3_5MoeForCausalLM", "Qwen3_5MoeForConditionalGeneration"
HICACHE = {"tp_size": 8, "enable_hierarchical_cache": True, **NEXTN}
PIPELINE = {"tp_size": 8, "pp_size": 4}


def test_a_wrapper_without_the_capture_hook_stops_at_init_naming_hook_wrapper_and_body():
    answer = launch("0.5.17", qwen35(TEXT_ONLY), DFLASH, draft=DFLASH_DRAFT)
    assert answer.verdict == "refused"
    [finding] = errors(answer)
    assert finding.stage == "init"
    for name in ("set_dflash_layers_to_capture", TEXT_ONLY, "Qwen3_5ForCausalLM@qwen3_5"):
        assert name in finding.message


def test_the_multimodal_wrapper_had_the_capture_hook_all_along():
    assert not errors(launch("0.5.17", qwen35(WRAPPED), DFLASH, draft=DFLASH_DRAFT))


@pytest.mark.parametrize("release", ["0.5.18", "0.5.20", "0.5.23"])
def test_from_0_5_18_on_nothing_is_said_of_the_hook(release):
    answer = launch(release, qwen35(TEXT_ONLY), DFLASH, draft=DFLASH_DRAFT)
    assert not {rule for rule in rules_of(answer) if "capture" in rule}


def test_a_depth_written_to_the_outer_level_only_is_a_silent_finding_that_names_the_level():
    answer = launch("0.5.17", qwen35(WRAPPED), HICACHE)
    assert answer.verdict != "refused"
    assert answer.plan["draft"]["layers"] is None
    [silent] = [finding for finding in answer.findings if finding.rule == "draft.depth-in-one-level"]
    assert silent.severity == "silent"
    assert "level text" in silent.message


def test_a_depth_the_checkpoint_states_itself_is_found():
    answer = launch("0.5.17", qwen35(WRAPPED, num_nextn_predict_layers=1), HICACHE)
    assert answer.plan["draft"]["layers"] == 1
    assert "draft.depth-in-one-level" not in rules_of(answer)


@pytest.mark.parametrize("release", ["0.5.18", "0.5.21", "0.5.23"])
def test_from_0_5_18_on_the_draft_is_one_layer_packed_behind_the_target(release):
    answer = launch(release, qwen35(WRAPPED), HICACHE)
    assert answer.plan["draft"] == {"architecture": "Qwen3_5ForCausalLMMTP", "layers": 1, "cache": "packed"}


def test_the_text_only_class_has_one_level_and_is_unaffected_in_0_5_17():
    answer = launch("0.5.17", qwen35(TEXT_ONLY), HICACHE)
    assert answer.plan["draft"]["layers"] == 1
    assert "draft.depth-in-one-level" not in rules_of(answer)


def test_without_the_host_cache_the_draft_has_no_place_in_it():
    answer = launch("0.5.23", qwen35(WRAPPED), {"tp_size": 8, **NEXTN})
    assert answer.plan["draft"]["cache"] is None


def test_four_ranks_hold_every_layer_once_attention_and_recurrent_apart():
    ranks = launch("0.5.23", qwen35(WRAPPED), PIPELINE).plan["pipeline"]
    assert [rank["rank"] for rank in ranks] == [0, 1, 2, 3]
    assert [layer for rank in ranks for layer in range(*rank["layers"])] == list(range(60))
    attention = [layer for rank in ranks for layer in rank["attention_layers"]]
    recurrent = [layer for rank in ranks for layer in rank["mamba_layers"]]
    assert attention == [layer for layer in range(60) if layer % 4 == 3]
    assert sorted(attention + recurrent) == list(range(60))


def test_a_partition_that_sums_is_that_split():
    answer = launch("0.5.23", qwen35(WRAPPED), PIPELINE, env={"SGLANG_PP_LAYER_PARTITION": "12,16,16,16"})
    assert [rank["layers"] for rank in answer.plan["pipeline"]] == [[0, 12], [12, 28], [28, 44], [44, 60]]


@pytest.mark.parametrize(
    ("partition", "rule"),
    [
        ("12,16,16,15", "pipeline.partition-sum"),
        ("30,30", "pipeline.partition-ranks"),
        ("12,16,16,x", "pipeline.partition-numbers"),
    ],
)
def test_a_partition_that_does_not_fit_is_refused(partition, rule):
    answer = launch("0.5.23", qwen35(WRAPPED), PIPELINE, env={"SGLANG_PP_LAYER_PARTITION": partition})
    assert answer.verdict == "refused"
    assert errors(answer)[0].rule == rule


def test_an_uneven_split_gives_the_last_ranks_one_layer_more():
    answer = launch("0.5.23", qwen35(WRAPPED, num_hidden_layers=62), PIPELINE)
    assert [rank["layers"] for rank in answer.plan["pipeline"]] == [[0, 15], [15, 30], [30, 46], [46, 62]]


def test_in_0_5_9_every_stage_runs_all_layers():
    answer = launch("0.5.9", qwen35(WRAPPED), PIPELINE)
    assert answer.verdict == "unsafe"
    assert "pipeline.every-stage-whole" in rules_of(answer)


def test_in_0_5_13_the_budget_charges_the_state_of_all_layers_silently():
    answer = launch("0.5.13", qwen35(WRAPPED), PIPELINE)
    assert answer.verdict in ("ok", "adjusted")
    [silent] = [finding for finding in answer.findings if finding.severity == "silent" and "budget" in finding.message]
    assert silent.rule == "pipeline.state-budgeted-whole"


def test_in_0_5_17_neither_holds():
    answer = launch("0.5.17", qwen35(WRAPPED), PIPELINE)
    assert answer.verdict in ("ok", "adjusted")
    assert not {rule for rule in rules_of(answer) if rule.startswith("pipeline.")}
