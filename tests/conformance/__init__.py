"""Recorded answers of the real engine that the rules must go on giving: see docs/verify.md."""
