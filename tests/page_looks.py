"""Looks at HTML without a browser: pictures that have no words, and whatever a page would fetch from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser
from typing import Any

_ADDRESS = re.compile(r"(?:https?:)?//[\w.-]+")
_MARKDOWN_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)[^)]*\)")


class _Looker(HTMLParser):
    """wordless: start tags of pictures that a screen reader finds nothing to say about. elsewhere: what names another
    machine, but for links, which are followed only when asked to, and the names of XML's namespaces.
    """

    def __init__(self) -> None:
        super().__init__()
        self.wordless: list[str] = []
        self.elsewhere: list[str] = []
        self._in: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        said = given.get("alt" if tag == "img" else "aria-label", "").strip()
        named = said and (tag == "img" or given.get("role") == "img")
        if tag in ("img", "svg", "canvas") and not named and given.get("aria-hidden") != "true":
            self.wordless.append(self.get_starttag_text() or tag)
        for name, value in given.items():
            if not name.startswith("xmlns") and (tag, name) != ("a", "href"):
                self._note(value)
        self._in.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while tag in self._in and self._in.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._in[-1:] in (["style"], ["script"]):
            self._note(data)

    def _note(self, text: str) -> None:
        self.elsewhere += _ADDRESS.findall(text)


def wordless_pictures(data: Mapping[str, Any]) -> list[str]:
    """Of what a cell shows, by mime type: pictures without words, as HTML or as an image beside a text that says nothing."""
    images = [kind for kind in data if kind.startswith("image/")]
    says_nothing = str(data.get("text/plain", "")).strip()[:1] in ("", "<")  # such as <Figure size 640x480 with 1 Axes>
    return [*(images if says_nothing else []), *_looked_at(data.get("text/html", "")).wordless]


def fetched_from_elsewhere(data: Mapping[str, Any]) -> list[str]:
    pages = [data[kind] for kind in ("text/html", "image/svg+xml") if kind in data]
    scripts = [kind for kind in data if "javascript" in kind]
    return [*scripts, *(address for page in pages for address in _looked_at(page).elsewhere)]


def wordless_in_markdown(source: str) -> list[str]:
    bare = [path for alt, path in _MARKDOWN_PICTURE.findall(source) if not alt.strip()]
    return [*bare, *_looked_at(source).wordless]


def fetched_by_markdown(source: str) -> list[str]:
    pictures = [path for _, path in _MARKDOWN_PICTURE.findall(source)]
    return [*_matches(pictures), *_looked_at(source).elsewhere]


def _matches(texts: Iterable[str]) -> list[str]:
    return [address for text in texts for address in _ADDRESS.findall(text)]


def _looked_at(page: str) -> _Looker:
    looker = _Looker()
    looker.feed(page)
    looker.close()
    return looker
