"""What a key-value cache holds when the frequencies change while a sequence grows.

Programs cache keys after their rotation. Dynamic NTK and LongRoPE choose frequencies by the length
of the sequence, so a key stays rotated by those of the moment in which it entered, while the query
comes with those of now. Their score then depends on more than their distance. YaRN, section 3.3:
cache keys before the rotation, and rotate all of them at every step.

Who chooses by what:

- ``huggingface``: by the length in use. Dynamic NTK keeps the base of the longest sequence that the
  module has seen and goes back to the trained one only in a pass of less than the trained context.
  Decorator ``dynamic_rope_update``, transformers 5.24.0.
- ``stateless``: by the length in use alone, as the formula says.
- ``vllm``: once, at the start. Dynamic NTK always as for ``factor * max_position_embeddings``
  tokens, so even short texts are stretched (vllm issues 5093 and 41236); LongRoPE by
  ``max_model_len``.
- ``llama.cpp``: once, at the start. LongRoPE by the context that is allocated for a sequence
  (``get_rope_factors``); it has no dynamic NTK.

The score error is that of a first layer: in deeper ones, keys and values also follow from what
earlier layers attended to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import arrays, params
from posviz import distance as distance_module
from posviz.rope import RoPE
from posviz.rope_scaling import DynamicNtk, LongRope, RopeScaling

Floats = NDArray[np.float64]
Engine = Literal["huggingface", "stateless", "vllm", "llama.cpp"]
ENGINES: tuple[Engine, ...] = ("huggingface", "stateless", "vllm", "llama.cpp")
Policy = Literal["rotated", "unrotated", "recomputed"]
POLICIES: tuple[Policy, ...] = ("rotated", "unrotated", "recomputed")

# Consecutive keys that are looked at in a bin: the fastest pair turns once in 6.3.
STRETCH = 8
# Keys computed at once where all of them are asked for.
_AT_ONCE = 1 << 14
# Fractional part of the golden ratio: its multiples, modulo 1, beat with no period.
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


@dataclass(frozen=True, eq=False)
class Errors:
    """Scores of the last query with keys behind it, cached and consistent, by distance.

    The query and every key are (1, ..., 1) before rotation; scores are divided by
    ``sqrt(rotary_dim)``. Arrays are one number per key looked at, nearest key first.

    Attributes:
        distance: Query minus key, tokens.
        cached: Score with the key as it was cached.
        consistent: Score with the key rotated by the query's frequencies.
        rms: Root mean square of the error over standard normal queries and keys, in closed form.
            Consistent scores have 1 there (times the square of the attention factor); ``sqrt(2)``
            is the error of a score that has nothing to do with the right one.
        starts: Index of the first of them in each bin.
    """

    distance: NDArray[np.intp]
    cached: Floats
    consistent: Floats
    rms: Floats
    starts: NDArray[np.intp]

    @property
    def error(self) -> Floats:
        """Cached minus consistent score of each key."""
        return self.cached - self.consistent

    @property
    def largest(self) -> tuple[float, int]:
        """The largest error of a key looked at, in size, and its distance; see ``worst``."""
        worst = int(np.argmax(np.abs(self.error)))
        return float(abs(self.error[worst])), int(self.distance[worst])

    @property
    def bins(self) -> NDArray[np.intp]:
        """First distance looked at in each bin."""
        return np.asarray(self.distance[self.starts])

    def envelope(self, values: ArrayLike) -> Floats:
        """Lowest and highest of one of the arrays in each bin, ``(2, len(starts))``."""
        return distance_module.envelope(values, self.starts)

    def mean_square(self) -> Floats:
        """Root mean square of ``rms`` in each bin, ``(len(starts),)``."""
        counts = np.diff(np.append(self.starts, len(self.rms)))
        return np.asarray(np.sqrt(np.add.reduceat(self.rms**2, self.starts) / counts))


@dataclass(frozen=True)
class Timeline:
    """A sequence that grows: a prompt in one pass, then ``step`` tokens at a time.

    Attributes:
        rope: RoPE as trained.
        scaling: Any scaling; one that does not go by the length has no errors.
        prompt: Tokens of the first pass, at least 1.
        total: Tokens in the end, at least ``prompt``; the query is the last of them.
        step: Tokens of each later pass; the last one may have fewer.
        engine: Which program's rule chooses the frequencies of a pass.
        policy: How keys are cached: ``rotated``, as all programs do; ``unrotated``, and rotated at
            each step (YaRN, section 3.3); ``recomputed``, thrown away and computed again once the
            frequencies change, as ``generate`` of Phi-3 and its kin does in transformers when the
            list does. For a given query and key the last two give the same scores.
        seen: Longest sequence that the module had seen before, tokens; only ``huggingface`` with
            dynamic NTK remembers it.
        context: Context that the program was started for, tokens; ``total`` if not given. Only
            ``vllm`` and ``llama.cpp`` with LongRoPE go by it.

    Raises:
        InvalidParameterError: If a number is out of range, the scaling does not fit the RoPE, or
            ``llama.cpp`` is to run dynamic NTK.
    """

    rope: RoPE
    scaling: RopeScaling
    prompt: int
    total: int
    step: int = 1
    engine: Engine = "huggingface"
    policy: Policy = "rotated"
    seen: int | None = None
    context: int | None = None

    def __post_init__(self) -> None:
        params.instance("scaling", self.scaling, RopeScaling)
        total = params.whole("total", self.total, 1)
        params.keep(
            self,
            total=total,
            prompt=params.whole("prompt", self.prompt, 1, total),
            step=params.whole("step", self.step, 1),
            seen=None if self.seen is None else params.whole("seen", self.seen, 0),
            context=None if self.context is None else params.whole("context", self.context, 1),
        )
        params.one_of("engine", self.engine, ENGINES)
        params.one_of("policy", self.policy, POLICIES)
        if self.engine == "llama.cpp" and isinstance(self.scaling, DynamicNtk):
            raise params.InvalidParameterError(
                "engine must be one of {allowed} for dynamic NTK, which llama.cpp does not have, "
                "got llama.cpp",
                allowed=", ".join(ENGINES[:-1]),
            )
        longest = max(total, math.ceil(self.now), self.context or 0)
        self.scaling.frequencies(self.rope, longest)  # refuses what does not fit

    def entered(self, positions: ArrayLike) -> NDArray[np.int64]:
        """Length of the sequence in the pass in which the key at each position was computed."""
        at = arrays.whole_numbers("positions", positions, 0, self.total - 1)
        passes = -((self.prompt - 1 - at) // self.step)  # after the prompt's, rounded up
        return np.asarray(
            np.minimum(np.where(at < self.prompt, 0, passes) * self.step + self.prompt, self.total)
        )

    def lengths(self, positions: ArrayLike) -> Floats:
        """Length whose frequencies each cached key was rotated by.

        Tokens; under ``vllm`` dynamic NTK has ``factor * max_position_embeddings``, which need not
        be whole.
        """
        entered = self.entered(positions)
        if self.policy != "rotated":
            entered = np.full_like(entered, self.total)
        return self._in_force(entered)

    @property
    def now(self) -> float:
        """Length whose frequencies rotate the query."""
        return float(self._in_force(np.array([self.total]))[0])

    def _in_force(self, lengths: NDArray[np.int64]) -> Floats:
        """Length whose frequencies a pass of each length uses."""
        found = lengths.astype(np.float64)
        if self.engine in ("vllm", "llama.cpp"):
            fixed: float = self.total if self.context is None else self.context
            if isinstance(self.scaling, DynamicNtk):
                fixed = self.scaling.factor * self.scaling.max_position_embeddings
            return np.full_like(found, fixed)
        if self.engine == "huggingface" and isinstance(self.scaling, DynamicNtk):
            # A pass of less than the trained context resets; one of exactly that does not.
            remembered = self.scaling.max_position_embeddings
            if self.prompt >= remembered and self.seen is not None:
                remembered = max(remembered, self.seen)
            return np.maximum(found, remembered)
        return found

    def base(self, positions: ArrayLike) -> Floats:
        """Base under which each cached key was rotated, of dynamic NTK."""
        if not isinstance(self.scaling, DynamicNtk):
            raise params.InvalidParameterError(
                "scaling must be dynamic to have a base for each key, got {got}",
                got=self.scaling.rope_type,
            )
        return self._base(self.scaling, self.lengths(positions))

    def lists(self, positions: ArrayLike) -> NDArray[np.str_]:
        """``short`` or ``long``: the list by which each cached key was rotated, of LongRoPE."""
        if not isinstance(self.scaling, LongRope):
            raise params.InvalidParameterError(
                "scaling must be longrope to have a list for each key, got {got}",
                got=self.scaling.rope_type,
            )
        beyond = self.lengths(positions) > self.scaling.original_max_position_embeddings
        return np.where(beyond, "long", "short")

    def frequencies(self, positions: ArrayLike) -> Floats:
        """Frequencies by which each cached key was rotated, ``(..., rotary_dim // 2)``."""
        return self._at(self.lengths(positions))[0]

    def _at(self, lengths: Floats) -> tuple[Floats, Floats]:
        """Frequencies ``(..., pairs)`` and factors on cos and sin ``(...)`` of such lengths."""
        if isinstance(self.scaling, DynamicNtk):
            # As Ntk(stretch).frequencies, but for thousands of lengths at once.
            exponents = -np.arange(0, self.rope.rotary_dim, 2) / self.rope.rotary_dim
            bases = np.log(self._base(self.scaling, lengths))
            return np.exp(bases[..., None] * exponents), np.ones(lengths.shape)
        if not self.scaling.depends_on_length:
            lengths = np.ones_like(lengths)
        elif isinstance(self.scaling, LongRope):
            trained = self.scaling.original_max_position_embeddings
            lengths = np.where(lengths > trained, trained + 1.0, trained)
        unique, which = np.unique(lengths, return_inverse=True)
        tables = [self.scaling.frequencies(self.rope, int(length)) for length in unique]
        shape = len(unique), self.rope.rotary_dim // 2
        return (
            np.reshape([inv_freq for inv_freq, _ in tables], shape)[which],
            np.reshape([factor for _, factor in tables], shape[0])[which],
        )

    def _base(self, scaling: DynamicNtk, lengths: Floats) -> Floats:
        """Base at each length, see :class:`posviz.rope_scaling.DynamicNtk`."""
        trained, width = scaling.max_position_embeddings, self.rope.rotary_dim
        stretch = scaling.factor * np.maximum(lengths, trained) / trained - (scaling.factor - 1.0)
        return np.asarray(self.rope.rope_theta * stretch ** (width / (width - 2)))

    def errors(self, count: int = 240, scale: params.Scale = "log") -> Errors:
        """Score errors of the cache for the last query, by distance.

        Bins of equal width on the scale, as :func:`posviz.distance.bins`. Every key has its own
        frequencies, so no more than ``STRETCH`` consecutive keys of a bin are looked at, somewhere
        in it, where no pair's turns beat with the bins; what is given is exact for these keys, and
        a bin of so few is complete. A few milliseconds for 64 pairs, whatever the length.

        Args:
            count: How many bins, about.
            scale: Whether bins are equally wide in tokens or in ratio.
        """
        distances, starts = self._looked_at(count, scale)
        return self._errors(distances, starts)

    def worst(self) -> Iterator[tuple[float, int, float]]:
        """The largest error of all keys, its distance, and the largest root mean square.

        Yields what it has come to after every 16,384 keys, nearest first; what comes last is of
        all. About 40 ms for so many keys of 64 pairs.
        """
        found = (0.0, 0, 0.0)
        for start in range(0, self.total, _AT_ONCE):
            distances = np.arange(start, min(start + _AT_ONCE, self.total))
            errors = self._errors(distances, np.zeros(1, np.intp))
            largest, where = errors.largest
            size = max(found[2], float(errors.rms.max()))
            found = (largest, where, size) if largest > found[0] else (*found[:2], size)
            yield found

    def _errors(self, distances: NDArray[np.intp], starts: NDArray[np.intp]) -> Errors:
        keys = self.total - 1 - distances
        cached, factor = self._at(self.lengths(keys))
        now, size = (each[0] for each in self._at(np.array([self.now])))
        with np.errstate(over="ignore"):
            right = distances[:, None] * now
            apart = keys[:, None] * (now - cached)  # angle of the key as cached, off its place
            both, own = size * factor, size * size
            norm = math.sqrt(self.rope.rotary_dim)
            # Frobenius norm of the difference of both rotations, pair by pair.
            square = both**2 + own**2 - 2.0 * both * own * np.cos(apart).mean(axis=-1)
            return Errors(
                distance=distances,
                cached=params.numbers(
                    "scores", 2.0 * both * np.cos(right + apart).sum(axis=-1) / norm
                ),
                consistent=2.0 * own * np.cos(right).sum(axis=-1) / norm,
                rms=np.sqrt(np.maximum(square, 0.0)),
                starts=starts,
            )

    def _looked_at(
        self, count: int, scale: params.Scale
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Distances of the keys looked at, ascending, and the index of the first in each bin."""
        first = distance_module.bins(self.total, count, scale)
        widths = np.diff(np.append(first, self.total))
        taken = np.minimum(widths, STRETCH)
        room = widths - taken + 1
        shares = (np.arange(len(first)) * _GOLDEN) % 1.0  # 0 for the first bin: distance 0 is seen
        at = first + (shares * room).astype(np.intp)
        starts = np.cumsum(taken) - taken
        return np.repeat(at - starts, taken) + np.arange(taken.sum()), starts
