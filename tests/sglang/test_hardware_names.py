"""A device can be asked for by the name its vendor's tool prints: that is what a running engine knows of it."""

from __future__ import annotations

import pytest

from archcap.errors import RequestError
from archcap.resolver.inputs import find_gpu
from archcap.snapshot import store


def test_the_name_a_tool_prints_is_the_device() -> None:
    snapshot = store.default()
    for key, gpu in snapshot.hardware.items():
        assert find_gpu(gpu.title, snapshot)[0] == key
        assert find_gpu(gpu.title.upper(), snapshot)[0] == key


@pytest.mark.parametrize("name", ["NVIDIA H20", "NVIDIA", "H200 NVIDIA"])
def test_a_part_of_a_name_is_another_name(name: str) -> None:
    snapshot = store.default()
    if name not in {gpu.title for gpu in snapshot.hardware.values()}:
        with pytest.raises(RequestError):
            find_gpu(name, snapshot)
