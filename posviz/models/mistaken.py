"""What common position mistakes do to the trained models: the same texts, read right and wrong.

Weights and code stay. Wrong is what comes through the doors of :mod:`posviz.models.positions`: a
table with a mistake, or the right table of a wrong setting. Two mistakes hardly show in models so
small: an attention factor that is squared, and left padding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from posviz import alibi, measured, params, precision, relative, rope
from posviz.cache_timeline import Timeline
from posviz.models import evaluate, needle
from posviz.models.evaluate import Documents
from posviz.models.positions import T5_BUCKETS, T5_MAX_DISTANCE, Positions, Setting, plain
from posviz.models.transformer import Decoder
from posviz.rope import RoPE
from posviz.rope_scaling import Frequencies, Yarn, yarn_mscale

_COUNTS = (1, 2, 4, 8, 16)  # documents after which there is an answer
_HAYSTACKS = 8
_CHARACTERS = 2**14  # of documents, and of haystacks, that either side reads at most
_PADDED = 181  # tokens of a text that padding fills up to the trained context


@dataclass(frozen=True, eq=False)
class Effect:
    """One model, read right and with a mistake.

    Loss is told as in :class:`posviz.measured.Curve`: each bin is the last quarter of a context
    length, full context, floor of the language plus the mean excess over the documents' own. So
    ``right`` of 16 documents is what the lab shows.

    Attributes:
        model: Name of the trained model.
        length: Tokens read.
        trained: Trained context, tokens.
        positions: End of each bin, tokens.
        right: Nats per character in each bin.
        wrong: The same, read with the mistake.
        right_found: Share of needle letters found at ``length``, over all depths;
            ``needle.CHANCE`` is guessing. None where not measured yet.
        wrong_found: The same, read with the mistake.
        documents: Texts that both losses are the mean of.
    """

    model: str
    length: int
    trained: int
    positions: NDArray[np.float64]
    right: NDArray[np.float64]
    wrong: NDArray[np.float64]
    right_found: float | None
    wrong_found: float | None
    documents: int


# Doors with a mistake.


class _OtherPairing(Positions):
    """Pairs dimensions 2i and 2i + 1 of a head whose weights pair i and i + head_dim / 2.

    Queries and keys come out in another order, the same for both, which no score sees.
    """

    def rotate(self, q: Tensor, k: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        order = torch.from_numpy(rope.interleaved_to_half(q.shape[-1]))
        return super().rotate(q[..., order], k[..., order], start)


class _HalfTheHead(Positions):
    """Rotates as if ``partial_rotary_factor`` were 0.5.

    Pairs stand within the first half of the head, frequencies count by that half, the rest stays.
    """

    def __init__(self, setting: Setting, d_model: int, num_heads: int, max_len: int) -> None:
        super().__init__(setting, d_model, num_heads, max_len)
        self.head_dim = rope.rotary_dim(self.head_dim, 0.5)

    def rotate(self, q: Tensor, k: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        width = self.head_dim
        turned_q, turned_k = super().rotate(q[..., :width], k[..., :width], start)
        return (
            torch.cat([turned_q, q[..., width:]], dim=-1),
            torch.cat([turned_k, k[..., width:]], dim=-1),
        )


class _CoarsePositions(Positions):
    """Counts positions in bfloat16, which has no 257; frequencies and angles stay float32."""

    def _cos_sin(self, seq_len: int) -> tuple[Tensor, Tensor]:
        rows = torch.from_numpy(precision.bfloat16(np.arange(seq_len)).astype(np.int64))
        cos, sin = super()._cos_sin(int(rows[-1]) + 1)
        return cos[rows], sin[rows]


class _OldCache(Positions):
    """Dynamic NTK over a cache: each key stays turned by the base of the length it came at.

    Written token by token, so a query has the same base as the key beside it.
    """

    def _cos_sin(self, seq_len: int) -> tuple[Tensor, Tensor]:
        def tables() -> NDArray[np.float64]:
            plainly = RoPE(self.head_dim, self.setting.rope_theta)
            at = np.arange(seq_len)
            inv_freq = Timeline(plainly, self.setting.scaling, 1, seq_len).frequencies(at)
            # As precision.angles, which has one list of frequencies for all positions.
            held = precision.rounded("float32", inv_freq)
            angles = precision.rounded("float32", at[:, None] * held)
            return np.stack([np.cos(angles), np.sin(angles)])

        cos, sin = self._keep(("cached", seq_len), tables)
        return cos, sin


class _PaperSlopes(Positions):
    """ALiBi by the paper's formula, of a model that was trained by the released rule."""

    def bias(self, q_len: int, k_len: int) -> Tensor:
        steep = alibi.paper_slopes(self.num_heads)
        return self._keep(("paper", q_len, k_len), lambda: alibi.bias_matrix(steep, q_len, k_len))


