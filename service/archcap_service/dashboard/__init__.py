"""The web pages: server-rendered, each with a permalink and a JSON twin. `pages` is where a request comes in.

Everything shown is taken from the same documents and records as the API's answers.
"""
