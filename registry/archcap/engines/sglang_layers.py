"""Pure functions SGLang's rules call: layers by kind, layers by pipeline rank, what a draft tree can hold.

Knows no rules, no releases and no configuration classes; everything arrives as plain values.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import filterfalse
from typing import cast

from archcap.engines import Function
from archcap.model.base import Json

Layers = list[int]


def layers_of_kind(kinds: list[str] | list[bool] | str, wanted: list[str] | list[bool]) -> Layers:
    """Return the layers whose kind is among *wanted*.

    Args:
        kinds: one kind (or the answer to a question about it) per layer, or a pattern with one character per layer.
        wanted: kinds, answers, or characters of the pattern.
    Returns:
        Layer indices from 0, in order.
    Source:
        sglang@0.5.23:srt/configs/nemotron_h.py, srt/configs/lfm2.py, srt/configs/granitemoehybrid.py
    """
    return [layer for layer, kind in enumerate(kinds) if kind in wanted]


def every_nth_layer(layers: int, interval: int) -> Layers:
    """Return the layers at every *interval*-th place: the last of each group of *interval*.

    Args:
        layers: number of layers.
        interval: size of a group, >= 1.
    Source:
        sglang@0.5.23:srt/configs/qwen3_next.py:layers_block_type
    """
    if interval > 0:
        return list(range(interval - 1, layers, interval))
    return [layer for layer in range(layers) if (layer + 1) % interval == 0]


def other_layers(layers: int, taken: Layers) -> Layers:
    """Return the layers below *layers* that are not in *taken*."""
    return list(filterfalse(set(taken).__contains__, range(layers)))


def shifted_layers(numbers: Layers, by: int) -> Layers:
    """Return every number plus *by*: configurations that count layers from 1 become indices with -1."""
    return [number + by for number in numbers]


def read_partition(text: str | None) -> list[int] | None:
    """Read `SGLANG_PP_LAYER_PARTITION` without judging it.

    Returns:
        Layers per rank; None when unset or no list of whole numbers.
    Source:
        sglang@0.5.23:srt/distributed/utils.py:get_pp_indices
    """
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        return None


def pipeline_plan(ranges: list[list[int]], attention: Layers, recurrent: Layers) -> Json:
    """Return what each pipeline rank holds, as the answer's plan shows it.

    Args:
        ranges: half-open layer range per rank.
        attention: layers with a KV cache.
        recurrent: layers with a recurrent state.
    """
    return [
        {
            "rank": rank,
            "layers": [first, end],
            "attention_layers": [layer for layer in attention if first <= layer < end],
            "mamba_layers": [layer for layer in recurrent if first <= layer < end],
        }
        for rank, (first, end) in enumerate(ranges)
    ]


def tree_holds(tokens: int, branches: int, steps: int) -> bool:
    """Return whether a draft tree of *steps* levels with *branches* per node has room for *tokens*.

    Source:
        sglang@0.5.23:srt/arg_groups/speculative_hook.py:_handle_uno
    """
    room, nodes = 1, 1
    for _ in range(steps):
        nodes *= branches
        room += nodes
        if room >= tokens:
            return True
    return tokens <= room


FUNCTIONS = cast(
    Mapping[str, Function],  # lists of numbers are JSON; the checker holds lists to their exact item type
    {
        "layers_of_kind": layers_of_kind,
        "every_nth_layer": every_nth_layer,
        "other_layers": other_layers,
        "shifted_layers": shifted_layers,
        "read_partition": read_partition,
        "pipeline_plan": pipeline_plan,
        "tree_holds": tree_holds,
    },
)
"""By the names rules call them."""
