"""The catalogue of messages: what the sources say, as a template and one file for each language.

``python -m tests.messages`` writes ``content/messages.pot`` from the sources, brings each
language's ``posviz.po`` up to it, and compiles what the app reads, ``posviz.mo``.

A message is a text in English that reaches ``say``, or ``_`` in a figure. It is followed back from
there, through variables, tables and choices, to the letters in the source. What crosses the border
of a function or a class is declared :data:`posviz.params.Message`: a parameter, a field, what is
returned. Whatever reaches the door in another way is an error that names the line.
"""

from __future__ import annotations

import ast
import io
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import SequenceMatcher
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from posviz.ui.text import LANGUAGES

ROOT = Path(__file__).parents[1]
CONTENT = ROOT / "content"
TEMPLATE = CONTENT / "messages.pot"
DOORS = ("say", "_", "Word")
"""Functions whose first argument is a message, in every module."""
DATA = {
    "posviz/published.json": ("tables", ("what", "where", "quantity", "label")),
    "posviz/model_configs.json": ("models", ("layout", "note")),
}
"""Fields of the app's data that are messages."""

Steps = tuple[object, ...]
"""Where messages are in a value: the element :class:`At` a key, :data:`ANY` element, a ``KEY``."""
ANY, KEY = "any element", "any key"


@dataclass(frozen=True)
class At:
    """The element with this index or key."""

    key: object


# What declares messages, or takes them.
_TOLD = (ast.Call, ast.AnnAssign, ast.FunctionDef, ast.ClassDef)
# The elements of what comes back are those of the argument.
_SAME = {"tuple", "list", "sorted", "reversed", "set", "frozenset", "dict", "iter", "filter",
         "chain", "MappingProxyType"}  # fmt: skip
_ITERABLES = {"Sequence", "Iterable", "Iterator", "Collection", "list", "set", "frozenset"}
_MAPPINGS = {"dict", "Mapping"}


@dataclass
class Module:
    """A source file: its tree, and what its names are."""

    name: str
    path: str
    tree: ast.Module
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    nodes: list[ast.AST] = field(default_factory=list)


@dataclass
class Signature:
    """What is declared of the arguments of a function or class: paths to messages in each."""

    order: list[str]
    paths: dict[str, list[Steps]]
    returned: list[Steps]
    module: Module
    is_method: bool


Bindings = dict[str, list[tuple[str, ast.AST, Steps]]]


