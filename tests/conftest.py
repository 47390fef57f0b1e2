"""Markers for slow tests and tests that need the treebanks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the slow tests too")


def pytest_collection_modifyitems(config, items):
    data = os.environ.get("SYNTAGMA_DATA")
    for item in items:
        if "slow" in item.keywords and not config.getoption("--slow"):
            item.add_marker(pytest.mark.skip(reason="slow: run with --slow"))
        if "realdata" in item.keywords and not (data and Path(data).is_dir()):
            item.add_marker(pytest.mark.skip(reason="SYNTAGMA_DATA names no directory"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The directory of the treebanks."""
    return Path(os.environ["SYNTAGMA_DATA"])
