"""Multi-head latent attention: why DeepSeek rotates beside the compressed key and not inside it.

Keys and values of all heads are made from one short vector per token, the cache. At inference the
matrix that unpacks keys is multiplied into the queries instead ("absorbed"), and no key is ever
unpacked. A rotation between the two would depend on the distance and block that, so a few
dimensions of their own rotate: decoupled RoPE.

Source: DeepSeek-AI 2024, "DeepSeek-V2", https://arxiv.org/abs/2405.04434, sections 2.1.2-2.1.3;
deepseek-ai/DeepSeek-V3 ``inference/model.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from posviz import params, rope
from posviz.rope_scaling import yarn_mscale


@dataclass(frozen=True)
class MLA:
    """Dimensions of a head; the defaults are DeepSeek-V2's, V3's and Kimi-K2's.

    Attributes:
        qk_nope_head_dim: Dimensions of query and key that do not rotate.
        qk_rope_head_dim: Dimensions that do, in interleaved pairs; all heads share this key.
            Frequencies count by it.
        kv_lora_rank: Length of the compressed keys and values of a token.
        v_head_dim: Dimensions of a value.
    """

    qk_nope_head_dim: int = 128
    qk_rope_head_dim: int = 64
    kv_lora_rank: int = 512
    v_head_dim: int = 128

    def __post_init__(self) -> None:
        for field in fields(self):
            check = params.even if field.name == "qk_rope_head_dim" else params.whole
            checked = check(field.name, getattr(self, field.name), 1, 1 << 13)
            params.keep(self, **{field.name: checked})

    @property
    def qk_head_dim(self) -> int:
        """Dimensions of a query, both parts."""
        return self.qk_nope_head_dim + self.qk_rope_head_dim

    @property
    def cache_entries(self) -> int:
        """Numbers kept per token and layer, for all heads: compressed vector and rotated key."""
        return self.kv_lora_rank + self.qk_rope_head_dim

    def mha_cache_entries(self, num_heads: int) -> int:
        """Numbers that ordinary attention keeps per token and layer.

        A key of ``qk_nope_head_dim`` and a value of each head, the paper's ``2 n_h d_h``: ordinary
        heads need no dimensions of their own for a rotation.
        """
        num_heads = params.whole("num_heads", num_heads, 1)
        return num_heads * (self.qk_nope_head_dim + self.v_head_dim)

    def softmax_scale(self, factor: float = 1.0, mscale_all_dim: float | None = None) -> float:
        """What scores are multiplied by, ``qk_head_dim**-0.5`` times YaRN's mscale squared.

        Without ``mscale_all_dim``, or with 0, nothing is added. The square covers both parts of the
        score, rotated or not, since cos and sin keep their size in DeepSeek's configurations.
        """
        given = 0.0 if mscale_all_dim is None else mscale_all_dim
        mscale = yarn_mscale(factor, params.real("mscale_all_dim", given, 0.0))
        return float(self.qk_head_dim**-0.5 * mscale**2)


@dataclass(frozen=True, eq=False)
class Absorption:
    """Scores of random vectors, with keys unpacked and from the cache alone.

    Attributes:
        unpacked: Unscaled scores with every key unpacked, ``(seq_len, seq_len)``.
        absorbed: The same from queries that took the unpacking matrix in, and the cache.
        queries: Compressed queries, ``(seq_len, query rank)``.
        cache: Compressed keys, ``(seq_len, kv_lora_rank)``.
    """

    unpacked: NDArray[np.float64]
    absorbed: NDArray[np.float64]
    queries: NDArray[np.float64]
    cache: NDArray[np.float64]

    @property
    def residual(self) -> float:
        """Largest difference over the largest score: 1e-15 or so where absorption is exact."""
        return float(np.abs(self.absorbed - self.unpacked).max() / np.abs(self.unpacked).max())


def absorption(
    dims: MLA,
    seq_len: int = 16,
    *,
    rotated_inside: bool,
    rope_theta: float = 10_000.0,
    seed: int = 0,
) -> Absorption:
    """What one head's scores become when the unpacking matrix moves into the query.

    Args:
        dims: Dimensions of the head.
        seq_len: Tokens, at positions ``0 .. seq_len - 1``.
        rotated_inside: Whether the unpacked key itself rotates, all of its ``qk_nope_head_dim``
            dimensions, an even number. The absorbed matrix is then right at distance 0 alone. If
            not, RoPE is decoupled.
        rope_theta: Base, above 1.
        seed: Which random weights and vectors.
    """
    params.instance("dims", dims, MLA)
    seq_len = params.whole("seq_len", seq_len, 1, 4096)
    if not isinstance(rotated_inside, (bool, np.bool_)):
        raise params.InvalidParameterError(
            "rotated_inside must be True or False, got {got}", got=params.shown(rotated_inside)
        )
    rng = np.random.default_rng(params.whole("seed", seed, 0))
    rank, turning = dims.kv_lora_rank, dims.qk_rope_head_dim
    queries, cache = rng.standard_normal((2, seq_len, rank))
    to_query, to_key = rng.standard_normal((2, dims.qk_nope_head_dim, rank)) / rank**0.5
    positions = np.arange(seq_len)

    def rotated(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return rope.rotate(x, positions, rope.inv_freq(x.shape[-1], rope_theta), "interleaved")

    q, k = queries @ to_query.T, cache @ to_key.T  # (seq_len, qk_nope_head_dim)
    absorbed = (q @ to_key) @ cache.T  # (seq_len, seq_len), no key unpacked
    if rotated_inside:
        params.even("qk_nope_head_dim", dims.qk_nope_head_dim)
        return Absorption(rotated(q) @ rotated(k).T, absorbed, queries, cache)
    beside = rng.standard_normal((2, seq_len, turning))
    decoupled = rotated(beside[0]) @ rotated(beside[1]).T
    return Absorption(q @ k.T + decoupled, absorbed + decoupled, queries, cache)
