"""Formulas, written once as a Python expression: shown as MathML, evaluated by the tests.

What a page shows is the text that is evaluated, so a formula cannot say something else than the
number beside it. Names follow the field: ``theta_i`` is shown as a Greek letter with an index.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from posviz.figures import style
from posviz.params import Message, Said

Words = Callable[..., str]

_GREEK = {
    "alpha": "α", "beta": "β", "theta": "θ", "lam": "λ", "phi": "φ", "delta": "Δ", "pi": "π",
    "sigma": "σ",
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": math.sin, "cos": math.cos, "exp": math.exp, "log": math.log, "sqrt": math.sqrt,
    "floor": math.floor, "ceil": math.ceil, "abs": abs, "min": min, "max": max, "sum": sum,
    "range": range,
}  # fmt: skip
_BRACKETS = {
    "floor": ("<mo>⌊</mo>", "⌋"), "ceil": ("<mo>⌈</mo>", "⌉"), "abs": ("<mo>|</mo>", "|"),
    "log": ("<mi>ln</mi><mo>(</mo>", ")"),
}  # fmt: skip
# How tightly an operator binds; what binds less gets brackets.
_BINDS = {
    ast.Add: 1,
    ast.Sub: 1,
    ast.Mult: 2,
    ast.Div: 3,
    ast.FloorDiv: 3,
    ast.USub: 2,
    ast.Pow: 4,
    ast.MatMult: 2,
}


_APART = ("mn>", "normal")  # numbers and words need a dot between them
_SIGNS = {ast.Add: "+", ast.Sub: "−", ast.Mult: "·", ast.FloorDiv: "//", ast.MatMult: "/"}


class _FlatDivision(ast.NodeTransformer):
    """Divisions within an exponent get a slash, for which a free operator stands."""

    def visit_Div(self, node: ast.Div) -> ast.MatMult:
        return ast.MatMult()


@dataclass(frozen=True)
class Formula:
    """A named expression, its symbols coloured as the curves that they belong to.

    Attributes:
        name: What it computes, shown left of the equals sign; a name or an expression.
        expression: Python: + - * / // **, sin cos exp log sqrt floor ceil abs min max,
            ``sum(x for i in range(n))``, names and indexed names.
        shades: Name of the colour of each name that has one.
        words: How names are written where they are not the field's letters: ``{"rows": "d / 2"}``.
            Every name of three letters or more is among them.
    """

    name: str
    expression: str
    shades: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, Message | Said] = field(default_factory=dict)

    def value(self, **values: Any) -> Any:
        """The expression's value for these values of its names."""
        code = compile(self.expression, "formula", "eval")
        return eval(code, {"__builtins__": {}, **_FUNCTIONS, "pi": math.pi, **values})

    def markup(self, _: Words, result: float | None = None, /, **values: float) -> str:
        """The formula as MathML, with the numbers in it and the result if they are given.

        ``_`` translates its words.
        """
        words = {name: one if isinstance(one, Said) else _(one) for name, one in self.words.items()}
        return replace(self, words=words)._told(result, values)

    def _told(self, result: float | None, values: Mapping[str, float]) -> str:
        parts = [self._of(self.name), f'<mo form="infix">=</mo>{self._of(self.expression)}']
        if values:
            parts.append(f'<mo form="infix">=</mo>{self._of(self.expression, values)}')
        if result is not None:
            exact = math.isinf(result) or float(f"{result:.4g}") == result
            exact = exact or (result == int(result) and abs(result) < 1e7)  # told in full
            sign = "=" if exact else "≈"
            parts.append(f'<mo form="infix">{sign}</mo>{_number(result)}')
        # A line may break before each equals sign: MathML itself does not break.
        return " ".join(f"<math>{part}</math>" for part in parts)

    def _of(self, expression: str, values: Mapping[str, float] | None = None) -> str:
        return self._node(ast.parse(expression, mode="eval").body, values or {})

    def _node(self, node: ast.expr, values: Mapping[str, float]) -> str:
        match node:
            case ast.Constant(value=int() | float() as value):
                return _number(value)
            case ast.Name(id=name):
                return self._name(name, values)
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                told = self._node(index, {})
                return f"<msub>{self._name(name, {})}<mrow>{told}</mrow></msub>"
            case ast.UnaryOp(operand=inner):
                return f"<mrow><mo>−</mo>{self._within(inner, node.op, values)}</mrow>"
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                top, bottom = self._node(left, values), self._node(right, values)
                return f"<mfrac><mrow>{top}</mrow><mrow>{bottom}</mrow></mfrac>"
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                power = self._node(_FlatDivision().visit(right), values)
                return f"<msup>{self._within(left, node.op, values)}<mrow>{power}</mrow></msup>"
            case ast.BinOp(left=left, op=op, right=right):
                first = self._within(left, op, values)
                sign = _SIGNS[type(op)]
                leading = _leading_name(right)
                if isinstance(op, ast.Add) and values.get(leading, 0) < 0:  # 2 + −3 is 2 − 3
                    values, sign = {**values, leading: -values[leading]}, "−"
                second = self._within(right, op, values, is_right=True)
                apart = any(mark in first[-60:] or mark in second[:30] for mark in _APART)
                if sign == "·" and not apart:
                    sign = "\u2062"  # letters stand side by side
                return f"<mrow>{first}<mo>{sign}</mo>{second}</mrow>"
            case ast.Call(func=ast.Name(id="sum"), args=[ast.GeneratorExp() as each]):
                return self._sum(each, values)
            case ast.Call(func=ast.Name(id="sqrt"), args=[inner]):
                return f"<msqrt>{self._node(inner, values)}</msqrt>"
            case ast.Call(func=ast.Name(id="exp"), args=[inner]):
                return f"<msup><mi>e</mi><mrow>{self._node(inner, values)}</mrow></msup>"
            case ast.Call(func=ast.Name(id=name), args=arguments):
                inside = "<mo>,</mo>".join(self._node(one, values) for one in arguments)
                opening, closing = _BRACKETS.get(name, (f"<mi>{name}</mi><mo>(</mo>", ")"))
                return f"<mrow>{opening}{inside}<mo>{closing}</mo></mrow>"
        raise ValueError(f"a formula cannot show {ast.dump(node)}")

    def _sum(self, each: ast.GeneratorExp, values: Mapping[str, float]) -> str:
        (over,) = each.generators
        assert isinstance(over.target, ast.Name)
        assert isinstance(over.iter, ast.Call)
        *start, stop = over.iter.args
        first = self._node(start[0], values) if start else "<mn>0</mn>"
        if isinstance(stop, ast.BinOp) and isinstance(stop.op, ast.Add):
            last = self._node(stop.left, values)  # range(1, n + 1) runs to n
        else:
            last = f"<mrow>{self._within(stop, ast.Sub(), values)}<mo>−</mo><mn>1</mn></mrow>"
        index = self._name(over.target.id, {})
        inner = self._within(each.elt, ast.Mult(), values)
        return (
            f"<mrow><munderover><mo>∑</mo><mrow>{index}<mo>=</mo>{first}</mrow>{last}</munderover>"
            f"{inner}</mrow>"
        )

    def _within(
        self,
        node: ast.expr,
        outer: ast.operator | ast.unaryop,
        values: Mapping[str, float],
        *,
        is_right: bool = False,
    ) -> str:
        """An operand, in brackets where it binds less than the operator around it."""
        told, around = self._node(node, values), _BINDS[type(outer)]
        own = 9
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            own = _BINDS[type(node.op)]
        elif isinstance(node, ast.Name) and values.get(node.id, 0) < 0:
            own = 1 if isinstance(outer, ast.Pow) or is_right else 2
        elif "munderover" in told or (isinstance(node, ast.Name) and "msup" in told):
            own = 2  # a sum; 2.1 · 10⁹
        apart = own < around or (
            own == around and is_right and isinstance(outer, (ast.Sub, ast.MatMult))
        )
        if isinstance(outer, ast.Pow) and own < 9:
            apart = True
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            apart = isinstance(outer, ast.Pow)  # a fraction's bar is bracket enough
        return f"<mrow><mo>(</mo>{told}<mo>)</mo></mrow>" if apart else told

    def _name(self, name: str, values: Mapping[str, float]) -> str:
        if name in values:
            return self._shaded(name, _number(values[name]))
        if name in self.words:
            return self._shaded(name, f'<mi mathvariant="normal">{self.words[name]}</mi>')
        base, *indices = name.split("_")
        told = f"<mi>{_GREEK.get(base, base)}</mi>"
        if indices:
            under = "".join(f"<mi>{_GREEK.get(one, one)}</mi>" for one in indices)
            told = f"<msub>{told}<mrow>{under}</mrow></msub>"
        return self._shaded(name, told)

    def _shaded(self, name: str, told: str) -> str:
        if name not in self.shades:
            return told
        return f'<mrow style="color:{style.colour(self.shades[name])}">{told}</mrow>'


def _leading_name(node: ast.expr) -> str:
    """The name that a product begins with, unless it stands in the rest of it again."""
    first = node
    while isinstance(first, ast.BinOp) and isinstance(first.op, (ast.Mult, ast.Div)):
        first = first.left
    if not isinstance(first, ast.Name):
        return ""
    named = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    return first.id if named.count(first.id) == 1 else ""


def _number(value: float) -> str:
    """A number as MathML."""
    size = abs(value)
    sign = "<mo>−</mo>" if value < 0 else ""
    if size == math.inf:
        told = "<mi>∞</mi>"
    elif size != 0 and (size < 1e-3 or size >= 1e7):
        mantissa, exponent = f"{size:.2e}".split("e")
        power = f"{int(exponent)}".replace("-", "−")
        told = f"<mn>{mantissa}</mn><mo>·</mo><msup><mn>10</mn><mn>{power}</mn></msup>"
    elif isinstance(value, int) or value == int(value):
        told = f"<mn>{int(size):,}</mn>"
    else:
        told = f"<mn>{size:.4g}</mn>" if size < 1e4 else f"<mn>{size:,.0f}</mn>"
    return f"<mrow>{sign}{told}</mrow>" if sign or "·" in told else told
