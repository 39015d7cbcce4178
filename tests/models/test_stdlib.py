"""Real text is the same for one interpreter, and no held-out file is trained on."""

import hashlib

import numpy as np
import pytest

from posviz.models import stdlib
from posviz.params import InvalidParameterError


@pytest.fixture
def library(tmp_path):
    """A small library; a file's name says whether the reader should see it."""
    for number in range(300):
        place = tmp_path / ("deep" if number % 2 else ".")
        place.mkdir(exist_ok=True)
        (place / f"m{number:03}.py").write_bytes(f"x = {number}\n".encode() * 700)
    (tmp_path / "site-packages").mkdir()
    for name in ("site-packages/foreign.py", "small.py", "data.txt"):
        (tmp_path / name).write_bytes(b"#" * (100 if name == "small.py" else 9000))
    return tmp_path


def test_each_large_file_belongs_to_one_part_by_its_content(library):
    trained, held_out = stdlib.texts(False, library), stdlib.texts(True, library)
    assert len(trained) + len(held_out) == 300
    assert 10 <= len(held_out) <= 60
    for part, expected in ((trained, False), (held_out, True)):
        for text in part:
            assert text.dtype == np.uint8
            share = int(hashlib.sha256(text.tobytes()).hexdigest()[:8], 16) / 2**32
            assert (share < 0.1) == expected
    before = {text.tobytes() for text in held_out}
    (library / "m000.py").write_bytes(b"another = 1\n" * 700)
    stdlib.texts.cache_clear()
    after = {text.tobytes() for text in stdlib.texts(True, library)}
    assert len(before ^ after) <= 2  # the other files stay where they were


def test_too_few_files_get_a_sentence(tmp_path):
    with pytest.raises(InvalidParameterError) as found:
        stdlib.texts(True, tmp_path / "python311.zip")
    assert str(found.value).startswith(
        "the standard library must have at least 200 files of 4,200 bytes to read, got 0 in"
    )


def test_the_documents_of_this_interpreter_are_held_out_and_always_the_same():
    found = stdlib.documents(6, 1000)
    assert found.shape == (6, 1001)
    np.testing.assert_array_equal(found[:4, :301], stdlib.documents(4, 300))
    files = [text.tobytes() for text in stdlib.texts(held_out=True)]
    homes = [next(at for at, file in enumerate(files) if row.tobytes() in file) for row in found]
    assert len(set(homes)) == 6
    with pytest.raises(InvalidParameterError, match="count must be a whole number from 1 to"):
        stdlib.documents(10**6, 100)
    with pytest.raises(
        InvalidParameterError, match="length must be a whole number from 1 to 4,199"
    ):
        stdlib.documents(2, 4200)


def test_windows_to_train_on_come_from_the_other_files():
    rows = stdlib.windows(np.random.default_rng(0), 5, 256)
    assert rows.shape == (5, 257)
    again = stdlib.windows(np.random.default_rng(0), 5, 256)
    np.testing.assert_array_equal(rows, again)
    files = [text.tobytes() for text in stdlib.texts(held_out=False)]
    assert all(any(row.tobytes() in file for file in files) for row in rows)
