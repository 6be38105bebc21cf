"""The engine's side of `capctl verify`: runs in the engine's own Python, on a machine that is faked below the engine.

Standard library and the engine only: nothing of archcap is imported here, and archcap imports nothing of this; it is
started as a program. Reads one launch per line, writes one answer per line, forks for every launch.
"""