class Sources:
    """All sources, and the messages in them with the files where each one stands."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.modules: dict[str, Module] = {}
        self.found: dict[str, set[str]] = defaultdict(set)
        self.problems: list[str] = []
        self._seen: set[tuple[int, Steps]] = set()
        self.signatures: dict[str, list[Signature]] = defaultdict(list)
        self.fields: dict[str, list[Steps]] = defaultdict(list)
        self.plain: set[str] = set()
        self.aliases: dict[str, ast.expr] = {}
        self._bindings: dict[ast.AST, Bindings] = {}
        for file in files:
            self._read(file)
        for module in self.modules.values():
            self._declare(module)
        for module in self.modules.values():
            self._walk(module)
        for file, (part, names) in DATA.items():
            told = json.loads((ROOT / file).read_text(encoding="utf-8"))
            self._data(file, names, told[part])

    # -------------------------------------------------------------------------- declarations

    def _read(self, file: Path) -> None:
        path = file.relative_to(ROOT).as_posix()
        name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        module = Module(name, path, ast.parse(file.read_text(encoding="utf-8")))
        todo: list[ast.AST] = [module.tree]
        while todo:
            node = todo.pop()
            if isinstance(node, _TOLD):
                module.nodes.append(node)
            for child in ast.iter_child_nodes(node):
                module.parents[child] = node
                todo.append(child)
            if isinstance(node, ast.ImportFrom) and node.module:
                for one in node.names:
                    module.imports[one.asname or one.name] = (node.module, one.name)
            elif isinstance(node, ast.Import):
                for one in node.names:
                    module.imports[one.asname or one.name] = (one.name, "")
        for statement in module.tree.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=alias)], value=ast.expr() as value):
                    if isinstance(value, (ast.Subscript, ast.BinOp)) and _speaks(value):
                        self.aliases[alias] = value
        self.modules[name] = module

    def _declare(self, module: Module) -> None:
        for node in reversed(module.nodes):
            if isinstance(node, ast.FunctionDef):
                self._declare_function(module, node)
            elif isinstance(node, ast.ClassDef):
                order, paths = [], {}
                for base in node.bases:  # fields of a base come first
                    for known in self.signatures[_last_name(base)]:
                        order += known.order
                        paths |= known.paths
                for one in node.body:
                    if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                        order.append(one.target.id)
                        if told := self.paths_of(one.annotation):
                            paths[one.target.id] = told
                            self.fields[one.target.id] += told
                        else:
                            self.plain.add(one.target.id)
                made = next((one for one in node.body if isinstance(one, ast.FunctionDef)
                             and one.name == "__init__"), None)  # fmt: skip
                if made is not None:
                    order, paths = self._parameters(made)
                self.signatures[node.name].append(Signature(order, paths, [], module, False))

    def _declare_function(self, module: Module, node: ast.FunctionDef) -> None:
        if node.name.startswith("__"):
            return
        order, paths = self._parameters(node)
        returned = self.paths_of(node.returns) if node.returns else []
        is_method = isinstance(module.parents[node], ast.ClassDef)
        self.signatures[node.name].append(Signature(order, paths, returned, module, is_method))
        if any("property" in ast.unparse(one) for one in node.decorator_list):
            self.fields[node.name] += returned

    def _parameters(self, node: ast.FunctionDef) -> tuple[list[str], dict[str, list[Steps]]]:
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        order = [one.arg for one in every if one.arg not in ("self", "cls")]
        paths = {}
        for one in every:
            if one.annotation is not None and (told := self.paths_of(one.annotation)):
                paths[one.arg] = told
        for rest, mark in ((node.args.vararg, "*"), (node.args.kwarg, "**")):
            if rest is not None and rest.annotation is not None:
                paths[mark] = self.paths_of(rest.annotation)
        return order, paths

    def paths_of(self, annotation: ast.expr) -> list[Steps]:
        """Where a thing with this annotation has messages."""
        match annotation:
            case ast.Constant(value=str() as text):
                return self.paths_of(ast.parse(text, mode="eval").body)
            case ast.Name(id="Message") | ast.Attribute(attr="Message"):
                return [()]
            case ast.Name(id=name) if name in self.aliases:
                return self.paths_of(self.aliases[name])
            case ast.BinOp(left=left, right=right):
                return self.paths_of(left) + self.paths_of(right)
            case ast.Subscript(value=value, slice=inner):
                kind = _last_name(value)
                parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                if kind == "tuple" and not _is_dots(parts[-1]):
                    return [(At(n), *p) for n, one in enumerate(parts) for p in self.paths_of(one)]
                if kind in _MAPPINGS:
                    keys = [(KEY, *path) for path in self.paths_of(parts[0])]
                    return keys + [(ANY, *path) for path in self.paths_of(parts[-1])]
                if kind in _ITERABLES or kind == "tuple":
                    return [(ANY, *path) for path in self.paths_of(parts[0])]
                if kind in ("Final", "ClassVar"):
                    return self.paths_of(parts[0])
        return []

    # ------------------------------------------------------------------------------- walking

    def _walk(self, module: Module) -> None:
        for node in module.nodes:
            match node:
                case ast.Call():
                    self._call(module, node)
                case ast.AnnAssign(annotation=annotation, value=ast.expr() as value):
                    if isinstance(value, ast.Call) and _last_name(value.func) == "field":
                        continue
                    for path in self.paths_of(annotation):
                        self.collect(module, value, path)
                case ast.FunctionDef():
                    self._function(module, node)

    def _data(self, file: str, names: Sequence[str], told: object) -> None:
        if isinstance(told, dict):
            for name, value in told.items():
                if name in names and isinstance(value, str):
                    self.found[value].add(file)
                self._data(file, names, value)
        elif isinstance(told, list):
            for one in told:
                self._data(file, names, one)

    def _function(self, module: Module, node: ast.FunctionDef) -> None:
        plain = [*node.args.posonlyargs, *node.args.args]
        usual = [*zip(plain[::-1], node.args.defaults[::-1], strict=False),
                 *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]  # fmt: skip
        for parameter, default in usual:
            if parameter.annotation is not None and default is not None:
                for path in self.paths_of(parameter.annotation):
                    self.collect(module, default, path)
        if node.returns is None:
            return
        for path in self.paths_of(node.returns):
            for one in _own_nodes(node):
                if isinstance(one, ast.Return) and one.value is not None:
                    self.collect(module, one.value, path)
                elif isinstance(one, ast.Yield) and one.value is not None:
                    self.collect(module, one.value, path[1:])
                elif isinstance(one, ast.YieldFrom):
                    self.collect(module, one.value, path)

    def _call(self, module: Module, node: ast.Call) -> None:
        name = _last_name(node.func)
        if name in DOORS:
            if node.args:
                self.collect(module, node.args[0], ())
            return
        if name == "map" and _last_name(node.args[0]) in DOORS:
            self.collect(module, node.args[1], (ANY,))
            return
        if name == "replace" and not isinstance(node.func, ast.Attribute):
            before = len(self.problems)
            for keyword in node.keywords:
                for path in self.fields.get(keyword.arg or "", []):
                    self.collect(module, keyword.value, path)
                if keyword.arg in self.plain:  # which of the classes it is cannot be seen
                    del self.problems[before:]
            return
        for signature in self._called(module, node):
            for at, argument in enumerate(node.args):
                paths = signature.paths.get("*", [])
                if at < len(signature.order):
                    paths = signature.paths.get(signature.order[at], [])
                if isinstance(argument, ast.Starred):
                    break
                for path in paths:
                    self.collect(module, argument, path)
            for keyword in node.keywords:
                if keyword.arg is not None:
                    name = keyword.arg if keyword.arg in signature.order else "**"
                    for path in signature.paths.get(name, []):
                        self.collect(module, keyword.value, path)

    def _called(self, module: Module, node: ast.Call) -> list[Signature]:
        """What is known of the callee: its module's, else the one that is imported, else all."""
        name, known = _last_name(node.func), self.signatures.get(_last_name(node.func), [])
        if isinstance(node.func, ast.Name):
            source, original = module.imports.get(name, (module.name, name))
            return [one for one in self.signatures.get(original, []) if one.module.name == source]
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            source, original = module.imports.get(node.func.value.id, ("", ""))
            full = f"{source}.{original}".strip(".")
            if full in self.modules:
                return [one for one in known if one.module.name == full]
        return [one for one in known if one.is_method]

    # ---------------------------------------------------------------------------- collecting

    def collect(self, module: Module, node: ast.AST, path: Steps) -> None:
        """Takes the messages that stand at ``path`` of what an expression gives."""
        if (id(node), path) in self._seen:
            return
        self._seen.add((id(node), path))
        first, rest = (path[0], path[1:]) if path else (None, ())
        match node:
            case ast.Constant(value=None | "" | False):
                return
            case ast.Constant(value=str() as text) if not path:
                self.found[text].add(module.path)
            case ast.IfExp(body=one, orelse=other):
                self.collect(module, one, path)
                self.collect(module, other, path)
            case ast.BoolOp(values=values):
                for one in values:
                    self.collect(module, one, path)
            case ast.NamedExpr(value=value) | ast.Starred(value=value):
                self.collect(module, value, path)
            case ast.BinOp() | ast.JoinedStr() if not path and (texts := self._texts(module, node)):
                for text in texts:
                    self.found[text].add(module.path)
            case ast.BinOp(left=left, right=right, op=ast.BitOr() | ast.Add()) if path:
                self.collect(module, left, path)
                self.collect(module, right, path)
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements) if (
                path
            ):
                self._elements(module, elements, first, rest)
            case ast.Dict(keys=keys, values=values) if path:
                self._entries(module, keys, values, path)
            case (
                ast.ListComp(elt=element) | ast.GeneratorExp(elt=element) | ast.SetComp(elt=element)
            ):
                self.collect(module, element, rest)
            case ast.DictComp(key=key, value=value) if path:
                self.collect(module, key if first == KEY else value, rest)
            case ast.Subscript(value=value, slice=index):
                step = At(index.value) if isinstance(index, ast.Constant) else ANY
                step = path[0] if isinstance(index, ast.Slice) else step
                self.collect(
                    module, value, (step, *(rest if isinstance(index, ast.Slice) else path))
                )
            case ast.Name():
                self._name(module, node, path)
            case ast.Attribute():
                self._attribute(module, node, path)
            case ast.Call():
                self._result(module, node, path)
            case _:
                self._problem(module, node, path)

    def _texts(self, module: Module, node: ast.AST) -> list[str]:
        """What a text that is put together from constants can be; nothing if it is not."""
        match node:
            case ast.Constant(value=str() as text):
                return [text]
            case ast.BinOp(left=left, right=right, op=ast.Add()):
                ends = self._texts(module, right)
                return [one + end for one in self._texts(module, left) for end in ends]
            case ast.JoinedStr(values=parts):
                made = [""]
                for part in parts:
                    ends = self._texts(module, part)
                    made = [one + end for one in made for end in ends]
                return made
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self._texts(module, value)
            case ast.IfExp(body=one, orelse=other):
                return self._texts(module, one) + self._texts(module, other)
            case ast.Name(id=name):
                scope: ast.AST | None = node
                while scope is not None and not isinstance(scope, ast.FunctionDef):
                    scope = module.parents.get(scope)
                bound = self._bindings_of(scope).get(name, []) if scope is not None else []
                if bound:
                    return [text for _, value, _ in bound for text in self._texts(module, value)]
                source, original = module.imports.get(name, (module.name, name))
                return self._constant(source, original)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                return self._constant(".".join(module.imports.get(name, ("", ""))), attribute)
        return []

    def _constant(self, source: str, name: str) -> list[str]:
        module = self.modules.get(source)
        for statement in module.tree.body if module else ():
            match statement:
                case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                    return self._texts(module, value) if module else []
        return []

    def _elements(
        self, module: Module, elements: Sequence[ast.expr], first: object, rest: Steps
    ) -> None:
        if isinstance(first, At) and isinstance(first.key, int):
            if not any(isinstance(one, ast.Starred) for one in elements):
                if -len(elements) <= first.key < len(elements):
                    self.collect(module, elements[first.key], rest)
                return
            first = ANY
        for one in elements:
            if isinstance(one, ast.Starred):
                self.collect(module, one.value, (first, *rest))
            else:
                self.collect(module, one, rest)

    def _entries(
        self, module: Module, keys: Sequence[ast.expr | None], values: Sequence[ast.expr],
        path: Steps,
    ) -> None:  # fmt: skip
        first, rest = path[0], path[1:]
        for key, value in zip(keys, values, strict=True):
            if key is None:
                self.collect(module, value, path)
            elif first == KEY:
                self.collect(module, key, rest)
            elif not (isinstance(first, At) and isinstance(key, ast.Constant)
                      and key.value != first.key):  # fmt: skip
                self.collect(module, value, rest)

    def _attribute(self, module: Module, node: ast.Attribute, path: Steps) -> None:
        if isinstance(node.value, ast.Name) and node.value.id in module.imports:
            source, original = module.imports[node.value.id]
            other = self.modules.get(f"{source}.{original}".strip("."))
            if other is not None and self._bound(other, other.tree, node.attr, path):
                return
        if not self._fits(self.fields.get(node.attr, []), path):
            self._problem(module, node, path)

    def _result(self, module: Module, node: ast.Call, path: Steps) -> None:
        """What a call returns."""
        name, first = _last_name(node.func), path[0] if path else None
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name in ("Said", "cast") or (name == "map" and _last_name(node.args[0]) == "Said"):
            return
        if owner is not None and name == "get" and len(node.args) in (1, 2):
            key = node.args[0]
            step = At(key.value) if isinstance(key, ast.Constant) else ANY
            self.collect(module, owner, (step, *path))
            for default in node.args[1:]:
                self.collect(module, default, path)
        elif owner is not None and name == "items" and len(path) > 1 and first == ANY:
            step = KEY if path[1] == At(0) else ANY
            self.collect(module, owner, (step, *path[2:]))
        elif owner is not None and name == "values" and first == ANY:
            self.collect(module, owner, path)
        elif owner is not None and name == "keys" and first == ANY:
            self.collect(module, owner, (KEY, *path[1:]))
        elif name == "zip" and len(path) > 1 and isinstance(path[1], At):
            self.collect(module, node.args[int(str(path[1].key))], (ANY, *path[2:]))
        elif name == "enumerate" and len(path) > 1 and path[1] == At(1):
            self.collect(module, node.args[0], (ANY, *path[2:]))
        elif name == "getattr" and isinstance(node.args[1], ast.Constant):
            if not self._fits(self.fields.get(node.args[1].value, []), path):
                self._problem(module, node, path)
            for default in node.args[2:]:
                self.collect(module, default, path)
        elif name == "next":
            self.collect(module, node.args[0], (ANY, *path))
            for default in node.args[1:]:
                self.collect(module, default, path)
        elif name == "fromkeys" and path:
            from_keys = first == KEY or len(node.args) < 2
            self.collect(module, node.args[0 if from_keys else 1], (*(ANY,) * from_keys, *path[1:]))
        elif name in _SAME and path and node.args:
            for one in node.args[-1:] if name == "filter" else node.args:
                self.collect(module, one, path)
        elif not any(self._fits(one.returned, path) for one in self._called(module, node)):
            self._problem(module, node, path)

    def _fits(self, declared: Sequence[Steps], path: Steps) -> bool:
        """Whether messages are declared at ``path``; a step with a key is one of any."""
        return any(
            len(one) == len(path)
            and all(a == b or (a == ANY and isinstance(b, At)) or (b == ANY and isinstance(a, At))
                    for a, b in zip(one, path, strict=True))
            for one in declared
        )  # fmt: skip

    # --------------------------------------------------------------------------------- names

    def _name(self, module: Module, node: ast.Name, path: Steps) -> None:
        scope: ast.AST | None = node
        while scope is not None:
            scope = module.parents.get(scope)
            if isinstance(scope, _SCOPES) and self._bound(module, scope, node.id, path):
                return
        source, original = module.imports.get(node.id, ("", ""))
        other = self.modules.get(source)
        if other is None or not self._bound(other, other.tree, original, path):
            self._problem(module, node, path)

    def _bound(self, module: Module, scope: ast.AST, name: str, path: Steps) -> bool:
        """Whether ``name`` is bound in a scope; its messages are taken there."""
        found = self._bindings_of(scope).get(name, [])
        kinds = {kind for kind, _, _ in found}
        if any(
            isinstance(node, ast.expr) and self._fits(self.paths_of(node), path)
            for kind, node, _ in found
            if kind == "declared"
        ):
            return True
        values = [node for kind, node, _ in found if kind == "value"]
        if path and values and all(map(_is_empty, values)) and not kinds & {"entry", "parameter"}:
            self._problem(module, values[0], path)
        for kind, node, before in found:
            if kind == "parameter":
                assert isinstance(node, ast.arg)
                if node.annotation is None or not self._fits(self.paths_of(node.annotation), path):
                    self._problem(module, node, path)
            elif kind == "value":
                self.collect(module, node, (*before, *path))
            elif kind == "entry" and path:  # what is put into it later
                self.collect(module, node, (*before, *path[1:]))
        return bool(found)

    def _bindings_of(self, scope: ast.AST) -> Bindings:
        if scope not in self._bindings:
            self._bindings[scope] = _bindings(scope)
        return self._bindings[scope]

    def _problem(self, module: Module, node: ast.AST, path: Steps) -> None:
        where = f"{module.path}:{getattr(node, 'lineno', 0)}"
        told = node.arg if isinstance(node, ast.arg) else ast.unparse(node)
        self.problems.append(f"{where}: {told[:80]!r} {list(path) or ''}")


