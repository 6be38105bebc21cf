"""From the registry's YAML files to records, with every problem named by file and line.

Knows files, YAML and short forms; knows no rule semantics (`archcap.rules`) and no style (`archcap.lint`).
"""

from archcap.load.registry import Loaded, check_registry, load_registry

__all__ = ["Loaded", "check_registry", "load_registry"]
