"""Features of whole trees, listed in words."""

from __future__ import annotations

from collections import Counter


def tree_features(heads, tags) -> Counter:
    """Tag of each word with those of its head and grandparent; nearest modifiers of each head."""
    found: Counter = Counter()
    tag = ["ROOT", *tags]
    for i, head in enumerate(heads, start=1):
        above = "NONE" if head == 0 else tag[heads[head - 1]]
        found["grand", i < head, tag[i], tag[head], above] += 1
        left = [j for j, h in enumerate(heads, start=1) if h == i and j < i]
        right = [j for j, h in enumerate(heads, start=1) if h == i and j > i]
        if left or right:
            before = tag[max(left)] if left else "NONE"
            after = tag[min(right)] if right else "NONE"
            found["around", before, tag[i], after] += 1
    return found
