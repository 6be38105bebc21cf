"""Where an answer comes from, in a line for the log."""

from __future__ import annotations

KINDS = ("service", "cache", "bundle", "nothing")


class Source(str):
    """A line such as `cache, age 12 s, sglang 0.5.18, sha256:8d72… (no answer within 2 s)`.

    Attributes:
        kind: `service`, `cache`, `bundle` (what the package carries) or `nothing`.
        age_s: since the service last confirmed it; for `bundle`, since it was installed.
        digest: of the facts; "" when there are none.
        release: the release that answers.
        why: what kept a better source from answering; "" when nothing did.
    """

    __slots__ = ("age_s", "digest", "kind", "release", "why")

    kind: str
    age_s: float
    digest: str
    release: str
    why: str

    def __new__(
        cls, kind: str, engine: str = "", release: str = "", digest: str = "", age_s: float = 0.0, why: str = ""
    ) -> Source:
        """Make the line and keep its parts."""
        facts = f", age {_age(age_s)}, {engine} {release}, {digest}" if kind != "nothing" else ""
        made = super().__new__(cls, f"{kind}{facts}" + (f" ({why})" if why else ""))
        made.kind, made.release, made.digest, made.age_s, made.why = kind, release, digest, age_s, why
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (str(self), self.kind, self.release, self.digest, self.age_s, self.why)


def _again(text: str, kind: str, release: str, digest: str, age_s: float, why: str) -> Source:
    made = str.__new__(Source, text)
    made.kind, made.release, made.digest, made.age_s, made.why = kind, release, digest, age_s, why
    return made


def _age(seconds: float) -> str:
    """Return a duration as `12 s`, `4 min`, `3 h` or `9 d`."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"
