"""M-RoPE: one rotation, three positions (time, height, width), each turning some of the pairs.

Source: Wang et al. 2024, "Qwen2-VL", https://arxiv.org/abs/2409.12191, section 2.1; Hugging Face
``apply_multimodal_rotary_pos_emb`` (contiguous sections) and Qwen3-VL's
``apply_interleaved_mrope``. Text has three equal positions, for which M-RoPE is plain RoPE.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import params
from posviz.rope import Layout, turn

AXES = "THW"
"""The axes in the order of the three position ids: time, height, width."""


def axis_of_frequency(mrope_section: Sequence[int], interleaved: bool = False) -> NDArray[np.intp]:
    """Which position turns each pair: 0 time, 1 height, 2 width; ``(rotary_dim // 2,)``.

    Args:
        mrope_section: How many pairs time, height and width have; together ``rotary_dim / 2``.
        interleaved: Whether the axes alternate ``THWTHW...`` with the rest of time at the end, as
            in Qwen3-VL, or stand in three blocks, as in Qwen2-VL. Alternating, height takes pairs
            ``1, 4, ...`` below ``3 * mrope_section[1]`` and width ``2, 5, ...`` below
            ``3 * mrope_section[2]``, as far as there are any: like the reference, lists in which
            height or width exceed their third get fewer than they say.

    Raises:
        InvalidParameterError: If there are not three sections or none has a pair.
    """
    time, height, width = _sections(mrope_section)
    _yes_or_no("interleaved", interleaved)
    if not interleaved:
        return np.repeat(np.arange(3), [time, height, width])
    axes = np.zeros(time + height + width, dtype=np.intp)
    axes[1 : 3 * height : 3] = 1
    axes[2 : 3 * width : 3] = 2
    return axes


def rotate(
    x: ArrayLike,
    positions: ArrayLike,
    inv_freq: ArrayLike,
    mrope_section: Sequence[int],
    layout: Layout = "half",
    *,
    interleaved: bool = False,
) -> NDArray[np.float64]:
    """``x`` with each pair turned by the position of its axis x inv_freq.

    Args:
        x: Vectors ``(..., head_dim)``; dimensions past the pairs stay.
        positions: Time, height and width in tokens, ``(3, ...)``, each of a shape that broadcasts
            with ``x.shape[:-1]``.
        inv_freq: Frequency of each pair, ``(rotary_dim // 2,)``.
        mrope_section: How many pairs each axis turns, see :func:`axis_of_frequency`.
        layout: Which dimensions form a pair: ``half`` (all released models) or ``interleaved``.
        interleaved: Whether the axes alternate; nothing to do with ``layout``.

    Returns:
        float64 vectors ``(..., head_dim)``, in the layout they came in.
    """
    axes = axis_of_frequency(mrope_section, interleaved)
    frequencies = params.per_pair("inv_freq", inv_freq)
    if len(axes) != len(frequencies):
        raise params.InvalidParameterError(
            "mrope_section must add up to the number of pairs, {allowed} here, got {got}",
            allowed=len(frequencies),
            got=len(axes),
        )
    thw = params.numbers("positions", positions)
    if thw.ndim == 0 or len(thw) != 3:
        raise params.InvalidParameterError(
            "positions must be three, of time, height and width, on the first axis, got shape "
            "{got}",
            got=str(thw.shape),
        )
    with np.errstate(over="ignore"):
        angles = np.moveaxis(thw[axes], 0, -1) * frequencies  # (..., rotary_dim // 2)
    return turn(x, angles, layout)


def _sections(mrope_section: Sequence[int]) -> tuple[int, int, int]:
    try:
        sections = [params.whole("mrope_section", pairs, 0, 1 << 20) for pairs in mrope_section]
    except TypeError:
        sections = []
    if len(sections) != 3 or not sum(sections):
        raise params.InvalidParameterError(
            "mrope_section must be three numbers of pairs, not all 0, got {got}",
            got=params.shown(mrope_section),
        )
    return sections[0], sections[1], sections[2]


def _yes_or_no(name: str, value: object) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise params.InvalidParameterError(
            "{name} must be True or False, got {got}", name=name, got=params.shown(value)
        )
