"""What a user fits: one file per model, scikit-learn style, thin."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from syntagma.errors import ModelFileError

if TYPE_CHECKING:
    from syntagma.models.base import Estimator
    from syntagma.training.storage import Path

# kind of model -> where its class lives; imported when a file of that kind is opened
KINDS = {
    "tagger": "syntagma.models.tagger:Tagger",
    "mst": "syntagma.models.parser:DependencyParser",
    "latent-tree": "syntagma.models.latent_tree:LatentTree",
    "reranker": "syntagma.models.reranker:Reranker",
    "hmm": "syntagma.models.hmm:HMM",
    "eigenwords": "syntagma.models.eigenwords:Eigenwords",
}


def model_class(kind: str) -> type[Estimator]:
    """Find the class of a kind of model."""
    module, name = KINDS[kind].split(":")
    found: type[Estimator] = getattr(import_module(module), name)
    return found


def load(path: Path) -> Estimator:
    """Read a saved model of any kind."""
    from syntagma.training.storage import read_arrays

    header, vocabulary, arrays = read_arrays(path)
    kind = header.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ModelFileError(
            f"expected one of the models {', '.join(KINDS)}, found {kind!r}", path=path
        )
    return model_class(kind)._from_parts(path, header, vocabulary, arrays)
