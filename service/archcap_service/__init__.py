"""The web service: look-ups, resolutions and site-local overrides with history, on top of `archcap`.

`settings` says how it runs, `overrides` what may be overridden (pure), `store` keeps it, `effective` is the registry as
it stands with its overrides, `documents` the answers, `api` and `edge` the web, `replica` the watch over other writers.
"""
