"""What every model shares: parameters, model files and the model card.

The estimator interface is scikit-learn's (`get_params`, `set_params`, `sklearn.clone` works),
without importing scikit-learn, which would cost every command a second.

A model file holds the format version, the version of syntagma, the kind of model, its parameters,
the training summary (the model card), its vocabulary and its arrays. Equal training gives equal
bytes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from syntagma import __version__
from syntagma.errors import ModelFileError, NotFittedError
from syntagma.training.storage import Arrays, Path, read_arrays, write_arrays


class Estimator:
    """Parameters are the arguments of ``__init__``; fitted state ends in an underscore."""

    kind: ClassVar[str] = ""

    @classmethod
    def _parameter_names(cls) -> list[str]:
        signature = inspect.signature(cls.__init__)
        return [name for name in signature.parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, as scikit-learn does."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters, as scikit-learn does."""
        names = self._parameter_names()
        for name, value in params.items():
            if name not in names:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}: {names}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        shown = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not defaults[name].default and value != defaults[name].default
        )
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def fitted(self) -> bool:
        """Whether the model has been fitted or loaded."""
        return hasattr(self, "summary_")

    def _check_fitted(self) -> None:
        if not self.fitted:
            name = type(self).__name__
            raise NotFittedError(f"this {name} is not fitted: call fit or load first")

    def describe(self, top: int = 5) -> dict[str, Any]:
        """Say what was learnt, as a JSON-able dict; `top` bounds how much of each thing."""
        raise NotImplementedError

    # ---- model files --------------------------------------------------------------------------
    summary_: dict[str, Any]
    version_: str = __version__

    def _pack(self) -> tuple[dict[str, Any], Arrays]:
        """Return the fitted state as JSON-able vocabulary and arrays."""
        raise NotImplementedError

    def _unpack(self, vocabulary: dict[str, Any], arrays: Arrays) -> None:
        """Take the fitted state up again; any KeyError, ValueError or TypeError means damage."""
        raise NotImplementedError

    def save(self, path: Path) -> None:
        """Write the model to a file; an interrupted write leaves the earlier file."""
        self._check_fitted()
        vocabulary, arrays = self._pack()
        parameters = {name: _plain(value) for name, value in self.get_params().items()}
        header = {"kind": self.kind, "parameters": parameters, "summary": self.summary_}
        write_arrays(path, header, vocabulary, arrays)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a model of this kind from a file."""
        return cls._from_parts(path, *read_arrays(path))

    @classmethod
    def _from_parts(
        cls, path: Path, header: dict[str, Any], vocabulary: Any, arrays: Arrays
    ) -> Self:
        if header.get("kind") != cls.kind:
            raise ModelFileError(
                f"expected a {cls.kind} model, found a {header.get('kind')!r} model", path=path
            )
        try:
            model = cls._restored(header["parameters"], header["summary"], vocabulary, arrays)
            model.version_ = str(header["version"])
        except (
            KeyError,
            ValueError,
            TypeError,
            IndexError,
            AttributeError,
            OverflowError,
        ) as error:
            raise ModelFileError(f"the {cls.kind} model is damaged: {error}", path=path) from error
        return model

    @classmethod
    def _restored(
        cls, parameters: dict[str, Any], summary: dict[str, Any], vocabulary: Any, arrays: Arrays
    ) -> Self:
        """Make a fitted model of what a file holds; damage shows as one of many exceptions."""
        model = cls(**{name: _revived(value) for name, value in parameters.items()})
        model.summary_ = dict(summary)
        model._unpack(vocabulary, arrays)
        return model


def _plain(value: Any) -> Any:
    """Write a parameter as JSON: a model that is one by its kind and its own parameters."""
    if isinstance(value, Estimator):
        parameters = {name: _plain(part) for name, part in value.get_params().items()}
        return {"model": value.kind, "parameters": parameters}
    return value


def _revived(value: Any) -> Any:
    """Undo `_plain`, and what else JSON does: it knows no tuples."""
    if isinstance(value, dict):
        from syntagma.models import model_class

        parameters = {name: _revived(part) for name, part in value["parameters"].items()}
        return model_class(value["model"])(**parameters)
    return tuple(value) if isinstance(value, list) else value


def portions(starts: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Cut a corpus into runs of whole sentences of at most so many words, or of one sentence.

    `starts` says where each sentence begins, in words or in anything else that takes room.

    >>> list(portions(np.array([0, 3, 5, 14, 15]), 6))
    [(0, 2), (2, 3), (3, 4)]
    """
    first = 0
    while first < len(starts) - 1:
        last = int(np.searchsorted(starts, starts[first] + most, side="right")) - 1
        last = min(max(last, first + 1), len(starts) - 1)
        yield first, last
        first = last
