"""The scanner: reads an engine's source and says what is true of it, without importing or running a line of it.

`scan_source` gives the facts of one release, `merge` joins the scans of many releases into intervals, and `write`
puts them into the registry's YAML. What recognises a capability stands in the vocabulary, never in here.
"""
