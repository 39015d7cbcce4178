"""Angles unseen in training: how far a scaled RoPE stays inside what its pairs have met.

Geometry, not model quality. A pair that has completed a turn within the trained context has met
every angle; one that has not has met only ``[0, trained context x inv_freq]``. The longest context
in which no such pair passes its end is a heuristic for the usable context.

Source: Peng et al. 2023 (YaRN), https://arxiv.org/abs/2309.00071, section 3.2, on pairs whose
wavelength exceeds the trained context.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import arrays, params
from posviz import rope as rope_module
from posviz.rope import RoPE
from posviz.rope_scaling import RopeScaling

Flags = NDArray[np.bool_]

# Floating-point room, so that position interpolation by s meets its end at exactly s times.
_ROOM = 1.0 + 1e-9

LONGEST = 1 << 24
"""Context in tokens up to which a usable context is searched."""


def never_completed(rope: RoPE, trained: int) -> Flags:
    """Which pairs make less than one turn within ``trained`` tokens, ``(rotary_dim // 2,)``."""
    params.instance("rope", rope, RoPE)
    trained = params.whole("trained", trained, 1)
    return rope_module.turns(rope.inv_freq, trained) < 1.0


def first_never_completed(rope: RoPE, trained: int) -> int:
    """Index of the fastest pair without a whole turn in training; of the slowest if all turn."""
    slow = never_completed(rope, trained)
    return int(np.argmax(slow)) if slow.any() else len(slow) - 1


def unseen(rope: RoPE, scaled_inv_freq: ArrayLike, trained: int, seq_len: ArrayLike) -> Flags:
    """Which pairs would meet angles beyond training in a context of ``seq_len`` tokens.

    Args:
        rope: RoPE as trained.
        scaled_inv_freq: Frequencies in use, ``(..., rotary_dim // 2)``.
        trained: Trained context, tokens.
        seq_len: One length, or one for each row of frequencies.

    Returns:
        Booleans ``(..., rotary_dim // 2)``.
    """
    slow, plain = never_completed(rope, trained), rope.inv_freq
    scaled = params.numbers("scaled_inv_freq", scaled_inv_freq, 0.0)
    if scaled.shape[-1:] != plain.shape:
        raise params.InvalidParameterError(
            params.A_LIST, name="scaled_inv_freq", got=str(scaled.shape)
        )
    angles = params.numbers("seq_len", seq_len, 0.0)[..., None] * scaled
    return np.asarray(slow & (angles > trained * plain * _ROOM))


def unseen_share(
    rope: RoPE, scaling: RopeScaling, trained: int, seq_lens: ArrayLike
) -> NDArray[np.float64]:
    """Share of the never-completed pairs that meet unseen angles, at each context length.

    0 where no pair is left uncompleted. Shape of ``seq_lens``, one length or a list of them.
    """
    params.instance("scaling", scaling, RopeScaling)
    slow = int(never_completed(rope, trained).sum())
    lengths = arrays.listed("seq_lens", seq_lens, 0.0)
    if not slow:
        return np.zeros(lengths.shape)
    at: list[int | None] = [None]
    if scaling.depends_on_length:
        lengths = np.maximum(np.ceil(lengths), 1.0)  # it knows whole tokens only
        at = [int(length) for length in lengths.tolist()]
    scaled = np.stack([scaling.frequencies(rope, length)[0] for length in at])
    return np.asarray(unseen(rope, scaled, trained, lengths).sum(axis=-1) / slow)


def usable_context(rope: RoPE, scaling: RopeScaling, trained: int, longest: int = LONGEST) -> float:
    """Longest context in tokens without unseen angles.

    Infinite if every pair completed a turn in training, or if none is met up to ``longest``.

    ``min(trained * inv_freq / scaled inv_freq)`` over the never-completed pairs. For a method whose
    frequencies depend on the length: the last length before the first that meets an unseen angle.
    """
    params.instance("scaling", scaling, RopeScaling)
    slow = never_completed(rope, trained)
    trained = params.whole("trained", trained, 1)
    longest = params.whole("longest", longest, trained)
    if not slow.any():
        return math.inf
    if not scaling.depends_on_length:
        # A stopped pair (proportional RoPE) limits nothing.
        with np.errstate(divide="ignore", over="ignore"):
            ratio = rope.inv_freq[slow] / scaling.frequencies(rope)[0][slow]
        return float(trained * np.min(ratio))

    def fits(length: int) -> bool:
        return not unseen(rope, scaling.frequencies(rope, length)[0], trained, length).any()

    low, high = trained, trained
    while fits(high):
        if high >= longest:
            return math.inf
        low, high = high, min(math.ceil(high * 1.1) + 1, longest)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return float(low)


def multiples(*limits: float, count: int = 145) -> NDArray[np.float64]:
    """Context lengths from 1 to 64 trained contexts, ascending, equal steps of ratio.

    Each of ``limits``, in trained contexts, gets a length just beyond it, so that a share that
    jumps there jumps there in a picture too; one that is infinite or out of the range, none.
    """
    count = params.whole("count", count, 1)
    arrays.check_count("count", count)
    finite = [params.real("limits", limit, 0.0) for limit in limits if limit != math.inf]
    beyond = [limit * (1.0 + 1e-6) for limit in finite if 1.0 <= limit < 64.0]
    return np.sort(np.concatenate([np.geomspace(1.0, 64.0, count), beyond]))


def arc_use(
    rope: RoPE, scaled_inv_freq: ArrayLike, trained: int, seq_len: ArrayLike
) -> NDArray[np.float64]:
    """Angles that each pair needs in a context, as a share of those that training met.

    A pair that completed a turn has met all angles and needs at most one turn; of any other the
    share is above 1 where :func:`unseen` is true.

    Args:
        rope: RoPE as trained.
        scaled_inv_freq: Frequencies in use, ``(rotary_dim // 2,)``.
        trained: Trained context, tokens.
        seq_len: Context lengths, tokens.

    Returns:
        Shares ``(rotary_dim // 2, len(seq_len))``.
    """
    slow, plain = never_completed(rope, trained), rope.inv_freq
    scaled = params.numbers("scaled_inv_freq", scaled_inv_freq, 0.0)
    if scaled.shape != plain.shape:
        raise params.InvalidParameterError(
            params.A_LIST, name="scaled_inv_freq", got=str(scaled.shape)
        )
    angles = scaled[:, None] * arrays.listed("seq_len", seq_len, 0.0)
    share = angles / np.where(slow, trained * plain, 2.0 * math.pi)[:, None]
    within = ~slow[:, None] | (share <= _ROOM)
    return np.asarray(np.where(within, np.minimum(share, 1.0), share))
