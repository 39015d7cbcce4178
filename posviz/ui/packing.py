"""Texts in a link: as they are if they are a short line, else compressed."""

from __future__ import annotations

import base64
import zlib

from posviz import params
from posviz.params import InvalidParameterError

_MARK = "~"  # begins a text that is compressed
_PLAIN = 240  # characters of a line that goes as it is


def packed(text: str) -> str:
    """A text as a link holds it."""
    if text.isprintable() and len(text) <= _PLAIN and not text.startswith(_MARK):
        return text
    return _MARK + base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()


def unpacked(name: str, given: str, longest: int) -> str:
    """The text that :func:`packed` made ``given`` of, the value of ``name`` in a link.

    Raises:
        InvalidParameterError: If it is damaged, or more than ``longest`` bytes.
    """
    if not given.startswith(_MARK):
        return given
    try:
        if len(given) > 2 * longest:  # zlib and base64 make no text of that length twice as long
            raise ValueError
        data = base64.b64decode(given[1:], b"-_", validate=True)
        reader = zlib.decompressobj()
        text = reader.decompress(data, longest).decode()
        if not reader.eof or reader.unused_data:
            raise ValueError
    except (ValueError, zlib.error):
        raise InvalidParameterError(
            "{name} must be a text as the link to this page holds it, got {got}",
            name=name,
            got=params.shown(given),
        ) from None
    return text
