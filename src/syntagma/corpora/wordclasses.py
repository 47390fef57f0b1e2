"""Classes of words, coarse and fine, as word functions of feature templates: class1, class2, ..."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from syntagma.corpora.wordforms import Forms, word_function
from syntagma.errors import InputError

Int32 = NDArray[np.int32]
PREFIX = "class"
MOST = 9  # ways of classing the words, each finer than the one before
OTHER = "other"  # the class of a word that has none


class WordClasses:
    """Which class each word is in, in one or several divisions of the words.

    Parameters
    ----------
    words
        The words that have a class; another word has that of its small letters, if those have.
    classes
        (divisions, words): the number of the class.

    Examples
    --------
    >>> classes = WordClasses(["the", "a", "dog"], np.array([[0, 0, 1], [0, 1, 2]], np.int32))
    >>> classes.function("class2")(["The", "dog", "Rex"])
    ['0', '2', 'other']
    """

    def __init__(self, words: Sequence[str], classes: Int32) -> None:
        self.words = list(words)
        self.classes = classes
        self._number = {word: i for i, word in enumerate(self.words)}

    @property
    def names(self) -> list[str]:
        """The names of the divisions as word functions, coarsest first."""
        return [f"{PREFIX}{i + 1}" for i in range(len(self.classes))]

    def function(self, name: str) -> Callable[[Forms], list[str]]:
        """Return the word function of a division."""
        if name not in self.names:
            raise InputError(f"the embedding has no {name}: there are {', '.join(self.names)}")
        row = self.classes[self.names.index(name)].tolist()
        number = self._number.get

        def look_up(forms: Forms) -> list[str]:
            found = (number(form, number(form.lower())) for form in forms)
            return [OTHER if at is None else str(row[at]) for at in found]

        return look_up

    def told(self) -> list[str | Int32]:
        """Return all that tells these classes from others."""
        return ["\n".join(self.words), self.classes]

    def pack(self) -> tuple[list[str], Int32]:
        """Split into words and numbers, for a model file."""
        return self.words, self.classes

    @classmethod
    def unpack(cls, words: list[Any], classes: NDArray[Any]) -> Self:
        """Rebuild from `pack`; ValueError if it cannot be that."""
        names = [str(word) for word in words]
        if len(set(names)) < len(names):
            raise ValueError("a word has two classes")
        fits = classes.ndim == 2 and 1 <= len(classes) <= MOST and classes.shape[1] == len(names)
        if not fits or classes.dtype != np.int32 or (classes < 0).any():
            raise ValueError("expected a class for each word")
        return cls(names, np.ascontiguousarray(classes))


def function_of(name: str, classes: WordClasses | None) -> Callable[[Forms], list[str]]:
    """Look up a word function, one that needs no language or one of these classes."""
    if not name.startswith(PREFIX):
        return word_function(name)
    if classes is None:
        raise InputError(f"the feature template {name} needs an embedding")
    return classes.function(name)
