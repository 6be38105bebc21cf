"""What becomes of a launch: asked of the service, else of the resolver of this installation.

That one runs in a process of its own, which is ended at the deadline: a resolver inside the engine could not be, and
would bring its libraries along. Raises nothing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from archcap.client.deadline import Deadline, Refused
from archcap.client.settings import Settings

_SHARE = 0.5
"""Of the time the service gets; the rest is for the resolver of this installation."""
_RESOLVE = "import sys; from archcap.cli import main; sys.exit(main())"


def resolved(
    settings: Settings, engine: str, release: str, request: Mapping[str, object]
) -> tuple[dict[str, object] | None, str]:
    """Return the answer, or None, and what went wrong on the way, or "".

    Args:
        settings: how to ask.
        engine: of the launch.
        release: of the launch.
        request: the launch.
    """
    deadline = Deadline(settings.timeout_s)
    problems = []
    launch = {key: value for key, value in request.items() if key not in ("engine", "release")}
    if settings.url:
        try:
            from archcap.client.service import post_launch

            part = Deadline(settings.timeout_s * _SHARE)
            return post_launch(settings, engine, release, launch, part), ""
        except (Refused, TypeError, ValueError) as problem:
            problems.append(f"{settings.url}: {problem}")
    try:
        answer = _here({**launch, "engine": engine, "release": release}, deadline)
    except (Refused, OSError, TypeError, ValueError) as problem:
        return None, "; ".join([*problems, f"the resolver here: {problem}"])
    return answer, "; ".join(problems)


def _here(request: Mapping[str, object], deadline: Deadline) -> dict[str, object]:
    """Return the answer of this installation's resolver.

    Raises:
        Refused: it has none.
        OSError: it cannot be started.
    """
    import subprocess

    words = [sys.executable, "-c", _RESOLVE, "resolve", "--batch", "-"]
    try:
        ran = subprocess.run(
            words, input=json.dumps(request).encode(), capture_output=True, check=False, timeout=deadline.wait()
        )
    except subprocess.TimeoutExpired:
        raise Refused(f"no answer within {deadline.seconds:g} s") from None
    answer = json.loads(ran.stdout or b"null")
    if isinstance(answer, dict) and "verdict" in answer:
        return answer
    said = answer.get("message") if isinstance(answer, dict) else None
    last = ran.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    raise Refused(str(said or last or f"it ended with {ran.returncode}")[:300])
