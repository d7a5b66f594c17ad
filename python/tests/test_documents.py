"""The examples of the documentation are run."""

from __future__ import annotations

import doctest

from conftest import ROOT

import rtflash


def test_examples_of_the_page() -> None:
    page = str(ROOT / "docs" / "python.md")
    found = doctest.testfile(page, module_relative=False, optionflags=doctest.FAIL_FAST)
    assert found.failed == 0 and found.attempted > 20


def test_examples_of_the_package() -> None:
    found = doctest.testmod(rtflash)
    assert found.failed == 0 and found.attempted > 3
