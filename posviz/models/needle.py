"""Needle in a haystack: a name read once, far back, is begun again; does the model finish it?

The haystack is a text of the names language. Five needles stand at five depths of it and all five
questions at its end, so that one forward pass answers for all of them. A needle's capital is that
of no other name in the text: who remembers it can write the three letters that follow, who does
not can guess. Nothing is trained for this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from posviz import params
from posviz.models import checkpoint, names
from posviz.models.evaluate import decoder
from posviz.models.names import Dialect
from posviz.models.positions import Positions, Setting
from posviz.models.transformer import Cache, Decoder

LENGTHS = (128, 256, 512, 1024, 2048)
"""Tokens of a column of the grid: start token, haystack and questions."""
DEPTHS = (0.0, 0.25, 0.5, 0.75, 0.95)
"""Places of the needles: 0 is the haystack's first slot, 1 its last before the questions."""
CHANCE = 1.0 / 20
"""Accuracy of guessing a letter of a name."""

_SHORTEST, _LONGEST = 128, 4096
_SEED = 20_241_105  # the same haystacks for every model and setting
_CAPITALS = names.ALPHABET[27:]
_NEEDLE = 4
_SLOT = _NEEDLE + 1  # with its space
_OWN_NAMES = Dialect().names - len(DEPTHS)  # with the needles, as many as a document has
_SPARE = 200  # characters more than needed, to find slots that fill the haystack exactly


@dataclass(frozen=True)
class Haystack:
    """A text with five needles and five questions.

    Attributes:
        text: ``length - 1`` characters; each question stands with its answer.
        needles: Names to find, by depth.
        stands: Character where each needle begins.
        asked: Character where each question, the needle's capital, stands the second time.
    """

    text: str
    needles: tuple[str, ...]
    stands: tuple[int, ...]
    asked: tuple[int, ...]

    @property
    def is_ordinary(self) -> NDArray[np.bool_]:
        """Characters of the haystack's last quarter that belong to no needle."""
        end = self.asked[0]
        found = np.arange(len(self.text)) >= end - end // 4
        for begin in (*self.stands, *self.asked):
            found[begin : begin + _SLOT] = False
        return found


@dataclass(frozen=True, eq=False)
class Column:
    """What a model finds at one length.

    Attributes:
        length: Tokens read, the start token among them.
        possible: Whether the model can read so many; if not, all numbers are NaN.
        accuracy: Share of right letters by depth, ``(5,)``; :data:`CHANCE` is guessing.
        error: Of each, over haystacks: the letters of one needle are found together.
        nats: Mean loss over the ordinary characters of the haystack's last quarter.
        floor: What the best reader of the language needs for the same characters.
    """

    length: int
    possible: bool
    accuracy: NDArray[np.float64]
    error: NDArray[np.float64]
    nats: float
    floor: float


@dataclass(frozen=True, eq=False)
class Cell:
    """One needle of one haystack, as the column counted it.

    Attributes:
        text: What the model reads, up to and with the question: haystack, the questions before
            with their answers, the needle's capital.
        needle: The name to find.
        stands: Character of ``text`` where the needle begins, and the one after its end.
        answer: Three characters that the model writes by itself, the likeliest each time. With
            dynamic NTK each is read at its own length; what is scored, at that of the column.
        probabilities: Chance it gives to each right letter after the right ones, ``(3,)``.
        attention: Weights of the question's capital over what was read,
            ``(num_layers, num_heads, len(text) + 1)``; the start token comes first.
        share: Of these weights, what falls on the needle, ``(num_layers, num_heads)``.
    """

    text: str
    needle: str
    stands: tuple[int, int]
    answer: str
    probabilities: NDArray[np.float64]
    attention: NDArray[np.float64]
    share: NDArray[np.float64]

    @property
    def question(self) -> str:
        """The needle's capital."""
        return self.text[-1]

    @property
    def looking(self) -> tuple[int, int]:
        """Layer and head, from 0, with the largest share on the needle."""
        layer, head = np.unravel_index(self.share.argmax(), self.share.shape)
        return int(layer), int(head)


def haystack(length: int, number: int = 0) -> Haystack:
    """The haystack of that ``number`` for ``length`` tokens, from 128 to 4,096."""
    length = params.whole("length", length, _SHORTEST, _LONGEST)
    rng = np.random.default_rng([_SEED, length, params.whole("number", number, 0)])
    count = len(DEPTHS)
    capitals = rng.permutation(list(_CAPITALS)).tolist()
    needles = [
        capital + name[1:]
        for capital, name in zip(capitals, names.draw_names(rng, count), strict=False)
    ]
    # Tokens besides: the start, the needles, the questions, of which the last has no space.
    ordinary = _ordinary(rng, length - 1 - count * _SLOT - (count * _SLOT - 1))
    others = rng.choice(capitals[count:], count).tolist()
    slots = ordinary.translate(str.maketrans(dict(zip(capitals, others, strict=False)))).split()
    last = len(slots) + count - 1
    at = {round(depth * last): needle for depth, needle in zip(DEPTHS, needles, strict=True)}
    rest = iter(slots)
    filled = [at.get(slot) or next(rest) for slot in range(last + 1)]
    begins = np.cumsum([0, *(len(slot) + 1 for slot in filled)]).tolist()
    return Haystack(
        text=" ".join([*filled, *needles]), needles=tuple(needles),
        stands=tuple(begins[slot] for slot in at),
        asked=tuple(begins[-1] + _SLOT * question for question in range(count)),
    )  # fmt: skip


def floor(texts: Sequence[Haystack]) -> float:
    """Nats that the best reader of the language needs for an ordinary character of ``texts``."""
    found = [names.floor(text.text)[0][text.is_ordinary] for text in texts]
    return float(np.concatenate(found).mean())


