"""Learn linguistic structure (tags, trees, story threads) from little or no annotation.

The public names are imported when they are first used, so that importing the package is quick.

>>> import syntagma as sy
>>> treebank = sy.english(50, seed=1).treebank
>>> tagger = sy.Tagger(iterations=20).fit(treebank)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from syntagma.corpora.edits import annotate, comment, concatenate
    from syntagma.corpora.formats import read_treebank, write_treebank
    from syntagma.corpora.generated import english, hmm_sequences
    from syntagma.corpora.treebank import Column, Sentence, Treebank
    from syntagma.errors import InputError, ModelFileError, OutputError, SyntagmaError
    from syntagma.evaluation import evaluate
    from syntagma.models import load
    from syntagma.models.eigenwords import Eigenwords
    from syntagma.models.hmm import HMM
    from syntagma.models.jackknife import jackknife
    from syntagma.models.latent_tree import LatentTree
    from syntagma.models.parser import DependencyParser
    from syntagma.models.reranker import Reranker
    from syntagma.models.tagger import Tagger
    from syntagma.structures.arborescences import Arborescences
    from syntagma.structures.arcs import Arcs
    from syntagma.structures.chain import Chain
    from syntagma.structures.siblings import SiblingArcs

__all__ = [
    "HMM",
    "Arborescences",
    "Arcs",
    "Chain",
    "Column",
    "DependencyParser",
    "Eigenwords",
    "InputError",
    "LatentTree",
    "ModelFileError",
    "OutputError",
    "Reranker",
    "Sentence",
    "SiblingArcs",
    "SyntagmaError",
    "Tagger",
    "Treebank",
    "__version__",
    "annotate",
    "comment",
    "concatenate",
    "english",
    "evaluate",
    "hmm_sequences",
    "jackknife",
    "load",
    "read_treebank",
    "write_treebank",
]

_HOMES = {
    "annotate": "corpora.edits",
    "comment": "corpora.edits",
    "concatenate": "corpora.edits",
    "read_treebank": "corpora.formats",
    "write_treebank": "corpora.formats",
    "english": "corpora.generated",
    "hmm_sequences": "corpora.generated",
    "Column": "corpora.treebank",
    "Sentence": "corpora.treebank",
    "Treebank": "corpora.treebank",
    "InputError": "errors",
    "ModelFileError": "errors",
    "OutputError": "errors",
    "SyntagmaError": "errors",
    "evaluate": "evaluation",
    "load": "models",
    "Eigenwords": "models.eigenwords",
    "jackknife": "models.jackknife",
    "LatentTree": "models.latent_tree",
    "HMM": "models.hmm",
    "DependencyParser": "models.parser",
    "Reranker": "models.reranker",
    "Tagger": "models.tagger",
    "Arborescences": "structures.arborescences",
    "Arcs": "structures.arcs",
    "Chain": "structures.chain",
    "SiblingArcs": "structures.siblings",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