class _SlopesFromZero(Positions):
    """ALiBi by the released rule, but heads count from 0: ``2**(-8 (h - 1) / n)``."""

    def bias(self, q_len: int, k_len: int) -> Tensor:
        series = [alibi.series(self.num_heads, head + 1) for head in range(self.num_heads)]
        steep = [2.0 ** (-8.0 * (place - 1) / count) for count, place in series]
        return self._keep(("zero", q_len, k_len), lambda: alibi.bias_matrix(steep, q_len, k_len))


class _FlippedDirection(Positions):
    """T5 with query minus key: every key before the query is one after it, all in bucket 0.

    In an encoder, with buckets for both sides, before and after would trade places.
    """

    def bias(self, q_len: int, k_len: int) -> Tensor:
        ahead = super().bias(q_len, k_len)
        assert ahead is not None and self.table is not None
        flipped = -relative.relative_position(q_len, k_len)
        buckets = relative.t5_bucket(flipped, T5_BUCKETS, T5_MAX_DISTANCE, bidirectional=False)
        wrong = self.table[torch.from_numpy(buckets)].permute(2, 0, 1)
        return wrong.masked_fill(torch.isneginf(ahead), -torch.inf)


class _PaddingCounted(Positions):
    """Position ids that count left padding: row ``i`` comes to be row ``i + padding``.

    The padding itself is masked and read by nobody. RoPE, ALiBi and T5 are immune, since all
    distances stay; a learned table has another row for every token. The one here hardly minds,
    perhaps since it began as the sinusoidal one, in which a distance looks alike everywhere.
    """

    def add(self, x: Tensor, start: int = 0) -> Tensor:
        return super().add(x, start + measured.TRAINED_LENGTH - _PADDED)


# Settings with a mistake.


@dataclass(frozen=True)
class _Scaled:
    """A scaling of given frequencies, which a setting can hold."""

    made: Callable[[RoPE], Frequencies]
    rope_type: ClassVar[str] = "mistaken"
    depends_on_length: ClassVar[bool] = False

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        return self.made(rope)

    def stretch(self, seq_len: int | None = None) -> float:
        return 1.0


def _same(setting: Setting, factor: float) -> Setting:
    return setting


def _other_base(setting: Setting, factor: float) -> Setting:
    """A base 20 times too small, as a default that was never replaced is.

    Angles go beyond all trained ones; a base too large, which is NTK's stretch, costs far less.
    """
    return replace(setting, rope_theta=500.0)


def _missing(setting: Setting, factor: float) -> Setting:
    return plain(setting)


def _twice(setting: Setting, factor: float) -> Setting:
    """All frequencies divided by the factor once more, as if positions were interpolated too."""

    def made(plainly: RoPE) -> Frequencies:
        inv_freq, attention_factor = setting.scaling.frequencies(plainly)
        return inv_freq / factor, attention_factor

    return replace(setting, scaling=_Scaled(made))


def _reciprocal(setting: Setting, factor: float) -> Setting:
    """YaRN given 1 / factor: slow pairs are sped up, and its attention factor is 1."""
    yarn = _yarn(setting)

    def made(plainly: RoPE) -> Frequencies:
        ramp, inv_freq = yarn.ramp(plainly), plainly.inv_freq
        return inv_freq * (1.0 - ramp) + inv_freq * factor * ramp, 1.0

    return replace(setting, scaling=_Scaled(made))


def _squared(setting: Setting, factor: float) -> Setting:
    """The attention factor applied twice, as in sglang's pull request 33558: squared."""
    twice = yarn_mscale(factor) ** 2
    return replace(setting, scaling=replace(_yarn(setting), attention_factor=twice))


def _yarn(setting: Setting) -> Yarn:
    assert isinstance(setting.scaling, Yarn)
    return setting.scaling


@dataclass(frozen=True)
class _Mistake:
    """A model that shows a mistake, and how it is read.

    Attributes:
        model: Name of the trained model.
        doors: Those with the mistake, or the right ones.
        wrong: Setting with the mistake, of the right one and the factor.
        method: One of ``measured.METHODS`` that the right reading has.
        own: Factor of the method where it is not that of the context read.
        length: Tokens read; None if the right reading holds at the factor times the trained
            context.
    """

    model: str
    doors: type[Positions] = Positions
    wrong: Callable[[Setting, float], Setting] = _same
    method: str = "default"
    own: float | None = None
    length: int | None = None


