"""The place of the web service: an API, pages and a store of overrides on top of `archcap`.

Nothing is served yet; the package holds the name and the source root.
"""
