"""Re-make the pictures of the documentation: ``make docs``.

Each is drawn from a generated corpus with a fixed seed, so that a change in a picture is a change
in the software.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import syntagma as sy
from syntagma.reports import model_svg, tags_svg, tree_svg

PICTURES = Path(__file__).parent / "pictures"


def tagger() -> dict[str, str]:
    """Draw what a tagger has learnt, and a sentence that it is not sure about."""
    train, held_out = sy.english(300, seed=1).treebank, sy.english(60, seed=2).treebank
    model = sy.Tagger().fit(train)
    predicted = model.predict(held_out)
    confidence = model.decide(held_out)[1]
    chosen, words = _doubtful(held_out, confidence)
    sentence = tags_svg(
        predicted[chosen], gold=held_out[chosen], confidence=confidence[words].tolist()
    )
    return {
        "tagger.svg": model_svg("tagger", model.describe()),
        "tagged-sentence.svg": sentence,
        "dependency-tree.svg": tree_svg(held_out[chosen]),
    }


def parser() -> dict[str, str]:
    """Draw what a parser has learnt, and a sentence that it is not sure about."""
    train, held_out = sy.english(300, seed=1).treebank, sy.english(60, seed=2).treebank
    model = sy.DependencyParser(learner="log-linear").fit(train)
    heads, labels, confidence, _ = model.decide(held_out)
    predicted = held_out.replace(heads=heads, labels=labels)
    chosen, words = _doubtful(held_out, confidence)
    sentence = tree_svg(
        predicted[chosen], gold=held_out[chosen], confidence=confidence[words].tolist()
    )
    return {
        "parser.svg": model_svg("mst", sy.DependencyParser().fit(train).describe()),
        "parsed-sentence.svg": sentence,
    }


def eigenwords() -> dict[str, str]:
    """Draw the map of the words of generated text."""
    model = sy.Eigenwords(method="cca", dim=20).fit(sy.english(3000, seed=1).treebank)
    return {"eigenwords.svg": model_svg("eigenwords", model.describe())}


def hmm() -> dict[str, str]:
    """Draw the states found behind the tags of generated English."""
    corpus = sy.english(2000, seed=1).treebank
    model = sy.HMM(states=6, learner="spectral+em", column="upos", iterations=50).fit(corpus)
    return {"hmm.svg": model_svg("hmm", model.describe())}


def latent_trees() -> dict[str, str]:
    """Draw the states found on the words of generated trees."""
    corpus = sy.english(1000, seed=1).treebank
    model = sy.LatentTree(dim=6, learner="em", iterations=100).fit(corpus)
    return {"latent-trees.svg": model_svg("latent-tree", model.describe())}


def _doubtful(treebank: sy.Treebank, confidence: NDArray[np.float64]) -> tuple[int, slice]:
    """Find the sentence of middling length with the least certain word; return its words too."""
    doubt = [
        float(confidence[a:b].min()) if 6 <= b - a <= 12 else 1.0
        for a, b in pairwise(treebank.offsets.tolist())
    ]
    chosen = doubt.index(min(doubt))
    return chosen, slice(treebank.offsets[chosen], treebank.offsets[chosen + 1])


def main() -> None:
    """Write every picture."""
    PICTURES.mkdir(exist_ok=True)
    drawn = tagger() | parser() | eigenwords() | hmm() | latent_trees()
    for name, svg in drawn.items():
        (PICTURES / name).write_text(svg, encoding="utf-8")
        print(PICTURES / name)


if __name__ == "__main__":
    main()
