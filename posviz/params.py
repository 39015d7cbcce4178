"""A parameter, declared once: its default, range, step, unit and help.

Validation, sliders, links and property tests all read these declarations, so that a
range or a default is written in one place. Labels and help are English message ids;
the user interface translates them.
"""

from __future__ import annotations

import difflib
import math
import operator
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Scale = Literal["linear", "log"]

Message = str
"""An English text that a reader sees in their language: its id in the catalogue.

Whoever shows one puts it through ``posviz.ui.text.say``. Fields, parameters and tables that hold
such texts are declared with this name, so that the catalogue finds them.
"""


class Said(str):
    """A text that no catalogue changes: a name, or words in the reader's language already."""

    __slots__ = ()


class Word(str):
    """A value of a message that is a message itself; other values are never translated.

    As a text it is the English one, its own ``{placeholders}`` filled in.
    """

    template: Message
    values: Mapping[str, object]

    def __new__(cls, template: Message, **values: object) -> Word:
        word = super().__new__(cls, template.format(**values) if values else template)
        word.template, word.values = template, values
        return word


def said(values: Mapping[str, object], _: Callable[..., str]) -> dict[str, object]:
    """Values of a message with the words among them as ``_`` translates them."""
    return {
        name: _(one.template, **said(one.values, _)) if isinstance(one, Word) else one
        for name, one in values.items()
    }


WHOLE_BETWEEN = "{name} must be a whole number from {low} to {high}, got {got}"
WHOLE_AT_LEAST = "{name} must be a whole number of at least {low}, got {got}"
IN_STEPS = "{name} must be a whole number from {low} to {high} in steps of {step}, got {got}"
REAL_BETWEEN = "{name} must be a number from {low} to {high}, got {got}"
REAL_AT_LEAST = "{name} must be a finite number of at least {low}, got {got}"
REAL_ABOVE = "{name} must be a finite number above {low}, got {got}"
REAL = "{name} must be a finite number, got {got}"
NUMBERS = "{name} must be finite numbers, got {got}"
NUMBERS_AT_LEAST = "{name} must be finite numbers of at least {low}, got {got}"
ONE_OF = "{name} must be one of {allowed}, got {got}"
LIKELY_ONE_OF = "{name} must be one of {allowed}, got {got}, did you mean {likely}?"
ONE_OF_MANY = "{name} must be one of {count} options, the nearest are {nearest}, got {got}"
A_LIST = "{name} must be a list with one number per pair, got an array of shape {got}"

# Unicode's categories of what cannot stand in a line of text.
_NO_TEXT = {"Cc", "Cs", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"  # invisible, but they shape what is seen

# More options than a sentence can list.
MANY = 12

# Above this a count is a slip, and an array of it fits no memory.
LARGEST = 2**31 - 1


class InvalidParameterError(ValueError):
    """A value that a parameter does not allow, as a sentence: name, what is allowed, what came.

    The sentence is kept as a template with its values, so that it can be translated.
    """

    def __init__(self, template: Message, **values: object) -> None:
        self.template = template
        self.values = values
        super().__init__(template.format(**values))


def shown(value: object) -> str:
    """A value as a reader sees it: numbers with thousands separators, text in quotes, short.

    Text stands as it was typed; for a control character or another invisible one stands a dot.
    """
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, (int, np.integer)):
        value = int(value)
        if abs(value) < 10**15:
            return f"{value:,}"
        return f"{value:.3g}" if value.bit_length() < 1000 else f"{value.bit_length():,} bits"
    if isinstance(value, (float, np.floating)):
        value = float(value)
        if math.isfinite(value) and value == int(value) and abs(value) < 1e15:
            return f"{int(value):,}"
        short = f"{value:.6g}"
        return repr(value) if float(short).is_integer() else short
    text = str(value)
    text = text if len(text) <= 40 else text[:39] + "…"
    text = "".join("·" if _is_hidden(one) else one for one in text)
    mark = '"' if "'" in text and '"' not in text else "'"
    return f"{mark}{text}{mark}"


def _is_hidden(character: str) -> bool:
    """Whether a character shows nothing, though it may change what stands beside it."""
    category = unicodedata.category(character)
    return category in _NO_TEXT or (category == "Cf" and character not in _JOINERS)


def written(value: object) -> str:
    """A value as :func:`shown`, but a float as Python writes it: 128.0 where 128 is allowed."""
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return shown(value)


