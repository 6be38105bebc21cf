"""The records archcap's data is made of: frozen, strict, and ignorant of files, rules and engines.

Read `registry.py` for the whole and follow the names from there.
"""
