"""What a site may state on top of the registry, checked and applied: pure functions over a snapshot.

Knows no database and no web.
"""

from archcap_service.overrides.apply import Applied, apply_overrides
from archcap_service.overrides.check import OverrideProblem, check_override
from archcap_service.overrides.records import Override, OverrideRequest

__all__ = ["Applied", "Override", "OverrideProblem", "OverrideRequest", "apply_overrides", "check_override"]
