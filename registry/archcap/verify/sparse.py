"""Random configurations of one class: some of its fields, with values of the kind the class has itself."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from archcap.model.base import Json, JsonObject

GENERAL = frozenset({
    "transformers_version", "architectures", "output_hidden_states", "return_dict", "chunk_size_feed_forward",
    "is_encoder_decoder", "id2label", "label2id", "problem_type", "_name_or_path", "output_attentions", "dtype",
    "torch_dtype", "model_type", "rope_parameters", "rope_scaling", "rope_theta", "quantization_config", "auto_map",
    "num_labels", "attn_implementation", "is_composition", "name_or_path",
    # what every class of the library's fourth generation has for generating text
    "add_cross_attention", "bad_words_ids", "begin_suppress_tokens", "cross_attention_hidden_size",
    "diversity_penalty", "do_sample", "early_stopping", "encoder_no_repeat_ngram_size",
    "exponential_decay_length_penalty", "finetuning_task", "is_decoder", "length_penalty", "max_length", "min_length",
    "no_repeat_ngram_size", "num_beam_groups", "num_beams", "num_return_sequences", "output_scores", "prefix",
    "pruned_heads", "remove_invalid_values", "repetition_penalty", "return_dict_in_generate", "suppress_tokens",
    "task_specific_params", "temperature", "tf_legacy_loss", "tie_encoder_decoder", "tokenizer_class", "top_k",
    "top_p", "torchscript", "typical_p", "use_bfloat16",
})  # fmt: skip
"""Fields that every class has, or that are read as they are."""
_NOISE = re.compile(
    r"^_|_token_ids?$|_token_index$|_token$|_span_id$|dropout|pdrop|initializer|_eps$|epsilon|coef|_loss|^use_cache$|^time_step_"
    r"|hidden_act|activation|jitter|^pretraining_tp$|_std$|_mean$|multiplier|_scale$|scaling_factor|placeholder"
)
_OFTEN_NUMBERS = re.compile(r"(heads|dim|window|size|layers|rank|experts|topk|interval|groups|pattern)$")
_NULLS = 0.06
_LEVEL = 0.25
_LEVEL_FIELDS = ("hidden_size", "num_hidden_layers", "vocab_size", "intermediate_size", "tie_word_embeddings")
"""Fields of a level that are often given; the others are now and then."""


def counts(name: str) -> bool:
    """Return whether a field can matter to a launch."""
    return name not in GENERAL and not _NOISE.search(name)


@dataclass(frozen=True, slots=True)
class Shape:
    """What a class takes.

    Attributes:
        base: the fields of the configuration made out of nothing.
        names: the fields that count.
        levels: nested configurations.
        nullable: what the class makes of a null in each field that takes one.
        hidden: what it takes and has no field for but changes others, with the value it assumes.
        called: levels that are given under another name.
    """

    base: JsonObject
    names: tuple[str, ...]
    levels: tuple[str, ...]
    nullable: Mapping[str, JsonObject]
    hidden: Mapping[str, Json] = field(default_factory=dict)
    called: Mapping[str, str] = field(default_factory=dict)


def sparse(shape: Shape, chance: random.Random, share: float, only: str | None = None) -> JsonObject:
    """Return a random configuration that gives about *share* of the fields.

    Args:
        shape: of the class.
        chance: where randomness comes from.
        share: of the fields, 0 to 1.
        only: the one field to give.
    """
    given: JsonObject = {}
    values = {**shape.base, **shape.hidden}
    for name in (only,) if only else (*shape.names, *shape.hidden):
        if chance.random() < share:
            if only is None and name in shape.nullable and chance.random() < _NULLS:
                given[name] = None
            elif (value := _other(name, values[name], chance)) is not None:
                given[name] = value
    if only is None:
        given |= _levels(shape, chance, share)
        _fit_lists(given, shape, chance)
    return given


def _other(name: str, value: Json, chance: random.Random) -> Json:
    """Return a value to give a field; None where it is better left out."""
    if isinstance(value, bool):
        return chance.random() < 0.5
    if isinstance(value, int):
        return _number(name, value, chance)
    if isinstance(value, float):
        return value * chance.choice((1.0, 0.5))
    if isinstance(value, str) and name.endswith("pattern"):
        return "".join(chance.choices(sorted(set(value)), k=chance.randint(1, 40))) if value else None
    if value is None and _OFTEN_NUMBERS.search(name):
        return chance.choice((2, 4, 8, 16))
    if isinstance(value, list) and value and all(isinstance(one, int | str) for one in value):
        return chance.sample(value, len(value))
    return None


def _number(name: str, value: int, chance: random.Random) -> int:
    if name in ("num_hidden_layers", "n_layer", "num_layers", "n_layers"):
        return chance.randint(1, 40)
    if value <= 0:
        return chance.choice((0, 1, 2, 4))
    return value * chance.choice((1, 2, 3, 4)) if value < 4096 or chance.random() < 0.7 else value // 2


def _levels(shape: Shape, chance: random.Random, share: float) -> JsonObject:
    """Return nested configurations that say a little."""
    given: JsonObject = {}
    for name in shape.levels:
        base = shape.base.get(name)
        if isinstance(base, dict) and chance.random() < _LEVEL:
            chosen = [one for one in base if counts(one) and chance.random() < _often(one, share)]
            said: JsonObject = {one: value for one in chosen if (value := _other(one, base[one], chance)) is not None}
            given[shape.called.get(name, name)] = said
    return given


def _often(name: str, share: float) -> float:
    return 0.5 if name in _LEVEL_FIELDS else share / 3


def _fit_lists(given: JsonObject, shape: Shape, chance: random.Random) -> None:
    """Make lists that have an entry per layer as long as there are layers."""
    layers = shape.base.get("num_hidden_layers")
    wanted = given.get("num_hidden_layers", layers)
    for name, value in list(given.items()):
        held = shape.base.get(name)
        if isinstance(held, list) and held and len(held) == layers and isinstance(value, list):
            given[name] = [chance.choice(held) for _ in range(wanted)] if isinstance(wanted, int) else None
