"""Templates into responses: escaped, under a policy without inline script, compressed, with an ETag.

Knows templates and headers; knows no page.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib import resources
from urllib.parse import quote, urlencode

from fastapi import Request, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from archcap import __version__
from archcap.model.base import Json
from archcap_service.api.common import Context
from archcap_service.dashboard.words import FILTERS
from archcap_service.edge import etag_matches
from archcap_service.effective import OVERHEAD, Document, State, document

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
MEDIA = {"css": "text/css", "js": "text/javascript", "txt": "text/plain", "svg": "image/svg+xml"}
_FOREVER = "public, max-age=31536000, immutable"
_making = threading.Lock()


@dataclass(frozen=True, slots=True)
class Asset:
    """A file that pages load: its bytes, plain and compressed, and the path that names its content."""

    media: str
    plain: bytes
    small: bytes
    path: str


@cache
def assets() -> Mapping[str, Asset]:
    """Return every file of `static/` by name."""
    found: dict[str, Asset] = {}
    for file in resources.files(__package__).joinpath("static").iterdir():
        data, ending = file.read_bytes(), file.name.rpartition(".")[2]
        if ending in MEDIA:
            tag = blake2b(data, digest_size=6).hexdigest()
            found[file.name] = Asset(MEDIA[ending], data, squeezed(data), f"/assets/{tag}/{file.name}")
    return found


def squeezed(data: bytes) -> bytes:
    """Return *data* compressed; the same bytes each time."""
    return gzip.compress(data, 9, mtime=0)


def link(*parts: str, **query: str | None) -> str:
    """Return a path on this service, each part and value quoted; values that are None are left out."""
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    said = urlencode([(key.rstrip("_"), value) for key, value in query.items() if value is not None])
    return f"{path}?{said}" if said else path


def _json(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


@cache
def environment() -> Environment:
    """Return the templates; everything is escaped, and a name nobody gave is an error."""
    made = Environment(
        loader=PackageLoader(__package__), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    made.filters.update(FILTERS)
    made.filters["json"] = _json
    made.globals.update(link=link, asset=lambda name: assets()[name].path, version=__version__, icon=_icon)
    return made


@cache
def _icon() -> Markup:
    """Return the favicon as a data URL, so that no page asks for one more file."""
    return Markup("data:image/svg+xml," + quote(assets()["icon.svg"].plain.decode()))


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around every page.

    Attributes:
        title: of the page.
        twin: where the same is found as JSON.
        section: the entry of the navigation it belongs to.
        engine, release: what links to other pages are about.
    """

    title: str
    twin: str
    section: str
    engine: str
    release: str


def rendered(state: State | None, template: str, frame: Frame, page: object) -> bytes:
    """Return a page as bytes.

    Args:
        state: what answers; named at the foot of the page. None before the database has been seen.
        template: its file.
        frame: what stands around it.
        page: what the template shows.
    """
    names = state.snapshot.engine_names if state is not None else ()
    words = {"frame": frame, "page": page, "state": state, "engines": names}
    return environment().get_template(template).render(words).encode()


def kept_page(request: Request, here: Context, key: str, make: Callable[[State], bytes]) -> Response:
    """Answer a GET with a page that is the same as long as the state holds.

    Args:
        request: for its conditions.
        here: the context.
        key: the page's canonical path.
        make: renders it.
    """
    state = here.replica.present
    found = state.variants.get(f"page {key}")
    small = state.variants.get(f"gzip {key}")
    if found is None or small is None:
        with _making:  # pages wait for pages; look-ups of engines do not wait for them
            found = document(make(state))
            small = Document(squeezed(found.body), found.etag)
        with state.making:
            for name, one in ((f"page {key}", found), (f"gzip {key}", small)):
                state.variants.put(name, one, len(one.body) + OVERHEAD)
    who = "private" if here.replica.settings.protect_reads else "public"
    headers = {"cache-control": f"{who}, max-age=0, must-revalidate"}
    return _sent(request, found, small, headers)


def fresh_page(request: Request, body: bytes, status: int = 200) -> Response:
    """Answer with a page that nobody keeps."""
    headers = {"cache-control": "no-store"}
    if not _takes_gzip(request):
        return Response(body, status, {**headers, **_common()}, "text/html")
    packed = {**headers, **_common(), "content-encoding": "gzip"}
    return Response(gzip.compress(body, 5, mtime=0), status, packed, "text/html")


def _sent(request: Request, found: Document, small: Document, headers: dict[str, str]) -> Response:
    given = request.headers.get("if-none-match")
    etag = b"W/" + found.etag  # the same page, compressed or not
    headers = {**headers, **_common(), "etag": etag.decode()}
    if given is not None and etag_matches(given.encode("latin-1"), found.etag):
        return Response(status_code=304, headers=headers)
    if _takes_gzip(request):
        return Response(small.body, 200, {**headers, "content-encoding": "gzip"}, "text/html")
    return Response(found.body, 200, headers, "text/html")


def _common() -> dict[str, str]:
    return {"content-security-policy": POLICY, "vary": "accept-encoding"}


def _takes_gzip(request: Request) -> bool:
    offered = request.headers.get("accept-encoding", "")
    return any(part.strip().split(";")[0] == "gzip" for part in offered.split(",") if "q=0" not in part.split(";")[1:])


def asset_response(request: Request, name: str) -> Response | None:
    """Return a file of `static/`, which may be kept for ever because its path names its content; None for no file."""
    found = assets().get(name)
    if found is None:
        return None
    headers = {"cache-control": _FOREVER, "vary": "accept-encoding"}
    if _takes_gzip(request):
        return Response(found.small, 200, {**headers, "content-encoding": "gzip"}, found.media)
    return Response(found.plain, 200, headers, found.media)