_SCOPES = (
    ast.Module, ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp,
)  # fmt: skip


def _bindings(scope: ast.AST) -> Bindings:
    """What each name of a scope is bound to: an expression and where in it the name's value is."""
    found: dict[str, list[tuple[str, ast.AST, Steps]]] = defaultdict(list)

    def bind(target: ast.expr, value: ast.AST, path: Steps) -> None:
        match target:
            case ast.Name(id=name):
                found[name].append(("value", value, path))
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for at, one in enumerate(elements):
                    if isinstance(one, ast.Starred):
                        bind(one.value, value, path)
                    else:
                        bind(one, value, (*path, At(at)))
            case ast.Subscript(value=ast.Name(id=name)):
                found[name].append(("entry", value, path))

    if isinstance(scope, (ast.FunctionDef, ast.Lambda)):
        arguments = scope.args
        if arguments.kwarg is not None and arguments.kwarg.annotation is not None:
            declared = ast.unparse(arguments.kwarg.annotation)
            kind = ast.parse(f"dict[str, {declared}]", mode="eval").body
            found[arguments.kwarg.arg].append(("declared", kind, ()))
        for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            found[one.arg].append(("parameter", one, ()))
    if isinstance(scope, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        for each in scope.generators:
            bind(each.target, each.iter, (ANY,))
        return found
    for node in _own_nodes(scope):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    bind(target, value, ())
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                found[name].append(("declared", annotation, ()))
                if value is not None:
                    found[name].append(("value", value, ()))
            case ast.AugAssign(target=target, value=value):
                bind(target, value, ())
            case ast.For(target=target, iter=over):
                bind(target, over, (ANY,))
            case ast.NamedExpr(target=target, value=value):
                bind(target, value, ())
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=what), args=[value]):
                if what in ("append", "extend"):
                    found[name].append(("entry" if what == "append" else "value", value, ()))
    return found


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a scope without those of the scopes within it."""
    todo = list(ast.iter_child_nodes(scope))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            todo += ast.iter_child_nodes(node)


def _is_empty(node: ast.AST) -> bool:
    """Whether this makes something that only later gets what it holds."""
    match node:
        case ast.Dict(keys=[]) | ast.List(elts=[]):
            return True
        case ast.Call(func=ast.Name(id="dict" | "list" | "set"), args=[], keywords=[]):
            return True
        case ast.Call(func=ast.Name(id="defaultdict")):
            return True
    return False


def _last_name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _is_dots(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _speaks(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "Message" for one in ast.walk(node))


# -------------------------------------------------------------------------------------- catalogues


def sources() -> Sources:
    """The app's sources, read."""
    folders = (ROOT / "posviz", ROOT / "pages")
    return Sources(
        [*(file for one in folders for file in sorted(one.rglob("*.py"))), ROOT / "app.py"]
    )


