"""The endpoints: thin, typed, and the same few helpers for all. `app` puts them together."""