def _ordinary(rng: np.random.Generator, characters: int) -> str:
    """Whole slots of a document, ``characters`` long with the space after the last."""
    while True:
        text = names.document(rng, characters + _SPARE, Dialect(names=_OWN_NAMES))
        begins = [0, *(at + 1 for at, character in enumerate(text) if character == " ")]
        known = set(begins)
        for begin in begins:
            if begin + characters in known:
                return text[begin : begin + characters]


def models(folder: Path = checkpoint.TRAINED) -> tuple[str, ...]:
    """Names of the trained models that can be asked: those of the names language."""
    return tuple(name for name in checkpoint.names(folder) if name.startswith("names-"))


def fill(
    name: str, setting: Setting, haystacks: int = 8, folder: Path = checkpoint.TRAINED
) -> Iterator[Column]:
    """The grid of a trained model, one column after the other, shortest first.

    Args:
        name: One of :func:`models`.
        setting: Its encoding, set as it is to be read.
        haystacks: Texts per column, at least 2; fewer are always part of more.
        folder: Where the checkpoint is.
    """
    model, positions = _ready(name, setting, folder)
    params.whole("haystacks", haystacks, 2)
    return (column(model, positions, length, haystacks) for length in LENGTHS)


@torch.inference_mode()
def column(model: Decoder, positions: Positions, length: int, haystacks: int = 8) -> Column:
    """What ``model`` finds at ``length`` tokens, read in one forward pass."""
    count = params.whole("haystacks", haystacks, 2)
    texts = [haystack(length, number) for number in range(count)]
    least = floor(texts)
    if positions.setting.encoding == "learned" and length > model.shape.max_len:
        nothing = np.full(len(DEPTHS), np.nan)
        return Column(length, False, nothing, nothing, np.nan, least)
    tokens = torch.from_numpy(names.tokens([text.text for text in texts]))
    logits, wanted = model(tokens, positions)[:, :-1], tokens[:, 1:].long()
    letters = _letters(texts[0])  # at the same characters in all of them
    right = (logits[:, letters].argmax(-1) == wanted[:, letters]).double().mean(-1).numpy()
    nats = cross_entropy(logits.transpose(1, 2), wanted, reduction="none").double().numpy()
    ordinary = np.stack([text.is_ordinary for text in texts])
    return Column(
        length, True, accuracy=right.mean(0),
        error=right.std(0, ddof=1) / np.sqrt(count),
        nats=float(nats[ordinary].mean()), floor=least,
    )  # fmt: skip


def _letters(text: Haystack) -> Tensor:
    """Characters that are scored, ``(5, 3)``; the logits of token ``i`` predict character ``i``."""
    return torch.tensor(text.asked)[:, None] + torch.arange(1, _NEEDLE)


def _ready(name: str, setting: Setting, folder: Path) -> tuple[Decoder, Positions]:
    """The model, and doors of its own for this caller: threads share no tables."""
    params.one_of("model", name, models(folder))
    model = decoder(name, folder)
    return model, model.positions.with_setting(setting)


def cell(
    name: str,
    setting: Setting,
    length: int,
    depth: float,
    number: int = 0,
    folder: Path = checkpoint.TRAINED,
) -> Cell:
    """The needle at ``depth`` of the haystack ``number`` of a column, seen from near.

    Raises:
        InvalidParameterError: If there is no such depth or length, or if a learned table has no
            row for it.
    """
    return detail(*_ready(name, setting, folder), length, depth, number)


@torch.inference_mode()
def detail(
    model: Decoder, positions: Positions, length: int, depth: float, number: int = 0
) -> Cell:
    """As :func:`cell`, of a model at hand."""
    place = _place(depth)
    whole = haystack(length, number)
    needle, begin, asked = whole.needles[place], whole.stands[place], whole.asked[place]
    tokens = torch.from_numpy(names.tokens([whole.text]))
    logits = model(tokens, positions)[0, _letters(whole)[place]]
    wanted = names.encode(needle[1:]).astype(np.int64)
    chances = logits.double().softmax(-1).numpy()[np.arange(_NEEDLE - 1), wanted]
    rows = model.attention_rows(tokens[0], torch.tensor([asked + 1]), positions)
    attention = rows[:, :, 0, : asked + 2].double().numpy()
    end = begin + _NEEDLE
    return Cell(
        text=whole.text[: asked + 1], needle=needle, stands=(begin, end),
        answer=names.decode(_written(model, positions, tokens[:, : asked + 2])),
        probabilities=chances, attention=attention,
        share=attention[:, :, begin + 1 : end + 1].sum(-1),
    )  # fmt: skip


def _place(depth: float) -> int:
    if params.real("depth", depth, 0.0, 1.0) not in DEPTHS:
        raise params.InvalidParameterError(
            "depth must be one of {allowed}, got {got}",
            allowed=", ".join(params.shown(one) for one in DEPTHS), got=params.shown(depth),
        )  # fmt: skip
    return DEPTHS.index(depth)


def _written(model: Decoder, positions: Positions, tokens: Tensor) -> NDArray[np.int64]:
    """Three characters after ``tokens``, the likeliest each time.

    Where frequencies depend on the length no key can be kept: it was turned by those of a shorter
    text.
    """
    keeps = not (positions.setting.rotates and positions.setting.scaling.depends_on_length)
    cache: Cache | None = [] if keeps else None
    text, unread = tokens.long(), tokens.long()
    for _ in range(_NEEDLE - 1):
        logits = model(unread if keeps else text, positions, cache=cache)[:, -1, : names.START]
        unread = logits.argmax(-1, keepdim=True)
        text = torch.cat([text, unread], dim=1)
    return text[0, tokens.shape[1] :].numpy()