def template(read: Sources) -> Catalog:
    """What there is to translate, and in which files each message stands."""
    made = Catalog(project="posviz", header_comment="# Messages of posviz, see CONTRIBUTING.md.")
    for message, files in read.found.items():
        made.add(message, locations=[(file, 0) for file in sorted(files)])
    return made


def languages() -> list[str]:
    """Codes of those that have a catalogue: all but English, whose texts are the ids."""
    return [code for code in LANGUAGES if code != "en"]


def place(code: str) -> Path:
    """The file of a language's translations."""
    return CONTENT / code / "LC_MESSAGES" / "posviz.po"


def catalogue(code: str) -> Catalog:
    """A language's translations as they stand in its file."""
    with place(code).open("rb") as file:
        return read_po(file, locale=code)


def written(catalog: Catalog) -> bytes:
    """A catalogue as a file: sorted, without line numbers and dates, so that changes are small."""
    _plain(catalog)
    made = io.BytesIO()
    write_po(made, catalog, width=100, sort_output=True, include_lineno=False, ignore_obsolete=True)
    return b"".join(
        line for line in made.getvalue().splitlines(keepends=True) if not line.startswith(_UNWANTED)
    )


def compiled(catalog: Catalog) -> bytes:
    """A catalogue as gettext reads it."""
    _plain(catalog)
    made = io.BytesIO()
    write_mo(made, catalog)
    return made.getvalue()


