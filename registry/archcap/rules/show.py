"""Expressions as a reader writes them: for guards in answers and in `Program.expressions`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from archcap.rules import expr as x
from archcap.rules.emit import Emitter


def show(node: x.Expr) -> str:
    """Return *node* in the rule language."""
    return _Shower().text(node)


class _Shower(Emitter):
    """Writes names as the language spells them; operators are Python's own."""

    def text(self, node: x.Expr, level: int = 0) -> str:
        """Return *node* in the rule language, in brackets where *level* binds tighter."""
        shower = _SHOW.get(type(node))
        return super().text(node, level) if shower is None else shower(self, node)


def _config(s: _Shower, n: x.Config) -> str:
    path = repr(".".join(n.path))
    if n.has:
        return f"{n.view}.has({path})"
    return f"{n.view}.get({path}" + ("" if n.default is None else f", {s.text(n.default)}") + ")"


def _in_list(s: _Shower, n: x.InList) -> str:
    value = "" if n.value is None else f", {s.text(n.value)}"
    return f"{'draft.' if n.draft else ''}in_list({n.list!r}{value})"


def _call(s: _Shower, n: x.Call) -> str:
    args = [s.text(arg) for arg in n.args]
    if n.args and isinstance(n.args[0], x.Loop) and len(n.args) + len(n.keywords) > 1:
        args[0] = f"({args[0]})"
    args += [f"{key}={s.text(value)}" for key, value in n.keywords]
    return f"{n.name}({', '.join(args)})"


def _loop(s: _Shower, n: x.Loop) -> str:
    conditions = "".join(f" if {s.text(condition, 2)}" for condition in n.conditions)
    return f"{s.text(n.item)} for {n.name} in {s.text(n.source, 2)}{conditions}"


def _defined(s: _Shower, n: x.Defined) -> str:
    return f"{n.name}({', '.join(s.text(arg) for arg in n.args)})" if n.args else n.name


_SHOW: Mapping[type[x.Expr], Callable[[_Shower, Any], str]] = {
    x.Local: lambda s, n: n.name,
    x.Setting: lambda s, n: ".".join(n.path),
    x.Own: lambda s, n: f"own({'.'.join(n.path)!r})",
    x.Raw: lambda s, n: f"raw({'.'.join(n.path)!r})",
    x.UserSet: lambda s, n: f"user_set({n.name!r})",
    x.Var: lambda s, n: f"var.{n.name}",
    x.Fact: lambda s, n: f"fact.{n.name}",
    x.Hardware: lambda s, n: f"hw.{n.name}",
    x.Assume: lambda s, n: f"assume.{n.name}",
    x.Env: lambda s, n: f"env({n.name!r})",
    x.EnvSet: lambda s, n: f"env_set({n.name!r})",
    x.HasPeer: lambda s, n: "peer",
    x.PeerValue: lambda s, n: ".".join(("peer", *(() if n.kind == "setting" else (n.kind,)), *n.path)),
    x.Profile: lambda s, n: "profile",
    x.Has: lambda s, n: f"{'draft.' if n.draft else ''}has({n.capability!r})",
    x.InList: _in_list,
    x.Config: _config,
    x.Call: _call,
    x.Loop: _loop,
    x.Defined: _defined,
}
