"""The SGLang plug-in: compares the engine's own sets with the registry, and adds to them where it is told to.

SGLang loads it by the entry point `sglang.srt.plugins` in every process, before arguments are resolved. Whatever goes
wrong here is logged once, and the engine starts as it would without. Imports nothing of the engine by itself.
"""

from __future__ import annotations

from archcap.client.log import say
from archcap.client.settings import choice

MODE, MODES = "ARCHCAP_MODE", ("off", "audit", "extend")
PREFLIGHT, PREFLIGHTS = "ARCHCAP_PREFLIGHT", ("off", "warn", "refuse")


def load() -> None:
    """Do what `ARCHCAP_MODE` and `ARCHCAP_PREFLIGHT` say; the engine calls this."""
    try:
        mode = choice(MODE, MODES, "audit")
        preflight = choice(PREFLIGHT, PREFLIGHTS, "off")
        if mode != "off" or preflight != "off":
            from archcap.client.sglang.plugin import run

            run(mode, preflight)
    except Exception as error:
        _log_once(error)


def _log_once(error: Exception) -> None:
    """Say what went wrong. Strict mode ends the process: the engine's loader would swallow anything less."""
    from archcap.client.deadline import ClientError

    if isinstance(error, ClientError):
        raise SystemExit(str(error)) from error
    say("error", f"archcap: the plug-in failed and is left out: {type(error).__name__}: {error}")
