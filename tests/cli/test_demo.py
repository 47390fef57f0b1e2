"""`syntagma demo`: what it says and writes."""

from __future__ import annotations

import pytest

from syntagma.experiments import demonstration


@pytest.fixture
def small(monkeypatch):
    """Let the demonstrations learn from little."""
    monkeypatch.setattr(demonstration, "TAGGER_SIZES", (10, 30))
    monkeypatch.setattr(demonstration, "PARSER_SIZES", (10, 30))
    monkeypatch.setattr(demonstration, "HMM_SIZES", (100, 500))
    monkeypatch.setattr(demonstration, "HELD_OUT", 20)


def test_every_model_has_figures_and_a_page_linked_to_the_others(here, tmp_path, small):
    page = tmp_path / "new" / "demo.page.html"
    summary = here("demo", "-o", page, "--json").json
    assert summary["report"] == summary["tagger"]["report"] == str(page)
    assert summary["mst"]["report"] == str(tmp_path / "new" / "demo-mst.page.html")
    assert [size for size, _ in summary["mst"]["learning_curve"]] == [10, 30]
    assert [size for size, _ in summary["hmm"]["learning_curve"]] == [100, 500]
    assert summary["mst"]["uas"] == summary["mst"]["learning_curve"][-1][1]
    assert summary["mst"]["interval"]["low"] <= summary["mst"]["uas"]
    first, second = (
        (page.parent / name).read_text(encoding="utf-8")
        for name in ("demo.page.html", "demo-mst.page.html")
    )
    assert 'href="demo-mst.page.html"' in first
    assert 'href="demo.page.html"' in second
    assert "LAS" in second
    assert "LAS" not in first
    assert "Tagging accuracy" not in second, "the tags were given"


def test_it_is_told_to_people_too(here, small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = here("demo").out.decode()
    assert "A tagger on generated English" in told
    assert "A dependency parser on generated English" in told
    assert "A hidden Markov model on generated sequences" in told
    assert told.count("30 training sentences") == 2
    assert "Open" not in told
    assert not list(tmp_path.iterdir())


def test_pages_do_not_fit_on_standard_output(here):
    refused = here("demo", "-o", "-")
    assert refused.status == 2
    assert "file of its own" in refused.err


@pytest.mark.slow
def test_the_demo_learns_and_writes_its_report(command, tmp_path):
    page = tmp_path / "new" / "demo.html"
    summary = command("demo", "-o", page, "--json").json
    assert summary["report"] == str(page)
    assert summary["tagger"]["accuracy"] > 90
    assert summary["mst"]["uas"] > 90
    assert summary["hmm"]["accuracy"] > 60
    for model in ("tagger", "mst", "hmm"):
        curve = [score for _, score in summary[model]["learning_curve"]]
        assert curve[-1] > curve[0]
    assert "<svg" in page.read_text(encoding="utf-8")
