"""Pure functions that SGLang's rules call for CUDA graphs and memory: captured batch sizes, image towers.

Knows no rules, no releases and no cards; everything arrives as plain values.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import chain
from typing import cast

from archcap.engines import Function

Sizes = list[int]
Steps = tuple[tuple[int, int, int], ...]
_KEPT, _MOST = 512, 1 << 20
"""Size lists remembered; launches ask for the same few again and again."""
_TOWER = (24, 1024)
"""Layers and width of the image tower whose cost counts as one."""


def prefill_graph_sizes(largest: int) -> Sizes:
    """Return the token counts for which a prefill graph is captured.

    Args:
        largest: the largest count, in tokens; below 4 nothing is captured.
    Returns:
        Token counts, rising; the steps widen with the count. *largest* itself is there only where a step falls on it.
    Source:
        sglang@0.5.23:srt/arg_groups/cuda_graph_hook.py:generate_prefill_cuda_graph_batch_sizes
    """
    steps = ((4, 32, 4), (48, 256, 16), (288, 512, 32), (576, 1024, 64), (1280, 4096, 256), (4608, largest, 512))
    return list(_up_to(largest, steps))


def decode_graph_sizes(largest: int, padded: bool, speculative: bool) -> Sizes:
    """Return the batch sizes for which a decode graph is captured.

    Args:
        largest: the largest batch, >= 1; always among the sizes.
        padded: smaller batches may run in the graph of a larger one.
        speculative: a draft is verified in the graph, which makes padding dearer and the steps smaller.
    Returns:
        Batch sizes in capture order: rising, with *largest* at the end.
    Source:
        sglang@0.5.23:srt/arg_groups/cuda_graph_hook.py:generate_decode_cuda_graph_batch_sizes
    """
    if not padded:
        steps: Steps = ((1, largest, 1),)
    elif speculative:
        steps = ((1, 8, 1), (10, 32, 2), (40, 64, 4), (72, 256, 8), (272, largest, 16))
    else:
        steps = ((1, 1, 1), (2, 2, 1), (4, 12, 4), (16, 256, 8), (272, 511, 16), (512, largest, 32))
    sizes = _up_to(largest, steps)
    return list(sizes) if largest in sizes else [*sizes, largest]


def cpu_graph_sizes(largest: int, padded: bool) -> Sizes:
    """Return the batch sizes that are compiled on a CPU.

    Args:
        largest: the largest batch (`torch_compile_max_bs`), always among the sizes.
        padded: smaller batches may run in the graph of a larger one.
    Source:
        sglang@0.5.23:srt/arg_groups/cuda_graph_hook.py:generate_cpu_graph_batch_sizes
    """
    if not padded:
        return list(_up_to(largest, ((1, largest, 1),)))
    steps = ((1, 16, 1), (18, 30, 2), (32, 80, 4), (84, largest, 8))
    return sorted({*_up_to(largest, steps), largest})


def sizes_by_eight(sizes: Sizes) -> Sizes:
    """Return *sizes* rounded up to multiples of eight, rising, each once.

    Source:
        sglang@0.5.23:srt/arg_groups/cuda_graph_hook.py:apply_deepep_adjustments
    """
    return sorted({(size + 7) // 8 * 8 for size in sizes})


def image_tower_factor(layers: int, width: int) -> float:
    """Return by what the static memory fraction is multiplied to leave room for an image tower.

    Args:
        layers: layers of the tower.
        width: hidden size of the tower.
    Returns:
        0.95 for a tower of 24 layers and 1024 wide; a tenth less for every tower of that size more, within 0.76 and
        0.9975.
    Source:
        sglang@0.5.23:srt/arg_groups/memory_hook.py:adjust_mem_fraction_for_vlm
    """
    usual_layers, usual_width = _TOWER
    cost = layers * width * width / (usual_layers * usual_width * usual_width)
    return 0.95 * max(0.8, min(1.05, 1.0 - 0.1 * (cost - 1.0)))


@lru_cache(_KEPT)
def _up_to(largest: int, steps: Steps) -> tuple[int, ...]:
    """Return the sizes of all *steps* (first, last, step) up to *largest*.

    Raises:
        ValueError: they are more than anybody could capture; a list of them would fill the memory.
    """
    ranges = [range(first, min(last, largest) + 1, step) for first, last, step in steps]
    count = sum(map(len, ranges))
    if count > _MOST:
        raise ValueError(f"{count} graph sizes")
    return tuple(chain.from_iterable(ranges))


FUNCTIONS = cast(
    Mapping[str, Function],  # lists of numbers are JSON; the checker holds lists to their exact item type
    {
        "prefill_graph_sizes": prefill_graph_sizes,
        "decode_graph_sizes": decode_graph_sizes,
        "cpu_graph_sizes": cpu_graph_sizes,
        "sizes_by_eight": sizes_by_eight,
        "image_tower_factor": image_tower_factor,
    },
)
"""By the names rules call them."""