# Of a family, the seed whose right reading at factor 4 loses least in its last bin. The reciprocal
# factor is YaRN's: linear interpolation leaves nothing to spoil in models so small. An old cache
# costs a base of 500 far more than one of 10,000; factor 2 reads it best up to 2,048 tokens.
_ROPE, _YARN, _DYNAMIC = "names-rope-10000-seed2", "names-rope-10000-seed1", "names-rope-500-seed2"
_MISTAKES = {
    "pairing": _Mistake(_ROPE, _OtherPairing, length=measured.TRAINED_LENGTH),
    "base": _Mistake(_ROPE, wrong=_other_base, length=measured.TRAINED_LENGTH),
    "scaling_missing": _Mistake(_YARN, wrong=_missing, method="yarn"),
    "scaling_twice": _Mistake(_YARN, wrong=_twice, method="yarn"),
    "reciprocal": _Mistake(_YARN, wrong=_reciprocal, method="yarn"),
    "mscale": _Mistake(_YARN, wrong=_squared, method="yarn"),
    "partial": _Mistake(_ROPE, _HalfTheHead, length=measured.TRAINED_LENGTH),
    "slopes": _Mistake("names-alibi-seed2", _PaperSlopes),
    "slopes_off_by_one": _Mistake("names-alibi-seed2", _SlopesFromZero),
    "t5_direction": _Mistake("names-t5-seed1", _FlippedDirection),
    "dynamic_cache": _Mistake(_DYNAMIC, _OldCache, method="dynamic", own=2.0),
    "position_dtype": _Mistake(_YARN, _CoarsePositions, method="yarn"),
    "left_padding": _Mistake("names-learned-seed1", _PaddingCounted, length=_PADDED),
}

SHOWN = {pitfall: mistake.model for pitfall, mistake in _MISTAKES.items()}
"""Name of the trained model that shows each pitfall."""


def effects(pitfall: str, *, factor: float = 4.0) -> Iterator[Effect]:
    """What a mistake does, from more and more documents; last of all the needles are asked for.

    Args:
        pitfall: One of :data:`SHOWN`.
        factor: Context read over the trained one, from 1 to 16, and YaRN's where it is read with
            YaRN. Dynamic NTK's own is 2. It changes nothing for ``pairing``, ``base``, ``partial``
            and ``left_padding``, which show within the trained context.

    Raises:
        InvalidParameterError: If there is no such pitfall, or the factor is out of range.
    """
    params.one_of("pitfall", pitfall, tuple(SHOWN))
    trained = measured.TRAINED_LENGTH
    factor = params.real("factor", factor, 1.0, evaluate.LONGEST / trained)
    mistake = _MISTAKES[pitfall]
    longest = mistake.length or factor * trained
    return _measured(mistake, factor, tuple(one for one in measured.LENGTHS if one <= longest))


_Side = tuple[Decoder, Setting]


def _measured(mistake: _Mistake, factor: float, lengths: tuple[int, ...]) -> Iterator[Effect]:
    name, length = mistake.model, lengths[-1]
    right, wrong = _sides(mistake, factor)
    floors = measured.floor(lengths)
    read: list[NDArray[np.float64]] = []  # (2, documents, bins) each
    done = 0
    for count in _COUNTS:
        if count * length > _CHARACTERS:
            break
        texts = evaluate.documents(count, length)
        some = Documents(texts.tokens[done:], texts.floor[done:], texts.kinds[done:])
        read.append(np.stack([_excess(side, some, lengths) for side in (right, wrong)]))
        done = count
        means = floors + np.concatenate(read, axis=1).mean(axis=1)
        effect = Effect(
            name, length, measured.TRAINED_LENGTH, np.array(lengths, np.float64), means[0],
            means[1], right_found=None, wrong_found=None, documents=done,
        )  # fmt: skip
        yield effect
    yield replace(effect, right_found=_found(right, length), wrong_found=_found(wrong, length))


def _sides(mistake: _Mistake, factor: float) -> tuple[_Side, _Side]:
    """The model and how it is read, right and wrong."""
    model = evaluate.decoder(mistake.model)
    setting = evaluate.read_with(mistake.model, mistake.method, mistake.own or factor)
    return (model, setting), (_behind(mistake.doors, model), mistake.wrong(setting, factor))


def _behind(doors: type[Positions], model: Decoder) -> Decoder:
    """The same weights behind other doors."""
    shape, setting = model.shape, model.positions.setting
    other = Decoder(shape, setting)
    other.positions = doors(setting, shape.d_model, shape.num_heads, shape.max_len)
    other.load_state_dict(model.state_dict())
    return other.eval().requires_grad_(False)


def _excess(side: _Side, texts: Documents, lengths: tuple[int, ...]) -> NDArray[np.float64]:
    """Mean loss over each document's own floor, ``(documents, bins)``."""
    model, setting = side
    each = evaluate.nats(model, texts.tokens, setting, lengths) - texts.floor
    bins = [each[:, measured.bin_start(one) : one].mean(axis=1) for one in lengths]
    return np.stack(bins, axis=1)


def _found(side: _Side, length: int) -> float:
    model, setting = side
    haystacks = min(_HAYSTACKS, _CHARACTERS // length)
    positions = model.positions.with_setting(setting)
    return float(needle.column(model, positions, length, haystacks).accuracy.mean())
