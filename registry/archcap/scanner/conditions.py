"""Engine conditions over a checkpoint's configuration, rewritten in the language of the registry.

`getattr(hf_config, "layer_types", [])` becomes `hf.get("layer_types", [])`; a condition that reads more is none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

from archcap.scanner.index import dotted

VIEWS = {
    "hf_config": "hf",
    "self.hf_config": "hf",
    "config": "hf",
    "model_config.hf_config": "hf",
    "self.model_config.hf_config": "hf",
    "hf_text_config": "text",
    "self.hf_text_config": "text",
    "text_config": "text",
    "model_config.hf_text_config": "text",
    "self.model_config.hf_text_config": "text",
}
"""How engines spell the two levels of a configuration."""

_FUNCTIONS = frozenset({"any", "all", "len", "int", "str", "min", "max", "bool", "sorted"})


_GENERATOR = re.compile(r"\b(any|all|sorted|len|min|max)\(\(([^()]*(?:\([^()]*\)[^()]*)*)\)\)")
"""A generator as the only argument: `unparse` puts it into parentheses of its own."""


class NoCondition(Exception):
    """The expression reads more than the configuration."""


def config_condition(node: ast.expr, local: Mapping[str, ast.expr]) -> str | None:
    """Return *node* as an expression over `hf` and `text`, or None when it reads anything else.

    Args:
        node: a condition of the engine's code.
        local: names bound around it, which are replaced by what they are bound to.
    """
    try:
        made = _Rewriter(local).rewrite(node)
    except (NoCondition, RecursionError):
        return None
    text = _GENERATOR.sub(r"\1(\2)", ast.unparse(made)).replace("'", '"')
    return text if ("hf." in text or "text." in text) else None


def local_names(node: ast.AST) -> dict[str, ast.expr]:
    """Return the names that plain assignments in *node* bind; a name bound twice to different things is left out."""
    bound: dict[str, ast.expr] = {}
    twice: set[str] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name):
            name = one.targets[0].id
            if name in bound:
                twice.add(name)
            bound[name] = one.value
        elif isinstance(one, ast.For | ast.comprehension) and isinstance(one.target, ast.Name):
            twice.add(one.target.id)
    return {name: value for name, value in bound.items() if name not in twice}


class _Rewriter:
    def __init__(self, local: Mapping[str, ast.expr]) -> None:
        self.local = local
        self.loops: dict[str, str] = {}

    def rewrite(self, node: ast.expr) -> ast.expr:
        handler = _HANDLERS.get(type(node))
        if handler is None:
            raise NoCondition(type(node).__name__)
        return handler(self, node)

    def constant(self, node: ast.Constant) -> ast.expr:
        return node

    def items(self, node: ast.List | ast.Tuple | ast.Set) -> ast.expr:
        return ast.Tuple([self.rewrite(e) for e in node.elts], ast.Load()) if node.elts else ast.List([], ast.Load())

    def name(self, node: ast.Name) -> ast.expr:
        if node.id in self.loops:
            return ast.Name(self.loops[node.id], ast.Load())
        if node.id in self.local and node.id not in VIEWS:
            return self.rewrite(self.local[node.id])
        raise NoCondition(node.id)

    def attribute(self, node: ast.Attribute) -> ast.expr:
        view = VIEWS.get(dotted(node.value) or "")
        if view is None or node.attr == "architectures":
            raise NoCondition(node.attr)
        return _get(view, node.attr, None)

    def call(self, node: ast.Call) -> ast.expr:
        name = dotted(node.func)
        if name in ("getattr", "hasattr") and len(node.args) >= 2:
            return self._getattr(node, name)
        if name in _FUNCTIONS and not node.keywords:
            return ast.Call(ast.Name(name, ast.Load()), [self.rewrite(a) for a in node.args], [])
        raise NoCondition(name or "call")

    def _getattr(self, node: ast.Call, name: str) -> ast.expr:
        view = VIEWS.get(dotted(node.args[0]) or "")
        key = node.args[1]
        if view is None or not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise NoCondition("getattr")
        if name == "hasattr":
            return ast.Call(ast.Attribute(ast.Name(view, ast.Load()), "has", ast.Load()), [key], [])
        default = node.args[2] if len(node.args) > 2 else None
        return _get(view, key.value, None if default is None else self.rewrite(default))

    def boolean(self, node: ast.BoolOp) -> ast.expr:
        return ast.BoolOp(node.op, [self.rewrite(v) for v in node.values])

    def unary(self, node: ast.UnaryOp) -> ast.expr:
        return ast.UnaryOp(node.op, self.rewrite(node.operand))

    def compare(self, node: ast.Compare) -> ast.expr:
        return ast.Compare(self.rewrite(node.left), node.ops, [self.rewrite(c) for c in node.comparators])

    def generator(self, node: ast.GeneratorExp | ast.ListComp) -> ast.expr:
        loop = node.generators[0]
        if len(node.generators) > 1 or not isinstance(loop.target, ast.Name):
            raise NoCondition("comprehension")
        over = self.rewrite(loop.iter)
        self.loops[loop.target.id] = "t"
        part = ast.comprehension(ast.Name("t", ast.Store()), over, [self.rewrite(i) for i in loop.ifs], 0)
        return ast.GeneratorExp(self.rewrite(node.elt), [part])


def _get(view: str, key: str, default: ast.expr | None) -> ast.expr:
    arguments: list[ast.expr] = [ast.Constant(key)]
    if default is not None and not (isinstance(default, ast.Constant) and default.value is None):
        arguments.append(default)
    return ast.Call(ast.Attribute(ast.Name(view, ast.Load()), "get", ast.Load()), arguments, [])


_HANDLERS: dict[type[ast.expr], Callable[..., ast.expr]] = {
    ast.Constant: _Rewriter.constant,
    ast.List: _Rewriter.items,
    ast.Tuple: _Rewriter.items,
    ast.Set: _Rewriter.items,
    ast.Name: _Rewriter.name,
    ast.Attribute: _Rewriter.attribute,
    ast.Call: _Rewriter.call,
    ast.BoolOp: _Rewriter.boolean,
    ast.UnaryOp: _Rewriter.unary,
    ast.Compare: _Rewriter.compare,
    ast.GeneratorExp: _Rewriter.generator,
    ast.ListComp: _Rewriter.generator,
}
