"""The examples in README and docs run, and their links lead somewhere."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page):
    failed, _ = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert not failed


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_commands_in_the_readme_exist():
    from syntagma.cli.app import app

    known = {command.name for command in app.registered_commands} | {
        group.name for group in app.registered_groups
    }
    readme = (ROOT / "README.md").read_text()
    used = re.findall(r"^syntagma ([a-z]+) \S+\.\S+ ", readme, flags=re.M)
    used += re.findall(r"^syntagma ([a-z]+) [a-z]+ \S+\.\S+ ", readme, flags=re.M)
    assert used
    assert set(used) <= known
