"""Sizes of captured graphs: what the engine captures for known limits, and what holds for every limit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archcap.engines.sglang_graphs import (
    cpu_graph_sizes,
    decode_graph_sizes,
    image_tower_factor,
    prefill_graph_sizes,
    sizes_by_eight,
)

LIMITS = st.integers(1, 20_000)


@pytest.mark.parametrize(
    ("largest", "sizes"),
    [(3, []), (4, [4]), (7, [4]), (33, [4, 8, 12, 16, 20, 24, 28, 32]), (48, [4, 8, 12, 16, 20, 24, 28, 32, 48])],
)
def test_a_prefill_graph_is_captured_for_every_step_up_to_the_limit(largest: int, sizes: list[int]) -> None:
    assert prefill_graph_sizes(largest) == sizes


def test_prefill_steps_widen_to_512_tokens() -> None:
    assert prefill_graph_sizes(8192)[-3:] == [7168, 7680, 8192]
    assert len(prefill_graph_sizes(8192)) == 58  # as recorded from the engine


@pytest.mark.parametrize(
    ("padded", "speculative", "sizes"),
    [
        (True, False, [1, 2, 4, 8, 12, 16, 19]),
        (True, True, [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 19]),
        (False, False, list(range(1, 20))),
        (False, True, list(range(1, 20))),
    ],
)
def test_the_limit_itself_is_captured_for_decode(padded: bool, speculative: bool, sizes: list[int]) -> None:
    assert decode_graph_sizes(19, padded, speculative) == sizes


@given(LIMITS, st.booleans(), st.booleans())
def test_decode_sizes_rise_from_one_to_the_limit(largest: int, padded: bool, speculative: bool) -> None:
    sizes = decode_graph_sizes(largest, padded, speculative)
    assert sizes == sorted(set(sizes))
    assert (sizes[0], sizes[-1]) == (1, largest)


@given(LIMITS, st.booleans())
def test_compiled_cpu_sizes_rise_from_one_to_the_limit(largest: int, padded: bool) -> None:
    sizes = cpu_graph_sizes(largest, padded)
    assert sizes == sorted(set(sizes))
    assert (sizes[0], sizes[-1]) == (1, largest)


@given(LIMITS)
def test_prefill_sizes_are_fours_within_the_limit(largest: int) -> None:
    sizes = prefill_graph_sizes(largest)
    assert all(size % 4 == 0 and size <= largest for size in sizes)
    assert sizes == sorted(set(sizes))


@given(LIMITS, LIMITS)
def test_a_higher_limit_only_adds_prefill_sizes(one: int, other: int) -> None:
    low, high = sorted((one, other))
    assert prefill_graph_sizes(high)[: len(prefill_graph_sizes(low))] == prefill_graph_sizes(low)


@given(st.lists(st.integers(1, 5_000), min_size=1))
def test_sizes_by_eight_cover_every_size_and_nothing_lower(sizes: list[int]) -> None:
    aligned = sizes_by_eight(sizes)
    assert aligned == sorted(set(aligned))
    assert all(size % 8 == 0 for size in aligned)
    assert {(size + 7) // 8 * 8 for size in sizes} == set(aligned)


def test_sizes_that_are_eights_stay() -> None:
    assert sizes_by_eight([8, 16, 24]) == [8, 16, 24]


@pytest.mark.parametrize(
    ("layers", "width", "factor"),
    [
        (24, 1024, 0.95),
        (1, 1, 0.9975),
        (27, 1152, 0.95 * (1.1 - 0.1 * 27 * 1152**2 / (24 * 1024**2))),
        (400, 4096, 0.76),
    ],
)
def test_an_image_tower_takes_its_share(layers: int, width: int, factor: float) -> None:
    assert image_tower_factor(layers, width) == pytest.approx(factor)


@given(st.integers(1, 200), st.integers(64, 8192))
def test_an_image_tower_never_takes_more_than_a_quarter(layers: int, width: int) -> None:
    assert 0.76 - 1e-9 <= image_tower_factor(layers, width) <= 0.9975 + 1e-9


@pytest.mark.parametrize("sizes", [prefill_graph_sizes, lambda n: decode_graph_sizes(n, False, False)])
def test_a_list_that_would_fill_the_memory_is_not_made(sizes) -> None:
    with pytest.raises(ValueError, match="graph sizes"):
        sizes(10**12)


def test_a_list_belongs_to_who_asked_for_it() -> None:
    prefill_graph_sizes(48).clear()
    assert prefill_graph_sizes(48)[-1] == 48
