"""What a notebook shows has words for its pictures and fetches nothing; and each look sees a fault where there is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.notebook_runs import NOTEBOOKS
from tests.page_looks import fetched_by_markdown, fetched_from_elsewhere, wordless_in_markdown, wordless_pictures

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def shown_in(path: Path) -> list[tuple[str, Any]]:
    cells = nbformat.read(path, as_version=4).cells
    return [(cell.id, output.data) for cell in cells for output in cell.get("outputs", []) if "data" in output]


def prose_of(path: Path) -> list[str]:
    return [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]


@each_notebook
def test_every_stored_picture_has_words_beside_it(path: Path) -> None:
    assert {cell: found for cell, data in shown_in(path) if (found := wordless_pictures(data))} == {}
    assert [found for source in prose_of(path) for found in wordless_in_markdown(source)] == []


@each_notebook
def test_no_stored_output_fetches_anything(path: Path) -> None:
    assert {cell: found for cell, data in shown_in(path) if (found := fetched_from_elsewhere(data))} == {}
    assert [found for source in prose_of(path) for found in fetched_by_markdown(source)] == []


def test_there_are_pictures_to_look_at() -> None:
    pages = [data.get("text/html", "") for path in NOTEBOOKS for _, data in shown_in(path)]
    assert sum("<svg" in page for page in pages) >= 10


@pytest.mark.parametrize(
    "data",
    [
        {"image/png": "iVBOR"},
        {"image/png": "iVBOR", "text/plain": "<Figure size 640x480 with 1 Axes>"},
        {"text/html": '<img src="data:,">'},
        {"text/html": '<div><svg aria-label="a bar without its role"></svg></div>'},
        {"text/html": '<svg role="img" aria-label=" "></svg>'},
    ],
)
def test_a_picture_without_words_is_seen(data: dict[str, str]) -> None:
    assert len(wordless_pictures(data)) == 1


def test_words_beside_a_picture_are_seen() -> None:
    assert wordless_pictures({"image/png": "iVBOR", "text/plain": "Weights 26 GB."}) == []
    named = '<svg role="img" aria-label="a bar"></svg><img alt="a plot"><svg aria-hidden="true"></svg>'
    assert wordless_pictures({"text/html": named}) == []


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://cdn.example/plot.js"></script>',
        "<script>import('//cdn.example/plot.js')</script>",
        '<img alt="a plot" src="http://example.org/plot.png">',
        '<link rel="stylesheet" href="//example.org/style.css">',
        '<p style="background:url(https://example.org/a.png)">text</p>',
        "<style>@import url(https://example.org/a.css);</style>",
        '<svg role="img" aria-label="a"><use xlink:href="https://example.org/a.svg#b"/></svg>',
    ],
)
def test_whatever_is_fetched_is_seen(page: str) -> None:
    assert len(fetched_from_elsewhere({"text/html": page})) == 1


def test_a_link_and_a_namespace_fetch_nothing_and_a_script_may_fetch_anything() -> None:
    page = (
        '<svg xmlns="http://www.w3.org/2000/svg"></svg><a href="https://example.org">read on, https://example.org</a>'
    )
    assert fetched_from_elsewhere({"text/html": page}) == []
    assert fetched_from_elsewhere({"application/javascript": "1"}) == ["application/javascript"]


def test_pictures_in_prose_are_seen() -> None:
    assert wordless_in_markdown("![](a.png) and ![a bar](b.png)") == ["a.png"]
    assert fetched_by_markdown("![a bar](https://example.org/b.png) and [a page](https://example.org)") == [
        "https://example.org"
    ]