def whole(name: str, value: Any, low: int, high: int | None = None) -> int:
    """``value`` as an int in ``[low, high]``; a sentence if it is not one."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if high is None and number is not None and number > LARGEST:
        high = LARGEST
    if number is not None and number >= low and (high is None or number <= high):
        return number
    raise InvalidParameterError(
        WHOLE_AT_LEAST if high is None else WHOLE_BETWEEN,
        name=name, low=shown(low), high=shown(high), got=written(value),
    )  # fmt: skip


def real(
    name: str, value: Any, low: float, high: float = math.inf, *, above: bool = False
) -> float:
    """``value`` as a finite float in ``[low, high]``, or ``(low, high]`` if ``above``."""
    try:
        number = float(value) if _is_real(value) else math.nan
    except OverflowError:
        number = math.nan
    if math.isfinite(number) and low <= number <= high and not (above and number == low):
        return number
    template = REAL_BETWEEN
    if math.isinf(high):
        template = REAL if math.isinf(low) else REAL_ABOVE if above else REAL_AT_LEAST
    raise InvalidParameterError(
        template, name=name, low=shown(low), high=shown(high), got=shown(value)
    )


def _is_real(value: object) -> bool:
    """Whether ``value`` is one real number; neither a truth value nor a text is."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.ndim == 0 and value.dtype.kind in "iuf"
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def numbers(name: str, value: Any, low: float = -math.inf) -> NDArray[np.float64]:
    """``value`` as finite float64 numbers of at least ``low``, in the shape it came in."""
    template = NUMBERS if math.isinf(low) else NUMBERS_AT_LEAST
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        array = np.asarray(None)
    if array.dtype.kind not in "iuf":
        raise InvalidParameterError(template, name=name, low=shown(low), got=shown(value))
    found = array.astype(np.float64, copy=False)
    wrong = ~(np.isfinite(found) & (found >= low))
    if wrong.any():
        raise InvalidParameterError(
            template, name=name, low=shown(low), got=shown(float(found[wrong][0]))
        )
    return found


def per_pair(name: str, value: Any) -> NDArray[np.float64]:
    """``value`` as frequencies, one per pair, none of them negative."""
    found = numbers(name, value, 0.0)
    if found.ndim != 1 or not len(found):
        raise InvalidParameterError(A_LIST, name=name, got=str(found.shape))
    return found


def even(name: str, value: Any, low: int = 2, high: int | None = None) -> int:
    """``value`` as an even int of at least ``low``: a number of dimensions that come in pairs."""
    number = whole(name, value, low, high)
    if number % 2:
        raise InvalidParameterError(
            "{name} must be even, because its dimensions come in pairs, got {got}",
            name=name,
            got=shown(number),
        )
    return number


def one_of(name: str, value: object, allowed: Sequence[str]) -> str:
    """``value`` if it is one of ``allowed``."""
    if not isinstance(value, str) or value not in allowed:
        raise InvalidParameterError(
            ONE_OF,
            name=name,
            allowed=", ".join(allowed),
            got=shown(value),
        )
    return value


def instance(name: str, value: object, kind: type) -> None:
    """Refuse a ``value`` that is no object of the class ``kind``."""
    if isinstance(value, type) or not isinstance(value, kind):
        raise InvalidParameterError(
            "{name} must be an object of the class {allowed}, got {got}",
            name=name,
            allowed=kind.__name__,
            got=shown(value),
        )


def keep(made: object, **checked: object) -> None:
    """Let a frozen object hold what the checks returned, whatever type of number came.

    A NumPy scalar would bring its own arithmetic: an int8 overflows, a float16 rounds.
    """
    for name, value in checked.items():
        object.__setattr__(made, name, value)


