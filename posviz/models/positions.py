"""How a model learns where a token stands: three doors that take the tables of the core.

``add`` changes an embedding, ``rotate`` turns queries and keys, ``bias`` is added to scores. An
encoding opens one of them, RoPE + ALiBi two, no encoding none. Tables come from the NumPy modules
in the precision that Hugging Face runs them in, so that the model that is measured is the formula
that is drawn.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from posviz import alibi, attention, learned, params, precision, relative, rope, sinusoidal
from posviz.rope_scaling import NoScaling, RopeScaling

ENCODINGS = ("none", "sinusoidal", "learned", "t5", "alibi", "rope", "rope_alibi")

SINUSOIDAL_SCALE = 0.1
"""Factor on the added table: embeddings start at this size, and a table of size 1 drowns them."""

T5_BUCKETS, T5_MAX_DISTANCE = 32, 128


@dataclass(frozen=True)
class Setting:
    """How an encoding is set; a model may be read with another setting than it was trained with.

    Attributes:
        encoding: One of :data:`ENCODINGS`.
        rope_theta: Base, where there is RoPE.
        scaling: Context extension, where there is RoPE.
        slope_multiplier: Factor on all slopes, where there is ALiBi.
    """

    encoding: str
    rope_theta: float = 10_000.0
    scaling: RopeScaling = field(default_factory=NoScaling)
    slope_multiplier: float = 1.0

    def __post_init__(self) -> None:
        params.one_of("encoding", self.encoding, ENCODINGS)
        params.instance("scaling", self.scaling, RopeScaling)
        params.keep(
            self,
            rope_theta=params.real("rope_theta", self.rope_theta, 1.0, above=True),
            slope_multiplier=params.real("slope_multiplier", self.slope_multiplier, 0.0),
        )

    @property
    def rotates(self) -> bool:
        """Whether it has RoPE."""
        return self.encoding in ("rope", "rope_alibi")

    @property
    def biases(self) -> bool:
        """Whether it adds a bias to scores."""
        return self.encoding in ("t5", "alibi", "rope_alibi")


class Positions(nn.Module):
    """The three doors of one encoding.

    Args:
        setting: Encoding and its parameters.
        d_model: Width of the model.
        num_heads: Attention heads.
        max_len: Rows of a learned table: the trained context.
    """

    def __init__(self, setting: Setting, d_model: int, num_heads: int, max_len: int) -> None:
        super().__init__()
        self.setting = setting
        self.num_heads, self.head_dim = num_heads, d_model // num_heads
        self.d_model = d_model
        self.table: nn.Parameter | None = None
        if setting.encoding == "learned":
            # Begins as the sinusoidal table: from noise, a previous token is found too late.
            begin = SINUSOIDAL_SCALE * sinusoidal.table(max_len, d_model)
            self.table = nn.Parameter(torch.tensor(begin, dtype=torch.float32))
        if setting.encoding == "t5":
            self.table = nn.Parameter(torch.tensor(_recency(num_heads), dtype=torch.float32))
        self._kept: dict[object, Tensor] = {}

    def with_setting(self, setting: Setting) -> Positions:
        """The same trained tables read with another setting of the same encoding."""
        if setting.encoding != self.setting.encoding:
            raise params.InvalidParameterError(
                "encoding must be the trained one, {allowed}, got {got}",
                allowed=self.setting.encoding, got=setting.encoding,
            )  # fmt: skip
        changed = copy.copy(self)
        changed.setting, changed._kept = setting, {}
        return changed

    def add(self, x: Tensor, start: int = 0) -> Tensor:
        """Embeddings ``(batch, seq_len, d_model)`` of positions ``start ...``, position added."""
        end = start + x.shape[1]
        if self.setting.encoding == "sinusoidal":
            rows = self._keep(("sinusoidal", end), lambda: sinusoidal.table(end, self.d_model))
            return x + SINUSOIDAL_SCALE * rows[start:]
        if self.setting.encoding == "learned":
            assert self.table is not None
            if end > len(self.table):
                raise params.InvalidParameterError(
                    learned.NO_ROW, low=0, high=f"{len(self.table) - 1:,}", got=f"{end - 1:,}"
                )
            return x + self.table[start:end]
        return x

    def rotate(self, q: Tensor, k: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        """Queries and keys ``(batch, num_heads, seq_len, head_dim)``, turned by their positions.

        Halves are paired. A method that depends on the length takes that of the context so far.
        """
        if not self.setting.rotates:
            return q, k
        cos, sin = self._cos_sin(start + q.shape[-2])
        cos, sin = cos[start:], sin[start:]
        return _turn(q, cos, sin), _turn(k, cos, sin)

    def bias(self, q_len: int, k_len: int) -> Tensor | None:
        """What is added to the scores of the last ``q_len`` of ``k_len`` tokens.

        ``(num_heads, q_len, k_len)``, minus infinity where the key is ahead of the query; None if
        there is only that.
        """
        if not self.setting.biases:
            return None
        if self.setting.encoding != "t5":
            steep = alibi.slopes(self.num_heads) * self.setting.slope_multiplier
            return self._keep(
                ("alibi", q_len, k_len), lambda: alibi.bias_matrix(steep, q_len, k_len)
            )
        assert self.table is not None
        hidden = self._keep(
            ("mask", q_len, k_len),
            lambda: np.where(attention.causal_mask(q_len, k_len), 0.0, -np.inf),
        )
        buckets = self._keep(("buckets", q_len, k_len), lambda: _buckets(q_len, k_len))
        return self.table[buckets.long()].permute(2, 0, 1) + hidden

    def _cos_sin(self, seq_len: int) -> tuple[Tensor, Tensor]:
        """Cos and sin of each position and pair as Hugging Face computes them, in float32."""
        scaling = self.setting.scaling
        at = seq_len if scaling.depends_on_length else None
        plain = rope.RoPE(self.head_dim, self.setting.rope_theta)
        inv_freq, attention_factor = scaling.frequencies(plain, at)

        def tables() -> NDArray[np.float64]:
            both = precision.cos_sin("float32", np.arange(seq_len), inv_freq, attention_factor)
            return np.stack(both)

        cos, sin = self._keep(("rope", seq_len), tables)
        return cos, sin

    def _keep(self, name: object, table: Callable[[], NDArray[np.number]]) -> Tensor:
        """The newest tables, so that all layers and steps share them."""
        found = self._kept.get(name)  # another thread may clear it meanwhile
        if found is None:
            if len(self._kept) >= 4:
                self._kept.clear()
            with torch.inference_mode(False):  # a table made within it cannot be trained with
                found = self._kept[name] = torch.tensor(table(), dtype=torch.float32)
        return found


def plain(setting: Setting) -> Setting:
    """The setting without context extension."""
    return replace(setting, scaling=NoScaling())


def _turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = rope.pair_slices(x.shape[-1], "half")
    a, b = x[..., first], x[..., second]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def _buckets(q_len: int, k_len: int) -> NDArray[np.int64]:
    distance = relative.relative_position(q_len, k_len)
    return relative.t5_bucket(distance, T5_BUCKETS, T5_MAX_DISTANCE, bidirectional=False)


def _recency(num_heads: int) -> NDArray[np.float64]:
    """Where T5's table begins, ``(num_buckets, num_heads)``: ALiBi's bias of each bucket.

    From zeros the tiny models learn no copying within their steps.
    """
    ranges = relative.t5_bucket_ranges(T5_BUCKETS, T5_MAX_DISTANCE, bidirectional=False)
    table = np.zeros((T5_BUCKETS, num_heads))
    for one in ranges:
        table[one.bucket] = alibi.slopes(num_heads) * one.nearest  # nearest is 0 or negative
    return table
