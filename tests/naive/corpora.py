"""Readers that go line by line: slow, obvious, and independent of the bulk ones."""

from __future__ import annotations

import re


class Refused(Exception):
    """The text is not in the format."""


def refuse_unless(condition) -> None:
    if not condition:
        raise Refused


def text_lines(raw: bytes) -> list[str]:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused from None
    text = text.removeprefix("\ufeff")
    refuse_unless("\0" not in text)
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    refuse_unless(not any("\r" in line for line in lines))
    return lines


def groups(lines: list[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for line in lines:
        if line:
            found[-1].append(line)
        else:
            found.append([])
    found = [group for group in found if group]
    refuse_unless(found)
    return found


def number(text: str) -> int:
    refuse_unless(re.fullmatch(r"0|[1-9][0-9]{0,8}", text))
    return int(text)


def check_tree(heads: list[int]) -> None:
    known = [head for head in heads if head >= 0]
    refuse_unless(len(known) in (0, len(heads)))
    for head in known:
        refuse_unless(head <= len(heads))
    for word in range(1, len(known) + 1):
        seen = set()
        while word != 0:
            refuse_unless(word not in seen)
            seen.add(word)
            word = heads[word - 1]


def head(text: str) -> int:
    return -1 if text == "_" else number(text)


def read_conllu(raw: bytes, ranges: bool = True) -> list[list[list[str]]]:
    """Return the ten fields of every word of every sentence."""
    sentences = []
    for group in groups(text_lines(raw)):
        rows = [line.split("\t") for line in group if not line.startswith("#")]
        for row in rows:
            refuse_unless(len(row) == 10)
            refuse_unless(all(row))
        words: list[list[str]] = []
        size = sum(1 for row in rows if re.fullmatch("[0-9]+", row[0]))
        covered, nodes = 0, 0
        for row in rows:
            if ranges and re.fullmatch("[0-9]+-[0-9]+", row[0]):
                begin, end = map(number, row[0].split("-"))
                refuse_unless(begin == len(words) + 1 and covered < begin < end <= size)
                covered = end
            elif ranges and re.fullmatch(r"[0-9]+\.[0-9]+", row[0]):
                nodes += 1
                refuse_unless([*map(number, row[0].split("."))] == [len(words), nodes])
            else:
                refuse_unless(number(row[0]) == len(words) + 1)
                words.append(row)
                nodes = 0
        refuse_unless(words)
        check_tree([head(row[6]) for row in words])
        sentences.append(words)
    return sentences


def read_tsv(raw: bytes) -> list[list[list[str]]]:
    """Return the fields of every word of every sentence."""
    sentences = [[line.split("\t") for line in group] for group in groups(text_lines(raw))]
    width = len(sentences[0][0])
    refuse_unless(width <= 3)
    for sentence in sentences:
        for row in sentence:
            refuse_unless(len(row) == width)
            refuse_unless(all(row))
        if width == 3:
            check_tree([head(row[2]) for row in sentence])
    return sentences


def read_text(raw: bytes) -> list[list[str]]:
    """Return the words of every sentence."""
    lines = [re.findall("[^ \t]+", line) for line in text_lines(raw)]
    sentences = [line for line in lines if line]
    refuse_unless(sentences)
    return sentences


def read_brackets(raw: bytes) -> list:
    """Return nested tuples: ``(label, child, ...)`` for a phrase, ``(tag, word)`` for a leaf."""
    tokens = re.findall(r"[()]|[^() \t\n]+", "\n".join(text_lines(raw)))
    place = 0

    def tree():
        nonlocal place
        refuse_unless(place < len(tokens) and tokens[place] == "(")
        place += 1
        label = ""
        if place < len(tokens) and tokens[place] not in "()":
            label = tokens[place]
            place += 1
        if label and place < len(tokens) and tokens[place] not in "()":
            children = [tokens[place]]
            place += 1
        else:
            children = []
            while place < len(tokens) and tokens[place] == "(":
                children.append(tree())
        refuse_unless(children and place < len(tokens) and tokens[place] == ")")
        place += 1
        return (label, *children)

    trees = []
    while place < len(tokens):
        trees.append(tree())
    refuse_unless(trees)
    return trees


def leaves(tree) -> list[tuple[str, str]]:
    if isinstance(tree[1], str):
        return [tree]
    return [leaf for child in tree[1:] for leaf in leaves(child)]


def phrases(tree, start: int = 0, above: int = -1, found=None) -> list[tuple[str, int, int, int]]:
    """List (label, parent, first leaf, one past the last leaf), parents before children."""
    found = [] if found is None else found
    if isinstance(tree[1], str):
        return found
    mine = len(found)
    found.append((tree[0], above, start, start + len(leaves(tree))))
    for child in tree[1:]:
        phrases(child, start, mine, found)
        start += len(leaves(child))
    return found
