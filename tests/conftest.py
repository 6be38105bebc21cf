"""What all tests share: property tests say what is wrong, not that the machine is busy."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("archcap", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("archcap")
