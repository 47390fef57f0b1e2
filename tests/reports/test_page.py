"""Pages: one self-contained, well-formed file in which all text is inert."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.corpora import Treebank, read_treebank
from syntagma.errors import InputError
from syntagma.evaluation import evaluate
from syntagma.reports import page
from syntagma.reports.page import evaluation_summary, render_evaluation, render_treebank
from syntagma.reports.summary import confusion_table

VOID = {"meta", "link", "input", "br", "hr", "img"}
FORMS = [["The", "cat", "sleeps", "."], ["Dogs", "bark"], ["No"]]
GOLD = Treebank.from_sentences(
    FORMS,
    upos=[["DET", "NOUN", "VERB", "PUNCT"], ["NOUN", "VERB"], ["INTJ"]],
    heads=[[2, 3, 0, 3], [2, 0], [0]],
    labels=[["det", "nsubj", "root", "punct"], ["nsubj", "root"], ["root"]],
)
PREDICTED = GOLD.replace(
    heads=[2, 3, 0, 2, 0, 1, 0],
    tags=["DET", "VERB", "VERB", "PUNCT", "NOUN", "VERB", "INTJ"],
    misc=[f"HeadProb=0.{i}|TagProb=0.9" for i in range(3, 10)],
)


class Checked(HTMLParser):
    """Parse a page, checking that elements nest and that nothing is loaded from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.words = [], [], [], [], []
        self.svgs, self.code = [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append(tag)
        self.ids.append(attributes.get("id"))
        self.links += [v for k, v in attrs if k in ("href", "src", "data", "action", "srcset")]
        assert not any(name.startswith("on") for name in attributes)
        if tag == "svg":
            self.svgs.append(attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.code.append(data)
        elif self.open and self.open[-1] == "script":
            self.code += [] if data.lstrip().startswith("<article") else [data]
        else:
            self.words.append(data)


def check(html):
    parsed = Checked(html)
    for code in parsed.code:
        assert not re.search(r"//|@import|url\(", code)
    ids = [i for i in parsed.ids if i]
    assert len(ids) == len(set(ids))
    for link in parsed.links:
        assert link == "data:," or (link.startswith("#") and link[1:] in ids)
    for svg in parsed.svgs:
        assert svg["role"] == "img"
        assert svg["aria-label"]
    assert parsed.tags.count("main") == parsed.tags.count("h1") == 1
    html.encode()
    return parsed


def test_the_summary_holds_what_the_page_shows():
    summary = evaluation_summary(
        GOLD, PREDICTED, title="Tiny", model={"states": 5}, training_forms={"The", "No"}
    )
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["scores"] == evaluate(GOLD, PREDICTED, training_forms={"The", "No"}).summary()
    assert summary["confusion"]["labels"] == ["NOUN", "VERB", "DET", "INTJ", "PUNCT"]
    assert summary["confusion"]["counts"][0] == [1, 1, 0, 0, 0]
    first = summary["worst"][0]
    assert (first["index"], first["forms"]) == (1, ["Dogs", "bark"])
    assert first["errors"] == {"tags": 0, "heads": 2, "labels": 0}
    assert first["probability"]["heads"] == [0.7, 0.8]
    assert [row["index"] for row in summary["worst"]] == [1, 0]


def test_rare_labels_are_summed_up():
    rng = np.random.default_rng(0)
    names = [f"T{i}" for i in range(30)]
    drawn = rng.choice(names, size=(2, 4000), p=np.arange(1, 31) / 465)
    gold = Treebank.from_sentences([["w"] * 4000], upos=[drawn[0].tolist()])
    tagging = evaluate(gold, gold.replace(tags=drawn[1].tolist())).tagging
    table = confusion_table(tagging, most=5)
    counts = np.array(table["counts"])
    assert table["labels"][-1] == "other"
    assert counts.shape == (6, 6)
    kept = [tagging.labels.index(label) for label in table["labels"][:-1]]
    np.testing.assert_array_equal(counts[:5, :5], tagging.confusion[np.ix_(kept, kept)])
    np.testing.assert_array_equal(counts[:5].sum(axis=1), tagging.confusion[kept].sum(axis=1))


def test_the_evaluation_page():
    curve = {
        "title": "Learning curve", "x_label": "sentences", "y_label": "accuracy",
        "series": [{"name": "a", "x": [1, 2], "y": [50.0, 60.0]}],
    }  # fmt: skip
    model = {"kind": "tagger", "features": 1_234_567, "layers": [1, 2], "settings": {"order": 2}}
    summary = evaluation_summary(GOLD, PREDICTED, title="Tiny", model=model, curves=[curve])
    html = render_evaluation(summary)
    parsed = check(html)
    words = " ".join(" ".join(parsed.words).split())
    for expected in ("Tiny", "UAS without punctuation", "57.14 %", "1,234,567", "order 2", "1, 2",
                     "1 wrong tag, 1 wrong head", "Learning curve", "Brier score"):  # fmt: skip
        assert expected in words
    assert render_evaluation(json.loads(json.dumps(summary))) == html
    assert len(parsed.svgs) == 1 + 2 + 1 + 2


def test_the_page_of_tags_alone_and_of_a_bare_summary():
    gold = Treebank.from_sentences(FORMS, upos=[["A"] * 4, ["B"] * 2, ["A"]])
    parsed = check(render_evaluation(evaluation_summary(gold, gold)))
    assert {"tags"} <= set(parsed.ids)
    assert not {"heads", "worst", "calibration", "model"} & set(parsed.ids)
    scores = {"sentences": 3, "words": 7, "f1": 88.0}
    assert (
        "F1"
        in check(render_evaluation({"title": "Brackets", "version": "1", "scores": scores})).words
    )


def test_the_page_of_a_treebank():
    html = render_treebank(PREDICTED, gold=GOLD, title="Parses")
    parsed = check(html)
    assert len(parsed.svgs) == 3
    assert "1 wrong tag, 1 wrong head" in parsed.words
    assert "wrong-only" in parsed.ids
    plain = check(render_treebank(GOLD, limit=2))
    assert len(plain.svgs) == 2
    assert "the first 2 are shown" in "".join(plain.words)
    assert "wrong-only" not in plain.ids
    assert len(check(render_treebank(Treebank.from_sentences(FORMS))).svgs) == 0
    tagged = Treebank.from_sentences(FORMS, upos=[["DET"] * 4, ["NOUN"] * 2, ["INTJ"]])
    words = check(render_treebank(tagged, gold=GOLD)).words
    assert {"3 wrong tags", "1 wrong tag"} <= set(words)
    assert "head" not in "".join(words), "heads that nobody predicted are not wrong"
    with pytest.raises(InputError, match="sentence 3"):
        render_treebank(GOLD[:2], gold=GOLD)


def test_sentences_far_down_are_folded_but_complete(monkeypatch):
    monkeypatch.setattr(page, "EAGER", 1)
    folded = render_treebank(PREDICTED, gold=GOLD)
    parsed = check(folded)
    assert len(parsed.svgs) == 1
    kept = re.findall(r'<script type="text/plain">(.*?)</script>', folded, flags=re.S)
    assert len(kept) == 2
    assert [len(Checked(block).svgs) for block in kept] == [1, 1]


HOSTILE = [
    "</script>", "<script>x</script>", "]]>", "<!--", "-->", "{{ 1 }}", "&lt;", "</svg>",
    '" onload="x', "javascript:x", "{% raw %}", "</style>", "\x1b", "\ufffe",
]  # fmt: skip
FIELD = st.one_of(
    st.text(st.characters(exclude_characters="\t\r\n\0", codec="utf-8"), min_size=1, max_size=30),
    st.sampled_from(HOSTILE),
)


def twice(words):
    """Make a treebank of two sentences with these strings in every column."""
    heads = [list(range(len(words)))] * 2
    return Treebank.from_sentences([words] * 2, upos=[words] * 2, heads=heads, labels=[words] * 2)


def test_a_tree_too_wide_to_draw_is_shown_as_tags():
    size = page.LONGEST + 1
    heads = [[0] + [1] * (size - 1)]
    treebank = Treebank.from_sentences([["w"] * size], upos=[["X"] * size], heads=heads)
    parsed = check(render_treebank(treebank))
    assert parsed.svgs[0]["class"] == "sy-picture sy-tags"
    assert f"The tree of {size} words is too wide to draw." in parsed.words


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(FIELD.filter(lambda text: text != "_"), min_size=1, max_size=6))
def test_all_text_is_inert(words):
    gold = twice(words)
    parsed, plain = (check(render_treebank(t)) for t in (gold, twice(["a"] * len(words))))
    assert parsed.tags == plain.tags, "no text turned into an element"
    other = gold.replace(tags=words[::-1] * 2)
    check(render_treebank(other, gold=gold, title="".join(words)))
    check(render_evaluation(evaluation_summary(gold, other, bootstrap=9, model={words[0]: words})))


@pytest.mark.realdata
def test_a_page_of_two_thousand_real_trees(data):
    treebank = read_treebank(data / "ud" / "en_ewt-dev.conllu.xz")
    html = render_treebank(treebank, title="English EWT")
    assert len(check(html).svgs) == page.EAGER
    assert html.count("<svg") == len(treebank) == 2001
