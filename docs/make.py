"""Re-make the pictures of the documentation: ``make docs``.

Each is drawn from a generated corpus with a fixed seed, so that a change in a picture is a change
in the software.
"""

from __future__ import annotations

from pathlib import Path

import syntagma as sy
from syntagma.reports import model_svg, tags_svg, tree_svg

PICTURES = Path(__file__).parent / "pictures"


def tagger() -> dict[str, str]:
    """Draw what a tagger has learnt, and a sentence that it is not sure about."""
    train, held_out = sy.english(300, seed=1).treebank, sy.english(60, seed=2).treebank
    model = sy.Tagger().fit(train)
    predicted = model.predict(held_out)
    confidence = model.decide(held_out)[1]
    lengths = held_out.lengths
    doubt = [
        float(confidence[a:b].min()) if 6 <= n <= 12 else 1.0
        for a, b, n in zip(held_out.offsets, held_out.offsets[1:], lengths, strict=False)
    ]
    chosen = doubt.index(min(doubt))
    words = slice(held_out.offsets[chosen], held_out.offsets[chosen + 1])
    sentence = tags_svg(
        predicted[chosen], gold=held_out[chosen], confidence=confidence[words].tolist()
    )
    return {
        "tagger.svg": model_svg("tagger", model.describe()),
        "tagged-sentence.svg": sentence,
        "dependency-tree.svg": tree_svg(held_out[chosen]),
    }


def main() -> None:
    """Write every picture."""
    PICTURES.mkdir(exist_ok=True)
    for name, svg in tagger().items():
        (PICTURES / name).write_text(svg, encoding="utf-8")
        print(PICTURES / name)


if __name__ == "__main__":
    main()
