"""Holds the rules to the engine's own code: the same launches through both, and where they differ.

The engine runs in a process of its own, with its own Python, on a machine that is faked below it (`archcap_worker`);
archcap never imports it. Answers recorded earlier are compared without any engine. Knows no command line.
"""
