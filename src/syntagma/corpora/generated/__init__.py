"""Corpora with known hidden structure, made on the fly from a seed."""

from syntagma.corpora.generated.english import Generated, english, english_grammar
from syntagma.corpora.generated.grammar import Attachment, Emission, LatentGrammar, Rule
from syntagma.corpora.generated.latent_trees import LatentTrees, latent_trees
from syntagma.corpora.generated.random_models import (
    HiddenMarkovSequences,
    hmm_sequences,
    random_grammar,
)
from syntagma.corpora.generated.sampling import Sampler
from syntagma.corpora.generated.trees import Trees

__all__ = [
    "Attachment",
    "Emission",
    "Generated",
    "HiddenMarkovSequences",
    "LatentGrammar",
    "LatentTrees",
    "Rule",
    "Sampler",
    "Trees",
    "english",
    "english_grammar",
    "hmm_sequences",
    "latent_trees",
    "random_grammar",
]
