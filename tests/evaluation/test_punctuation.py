"""Punctuation in universal, Penn and untagged treebanks."""

import pytest

from syntagma.corpora import Treebank
from syntagma.evaluation import punctuation

FORMS = [["Wait", ",", "$", "5", "%", "...", "«", "a-b"]]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["VERB", "PUNCT", "SYM", "NUM", "SYM", "PUNCT", "PUNCT", "X"], [1, 5, 6]),
        (["VERB", "X", "X", "X", "X", "X", "X", "X"], []),
        (["VB", ",", "$", "CD", "NN", ":", "``", "NN"], [1, 5, 6]),
        (["v", "pu", "s", "n", "s", "pu", "pu", "n"], [1, 4, 5, 6]),
        (["_"] * 8, [1, 4, 5, 6]),
    ],
)
def test_tags_decide_where_they_can(tags, expected):
    column = "upos" if "VERB" in tags else "xpos"
    marked = punctuation(Treebank.from_sentences(FORMS, **{column: [tags]}))
    assert marked.nonzero()[0].tolist() == expected
