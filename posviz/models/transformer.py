"""A small decoder that takes position through the doors of :mod:`posviz.models.positions`.

Layer norm before each part, no biases in linear maps, embedding shared with the output.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from posviz import arrays, params, rope
from posviz.models.positions import Positions, Setting

CHUNK = 512
"""Queries that are attended at once where a bias is added: L x L numbers per head never exist."""
_LOOK_BACK = 7.0  # then the token before weighs about e^5 times one beside it


@dataclass(frozen=True)
class Shape:
    """What makes up a decoder.

    Attributes:
        vocab_size: Tokens.
        num_layers: Blocks.
        d_model: Width.
        num_heads: Attention heads; they share the width.
        max_len: Trained context; rows of a learned table.
    """

    vocab_size: int
    num_layers: int
    d_model: int
    num_heads: int
    max_len: int

    def __post_init__(self) -> None:
        for name in ("vocab_size", "num_layers", "d_model", "num_heads", "max_len"):
            params.keep(self, **{name: params.whole(name, getattr(self, name), 1)})
        if self.d_model % (2 * self.num_heads):
            raise params.InvalidParameterError(
                "d_model must be a multiple of twice num_heads, {allowed}, got {got}",
                allowed=2 * self.num_heads, got=self.d_model,
            )  # fmt: skip


Cache = list[tuple[Tensor, Tensor]]
"""Keys and values of each layer, ``(batch, num_heads, tokens so far, head_dim)``."""


class Decoder(nn.Module):
    """A causal Transformer that reads tokens and predicts the next one at each.

    Args:
        shape: Sizes.
        setting: Position encoding.
    """

    def __init__(self, shape: Shape, setting: Setting) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocab_size, shape.d_model)
        self.positions = Positions(setting, shape.d_model, shape.num_heads, shape.max_len)
        self.blocks = nn.ModuleList(_Block(shape) for _ in range(shape.num_layers))
        self.norm = nn.LayerNorm(shape.d_model)
        nn.init.normal_(self.embedding.weight, std=0.1)

    def forward(
        self, tokens: Tensor, positions: Positions | None = None, cache: Cache | None = None
    ) -> Tensor:
        """Logits ``(batch, seq_len, vocab_size)`` of the token after each.

        Args:
            tokens: ``(batch, seq_len)``, whole numbers.
            positions: Doors to use instead of the trained ones, from
                :meth:`Positions.with_setting`.
            cache: Keys and values of the tokens before; an empty list begins one. It grows.
        """
        positions = positions or self.positions
        tokens = _indices("tokens", tokens, self.shape.vocab_size, "batch", "seq_len")
        start = cache[0][0].shape[-2] if cache else 0
        length = start + tokens.shape[1]
        x = positions.add(self.embedding(tokens), start)
        bias = positions.bias(min(tokens.shape[1], CHUNK), length)
        for layer, block in enumerate(self.blocks):
            x = block(x, positions, bias, start, layer, cache)
        return functional.linear(self.norm(x), self.embedding.weight)

    def look_back(self) -> None:
        """Let the first head of each layer begin by looking one token back, whatever is there.

        For RoPE. Its queries and keys get a part that does not depend on the token, carried by the
        bias of the layer norm before them, and whose score peaks at distance 1
        (:func:`posviz.rope.peaked_key`); fast pairs, which tell neighbours apart, have the most of
        it. A bias on scores makes near tokens weigh more from the first step on; from random
        weights RoPE finds the token before its own late, and with some seeds not at all.
        """
        width, head_dim = self.shape.d_model, self.positions.head_dim
        inv_freq = rope.inv_freq(head_dim, self.positions.setting.rope_theta)
        query = np.zeros(head_dim)
        query[rope.pair_slices(head_dim, "half")[0]] = _LOOK_BACK * inv_freq
        parts = torch.tensor(np.stack([query, rope.peaked_key(query, 1, inv_freq)])).float()
        with torch.no_grad():
            for block in cast(Iterable[_Block], self.blocks):
                bias = torch.randn(width)
                block.norm_attention.bias.copy_(bias)
                for which, part in enumerate(parts):
                    # Of the other heads the bias makes nothing, so that they begin with content.
                    wanted = functional.pad(part, (0, width - head_dim))
                    rows = block.attention.qkv.weight[which * width : (which + 1) * width]
                    rows += torch.outer(wanted - rows @ bias, bias) / (bias @ bias)

    def attention_rows(
        self, tokens: Tensor, queries: Tensor, positions: Positions | None = None
    ) -> Tensor:
        """Attention weights of some queries, ``(num_layers, num_heads, len(queries), seq_len)``.

        Args:
            tokens: One text ``(seq_len,)``.
            queries: Indices of the tokens that look.
            positions: As in :meth:`forward`.
        """
        positions = positions or self.positions
        tokens = _indices("tokens", tokens, self.shape.vocab_size, "seq_len")
        seq_len = len(tokens)
        queries = _indices("queries", queries, seq_len, "queries")
        x = positions.add(self.embedding(tokens[None]))
        bias = positions.bias(min(seq_len, CHUNK), seq_len)
        ahead = torch.arange(seq_len) - queries[:, None]  # of the query, in tokens
        strip = positions.bias(1, seq_len)  # of the last query; an earlier one's is its end
        columns = (seq_len - 1 + ahead).clamp(max=seq_len - 1)
        place = 0.0 if strip is None else strip[:, 0, columns]  # (num_heads, queries, seq_len)
        found = []
        for block in cast(Iterable[_Block], self.blocks):
            q, k = block.queries_and_keys(x, positions)
            scores = q[0][:, queries] @ k[0].transpose(-1, -2) / q.shape[-1] ** 0.5
            found.append((scores + place).masked_fill(ahead > 0, -torch.inf).softmax(-1))
            x = block(x, positions, bias)
        return torch.stack(found)


class _Block(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.d_model
        self.norm_attention = nn.LayerNorm(width)
        self.attention = _Attention(shape)
        self.norm_mlp = nn.LayerNorm(width)
        widen = nn.Linear(width, 4 * width, bias=False)
        narrow = nn.Linear(4 * width, width, bias=False)
        self.mlp = nn.Sequential(widen, nn.GELU(), narrow)
        _begin(widen)
        _begin(narrow, 0.5)

    def forward(
        self,
        x: Tensor,
        positions: Positions,
        bias: Tensor | None,
        start: int = 0,
        layer: int = 0,
        cache: Cache | None = None,
    ) -> Tensor:
        x = x + self.attention(self.norm_attention(x), positions, bias, start, layer, cache)
        return x + cast(Tensor, self.mlp(self.norm_mlp(x)))

    def queries_and_keys(self, x: Tensor, positions: Positions) -> tuple[Tensor, Tensor]:
        """Queries and keys of each head for a text from its beginning."""
        q, k, _ = self.attention.project(self.norm_attention(x), positions, 0)
        return q, k


class _Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.num_heads = shape.num_heads
        self.qkv = nn.Linear(shape.d_model, 3 * shape.d_model, bias=False)
        self.out = nn.Linear(shape.d_model, shape.d_model, bias=False)
        _begin(self.qkv)
        _begin(self.out, 0.5)

    def project(self, x: Tensor, positions: Positions, start: int) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of each head, the first two rotated."""
        batch, seq_len, width = x.shape
        shape = (batch, seq_len, 3, self.num_heads, width // self.num_heads)
        q, k, v = self.qkv(x).view(shape).permute(2, 0, 3, 1, 4)
        return *positions.rotate(q, k, start), v

    def forward(
        self,
        x: Tensor,
        positions: Positions,
        bias: Tensor | None,
        start: int,
        layer: int,
        cache: Cache | None,
    ) -> Tensor:
        q, k, v = self.project(x, positions, start)
        if cache is not None:
            if layer < len(cache):
                before_k, before_v = cache[layer]
                k, v = torch.cat([before_k, k], dim=-2), torch.cat([before_v, v], dim=-2)
                cache[layer] = (k, v)
            else:
                cache.append((k, v))
        mixed = _attend(q, k, v, bias)
        return cast(Tensor, self.out(mixed.transpose(1, 2).flatten(2)))


def _attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None) -> Tensor:
    """Causal attention of the last queries, ``bias`` being that of the last ``CHUNK`` of them.

    A bias that depends on distance alone is the same strip for every chunk of queries, its last
    columns: distance is counted back from the query.
    """
    q_len, k_len = q.shape[-2], k.shape[-2]
    if bias is None:
        if q_len == k_len:
            return functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        mask = torch.ones(q_len, k_len, dtype=torch.bool).tril(k_len - q_len)
        return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    strip = bias.to(q.dtype)
    parts = []
    for first in range(0, q_len, CHUNK):
        last = min(first + CHUNK, q_len)
        end = k_len - q_len + last
        mask = strip[None, :, -(last - first) :, strip.shape[-1] - end :]
        parts.append(
            functional.scaled_dot_product_attention(
                q[:, :, first:last], k[:, :, :end], v[:, :, :end], attn_mask=mask
            )
        )
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=-2)


def _indices(name: str, value: Tensor, count: int, *axes: str) -> Tensor:
    """``value`` as int64 numbers below ``count``; ``axes`` name its axes, none of them empty."""
    if value.ndim != len(axes) or not value.numel():
        raise params.InvalidParameterError(
            arrays.AXES, name=name, allowed=f"({', '.join(axes)})", got=str(tuple(value.shape))
        )
    return torch.from_numpy(arrays.whole_numbers(name, value.numpy(), 0, count - 1))


def _begin(linear: nn.Linear, gain: float = 1.0) -> None:
    nn.init.normal_(linear.weight, std=gain * linear.in_features**-0.5)
