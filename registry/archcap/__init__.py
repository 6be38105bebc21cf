"""Archcap: what each model architecture can do in each release of an inference engine, and whether a launch starts."""

__version__ = "0.1.0"