_ALIKE = 0.9  # of two messages that differ by a correction
_UNWANTED = tuple(
    f'"{name}'.encode()
    for name in ("POT-Creation-Date", "PO-Revision-Date", "Generated-By", "Last-Translator",
                 "Report-Msgid-Bugs-To", "Language-Team")
)  # fmt: skip


def _plain(catalog: Catalog) -> None:
    """Takes away what would change with each run, and what Babel takes for a percent format."""
    catalog.creation_date = catalog.revision_date = datetime(2000, 1, 1, tzinfo=UTC)
    for message in catalog:
        message.flags.discard("python-format")


def _unguessed(told: Catalog) -> None:
    """Takes away translations that Babel took over from a message that only looks like it."""
    for message in told:
        if message.fuzzy and message.id:
            before = " ".join(message.previous_id)
            if SequenceMatcher(None, before, message.id).ratio() < _ALIKE:
                message.string, message.previous_id = "", []
                message.flags.discard("fuzzy")


def main() -> int:
    """Writes the template and brings every language's files up to it."""
    read = sources()
    if read.problems:
        print("\n".join(["These reach the door from nowhere:", *read.problems]))
        return 1
    wanted = template(read)
    TEMPLATE.write_bytes(written(wanted))
    for code in languages():
        place(code).parent.mkdir(parents=True, exist_ok=True)
        told = catalogue(code) if place(code).exists() else Catalog(code, project="posviz")
        told.update(wanted)
        _unguessed(told)
        place(code).write_bytes(written(told))
        told = catalogue(code)
        place(code).with_suffix(".mo").write_bytes(compiled(told))
        open_ones = [one for one in told if one.id and (one.fuzzy or not one.string)]
        print(f"{code}: {len(told) - len(open_ones)} of {len(told)} messages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
