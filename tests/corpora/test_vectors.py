"""Word vectors as word2vec's text: there and back bit for bit, and files that are none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.corpora.vectors import read_vectors, write_vectors
from syntagma.errors import InputError

GOOD = "3 2\nthe 0.5 -1\nof 1e-3 2 \ndog 0 0\n"


def test_there_and_back(tmp_path):
    rng = np.random.default_rng(0)
    vectors = (rng.normal(size=(50, 7)) * 10.0 ** rng.integers(-30, 3, (50, 1))).astype(np.float32)
    words = [f"w{i}" if i else "a b" for i in range(50)]
    for name in ("v.txt", "v.txt.xz"):
        write_vectors(tmp_path / name, words, vectors)
        names, rows = read_vectors(tmp_path / name)
        assert names == ["a\u00a0b", *words[1:]]
        np.testing.assert_array_equal(rows, vectors)


BROKEN = {
    "": ":1: expected a line with the numbers of words and of dimensions",
    "a b\n": ":1: expected a line with",
    "1 0\na\n": ":1: expected at least one dimension",
    GOOD + "cat 1\n": ":5: expected a word and 2 numbers, found 1 numbers",
    GOOD + "cat 1 2 3\n": ":5: expected a word and 2 numbers, found 3 numbers",
    GOOD + "\n": ":5: expected a word and 2 numbers, found 0 numbers",
    GOOD + "cat 1 x\n": ":5: expected 2 numbers, found 'x'",
    GOOD + "cat 1 nan\n": ":5: expected finite numbers, found nan for 'cat'",
    GOOD + "cat inf 1\n": ":5: expected finite numbers, found inf for 'cat'",
    GOOD + "of 1 2\n": ":5: the word 'of' has two vectors",
    GOOD + "cat 1 2\n": ": expected 3 words as its first line says, found 4",
    "0 3\n": ": expected 0 words",
}


@pytest.mark.parametrize("text", BROKEN)
def test_broken_files_name_the_line(tmp_path, text):
    path = tmp_path / "v.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_vectors(path)
    assert str(caught.value).startswith(f"{path}{BROKEN[text]}")


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.integers(0, len(GOOD)),
    st.integers(0, 6),
    st.text("0123456789.-e \n\tabnif\u00a0é", max_size=6),
)
def test_any_damage_is_read_right_or_one_error(tmp_path_factory, at, cut, instead):
    path = tmp_path_factory.getbasetemp() / "damaged.txt"
    path.write_text(GOOD[:at] + instead + GOOD[at + cut :], encoding="utf-8")
    try:
        words, rows = read_vectors(path)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert rows.shape[0] == len(words) == len(set(words))
        assert np.isfinite(rows).all()