@dataclass(frozen=True)
class Number:
    """A number that a handle can move.

    Attributes:
        name: Field's standard term; also the name in a link.
        label: What the handle says.
        default: Value when nothing else is said.
        low: Smallest allowed value.
        high: Largest allowed value.
        step: Distance between two values; on a log scale the values are rounded to it.
        unit: What the number counts; empty for a pure number.
        help: One sentence on what it does.
        scale: Whether the handle's track is linear or logarithmic. A logarithmic track
            that begins at 0 gives 0 a place of its own.
        pairs: Whether only even numbers are allowed.
    """

    name: str
    label: Message
    default: float
    low: float
    high: float
    step: float
    unit: Message | Said
    help: Message
    scale: Scale = "linear"
    pairs: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the values are whole numbers."""
        return isinstance(self.step, int)

    def check(self, value: Any) -> float:
        """``value`` if it is allowed; an :class:`InvalidParameterError` that says what is."""
        if self.pairs:
            return even(self.name, value, int(self.low), int(self.high))
        if self.is_whole:
            return whole(self.name, value, int(self.low), int(self.high))
        return real(self.name, value, self.low, self.high)

    def parse(self, text: str) -> float:
        """The value that ``text`` writes, as it stands in a link."""
        try:
            number: Any = float(text)
            if self.is_whole and number == int(number):
                number = int(number)
        except (TypeError, ValueError, OverflowError):
            number = text
        return self.check(number)

    def nearest(self, text: str) -> float:
        """The allowed value nearest to what ``text`` writes; the default if it is no number."""
        try:
            number = min(max(float(text), self.low), self.high)
        except ValueError:
            return self.default
        if not math.isfinite(number):
            return self.default
        if self.is_whole:
            number = int(self.low + (number - self.low) // self.step * self.step)
        return self.check(number)

    def write(self, value: float) -> str:
        """``value`` as a link writes it: the shortest text that :meth:`parse` reads back."""
        return str(int(value)) if value == int(value) else repr(float(value))

    def within(self, *, high: float, default: float | None = None) -> Number:
        """This parameter with an upper end (and default) that depends on another one."""
        start = self.default if default is None else default
        return replace(self, high=high, default=min(max(start, self.low), high))


@dataclass(frozen=True)
class Choice:
    """One of a few named options; ``labels`` say what a reader sees for each."""

    name: str
    label: Message
    default: str
    options: tuple[str, ...]
    labels: tuple[Message | Said, ...]
    help: Message

    def check(self, value: Any) -> str:
        """``value`` if it is an option; of many options, a refusal names the nearest."""
        if len(self.options) > MANY and value not in self.options:
            raise InvalidParameterError(
                ONE_OF_MANY, name=self.name, count=len(self.options),
                nearest=", ".join(self._nearest(str(value)[:80].lower())[:3]), got=shown(value),
            )  # fmt: skip
        return one_of(self.name, value, self.options)

    def _nearest(self, typed: str) -> list[str]:
        """The options, those first that hold the text, then those that look like it."""

        def apart(option: str) -> tuple[bool, float]:
            name = option.lower()
            return typed not in name, -difflib.SequenceMatcher(None, typed, name).ratio()

        return sorted(self.options, key=apart)

    def parse(self, text: str) -> str:
        """The option that ``text`` names, as it stands in a link."""
        return self.check(text)

    def write(self, value: str) -> str:
        """``value`` as a link writes it."""
        return value

    def label_of(self, value: str) -> Message | Said:
        """What a reader sees for ``value``."""
        return self.labels[self.options.index(self.check(value))]


@dataclass(frozen=True)
class Several:
    """Any number of named options, in their declared order.

    Attributes:
        name: Name in a link.
        label: What the field says.
        default: Options when nothing else is said.
        options: What can be chosen.
        labels: What a reader sees for each.
        help: One sentence on what it does.
        most: How many may be chosen at once.
    """

    name: str
    label: Message
    default: tuple[str, ...]
    options: tuple[str, ...]
    labels: tuple[Message | Said, ...]
    help: Message
    most: int = 64

    def check(self, value: Any) -> tuple[str, ...]:
        """``value`` if it names options, each once."""
        found = tuple(option for option in self.options if option in value)
        if sorted(found) != sorted(value) or len(found) > self.most:
            raise InvalidParameterError(
                "{name} must be up to {most} of {allowed}, joined by commas, got {got}",
                name=self.name, most=min(self.most, len(self.options)),
                allowed=", ".join(self.options), got=shown(",".join(map(str, value))),
            )  # fmt: skip
        return found

    def parse(self, text: str) -> tuple[str, ...]:
        """The options that ``text`` names, as it stands in a link: ``yarn,llama3``."""
        return self.check(tuple(text.split(",")) if text else ())

    def write(self, value: tuple[str, ...]) -> str:
        """``value`` as a link writes it."""
        return ",".join(value)

    def label_of(self, value: str) -> Message | Said:
        """What a reader sees for one option."""
        return self.labels[self.options.index(value)]


@dataclass(frozen=True)
class Text:
    """A line that a visitor types.

    Attributes:
        name: Name in a link.
        label: What the field says.
        default: Text when nothing else is said.
        longest: Characters it may have, at most.
        help: One sentence on what it does.
    """

    name: str
    label: Message
    default: str
    longest: int
    help: Message

    def check(self, value: Any) -> str:
        """``value`` if it is a line of text, in any script."""
        if (
            not isinstance(value, str)
            or len(value) > self.longest
            or any(unicodedata.category(one) in _NO_TEXT for one in value)
        ):
            raise InvalidParameterError(
                "{name} must be one line of up to {longest} characters, got {got}",
                name=self.name, longest=self.longest, got=shown(value),
            )  # fmt: skip
        return value

    def parse(self, text: str) -> str:
        """The line, as it stands in a link."""
        return self.check(text)

    def write(self, value: str) -> str:
        """``value`` as a link writes it."""
        return value


@dataclass(frozen=True)
class Order:
    """An order of things that a visitor can rearrange, as the indices that they came with.

    Attributes:
        name: Name in a link.
        count: How many things there are.
        start: The order when nothing else is said; as they came if empty.
    """

    name: str
    count: int
    start: tuple[int, ...] = ()

    @property
    def default(self) -> tuple[int, ...]:
        """The order when nothing else is said."""
        return self.start or tuple(range(self.count))

    def check(self, value: Any) -> tuple[int, ...]:
        """``value`` if it names each of them once."""
        try:
            return self.parse(self.write(value))
        except TypeError:
            return self.parse(value)

    def parse(self, text: str) -> tuple[int, ...]:
        """The order that ``text`` writes, as it stands in a link: ``2-0-1``."""
        parts = str(text).split("-")
        if sorted(parts) != sorted(map(str, range(self.count))):
            raise InvalidParameterError(
                "{name} must have each number from 0 to {last} once, joined by -, got {got}",
                name=self.name, last=self.count - 1, got=shown(text),
            )  # fmt: skip
        return tuple(map(int, parts))

    def write(self, value: tuple[int, ...]) -> str:
        """``value`` as a link writes it."""
        return "-".join(map(str, value))


Parameter = Number | Choice | Several | Text | Order

POSITION = Number(
    "position", "Position", 1024, 0, 4 * 131072, 1, "tokens",
    "Where the query stands: the number of tokens before it.", scale="log",
)  # fmt: skip
ROPE_THETA = Number(
    "rope_theta", "Base", 10_000.0, 10.0, 1e9, 0.1, "",
    "Base of the frequencies (rope_theta): a larger one slows every pair but the first.",
    scale="log",
)  # fmt: skip
HEAD_DIM = Number(
    "head_dim", "Dimension", 128, 2, 256, 2, "dimensions",
    "Dimensions of one head; each two of them form a pair that rotates.", pairs=True,
)  # fmt: skip
NUM_HEADS = Number(
    "num_heads", "Heads", 32, 1, 128, 1, "heads",
    "Attention heads of a layer; ALiBi gives each one a slope.",
)  # fmt: skip
HEAD = Number(
    "head", "ALiBi head", 3, 1, 128, 1, "",
    "Which head's ALiBi slope is shown, counted from 1 in the released order.",
)  # fmt: skip
FACTOR = Number(
    "factor", "Scale factor", 8.0, 1.0, 64.0, 0.01, "×",
    "How many times the trained context the method is asked to read.", scale="log",
)  # fmt: skip
BETA_FAST = Number(
    "beta_fast", "beta_fast", 32.0, 1.0, 64.0, 0.1, "turns",
    "YaRN keeps a pair that turns at least so often within the trained context.", scale="log",
)  # fmt: skip
BETA_SLOW = Number(
    "beta_slow", "beta_slow", 1.0, 0.1, 64.0, 0.1, "turns",
    "YaRN divides a pair that turns at most so often by the whole factor.", scale="log",
)  # fmt: skip
SLOPE_MULTIPLIER = Number(
    "slope_multiplier", "ALiBi slopes", 1.0, 0.25, 4.0, 0.01, "×",
    "Multiplies the slope of every head; the weights were trained with 1.", scale="log",
)  # fmt: skip
TRAINED_CONTEXT = Number(
    "original_max_position_embeddings", "Trained context", 8192, 128, 131072, 1, "tokens",
    "Tokens the model saw at once in training, before any extension "
    "(original_max_position_embeddings).", scale="log",
)  # fmt: skip
PAIR = Number(
    "pair", "Pair", 40, 0, 127, 1, "",
    "Which pair of dimensions is enlarged; pair 0 is the fastest.",
)  # fmt: skip
SHIFT = Number(
    "shift", "Shift both by", 1000, 0, 100_000, 1, "tokens",
    "Moves query and key by the same k tokens; their score must not change.", scale="log",
)  # fmt: skip
