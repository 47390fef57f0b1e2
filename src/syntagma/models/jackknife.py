"""Tags for training a parser that are as good, and as bad, as those it will meet: jackknifing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.treebank import Column, Treebank
from syntagma.errors import InputError
from syntagma.models.tagger import Tagger
from syntagma.training.arc_features import sentence_keys, word_codes

Made = Callable[[int, int, float], None]


def jackknife(
    treebank: Treebank, folds: int, tagger: Tagger, progress: Made | None = None
) -> tuple[Treebank, Tagger]:
    """Tag every sentence by a tagger that has not seen it; return a tagger that has seen them all.

    Neither the tags nor the tagger depend on the order of the sentences.

    Parameters
    ----------
    treebank
        Sentences with tags.
    folds
        Into how many parts the sentences are dealt: each is tagged by what the others teach.
    tagger
        Its parameters are used; it is not fitted itself.
    progress
        Called with the number of taggers made, of taggers to make, and the accuracy so far.
    """
    if not 2 <= folds <= len(treebank):
        raise InputError(
            f"jackknife: expected 2 to {len(treebank)} parts (there are {len(treebank)} sentences),"
            f" found {folds}"
        )
    order = np.argsort(_keys(treebank), kind="stable")
    ordered = treebank.take(order)
    # sums inside a tagger follow the numbers of the words, and those the order of the file
    ordered = replace(ordered, forms=Column.of(ordered.forms.strings()))
    turn = np.arange(len(ordered)) % folds
    tags = np.empty(ordered.words, object)
    right = seen = 0
    for fold in range(folds):
        held_out = np.flatnonzero(turn == fold)
        made = Tagger(**tagger.get_params()).fit(ordered.take(np.flatnonzero(turn != fold)))
        sentences = ordered.take(held_out)
        tags[_words_of(ordered, held_out)] = found = made.predict(sentences).tags.strings()
        right += sum(a == b for a, b in zip(found, sentences.tags.strings(), strict=True))
        seen += sentences.words
        if progress:
            progress(fold + 1, folds + 1, 100.0 * right / max(seen, 1))
    whole = Tagger(**tagger.get_params()).fit(ordered)
    if progress:
        progress(folds + 1, folds + 1, 100.0 * right / max(seen, 1))
    back = np.argsort(order, kind="stable")
    tagged = ordered.replace(tags=tags.tolist()).take(back)
    return tagged, whole


def _keys(treebank: Treebank) -> NDArray[np.uint64]:
    """A number for each sentence that depends on its words and tags alone."""
    nothing = np.zeros(treebank.words, np.int32)
    return sentence_keys(word_codes(treebank), nothing, nothing, treebank.offsets)


def _words_of(treebank: Treebank, sentences: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate(
        [np.arange(treebank.offsets[s], treebank.offsets[s + 1]) for s in sentences.tolist()]
    )
