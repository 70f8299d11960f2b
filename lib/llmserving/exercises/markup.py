"""The marks in a card's text, a small part of Markdown, as HTML and as plain text.

`code` between backticks, or between more of them where there are backticks in it, is set as it is; *words* between stars
are emphasised, **words** strong. A paragraph between two lines of CODE_FENCE is lines of code.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

CODE_FENCE = "```"

# A star between spaces multiplies, inside what is emphasised too.
_EMPHASIS = re.compile(r"\*(?! )((?:[^*]| \* )+?)(?<! )\*")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)


def code(text: str) -> str:
    """`text` marked as code, whatever is in it; no text stays none."""
    if not text:
        return ""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    # As in Markdown, a space inside each fence is no part of the code.
    room = " " if text.strip() and (text[0] in "` " or text[-1] in "` ") else ""
    return f"{fence}{room}{text}{room}{fence}"


def as_typed(text: str) -> str:
    """`text` as it comes out of a card as it was typed: its words with stars or backticks, which are no marks, as code."""
    return re.sub(r"\S+", lambda word: code(word[0]) if "*" in word[0] or "`" in word[0] else word[0], text)


def marked(text: str) -> str:
    """`text` as HTML."""

    def emphasised(prose: str) -> str:
        strong = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", prose)
        return _EMPHASIS.sub(r"<em>\1</em>", strong)

    return _around_code(html.escape(text), emphasised, "<code>{}</code>").replace("\n", "<br>")


def plain(text: str) -> str:
    """`text` without its marks, further lines indented as a card's are."""
    lines = code_lines(text)
    if lines is not None:
        return lines.replace("\n", "\n  ")

    def emphasised(prose: str) -> str:
        return _EMPHASIS.sub(r"\1", prose.replace("`", "").replace("**", ""))

    return _around_code(text, emphasised, "{}").replace("\n", "\n  ")


def code_lines(paragraph: str) -> str | None:
    """The code of a paragraph that is nothing else."""
    is_code = paragraph.startswith(f"{CODE_FENCE}\n") and paragraph.endswith(f"\n{CODE_FENCE}")
    return paragraph[len(CODE_FENCE) + 1 : -len(CODE_FENCE) - 1] if is_code else None


def _around_code(text: str, change: Callable[[str], str], setting: str) -> str:
    """`text` with its prose changed and each span of code set in `setting`; in code a star multiplies."""
    text = text.replace("\0", "")
    spans = iter([_without_room(span) for _, span in _CODE.findall(text)])
    changed = change(_CODE.sub("\0", text))
    return re.sub("\0", lambda _: setting.format(next(spans)), changed)


def _without_room(span: str) -> str:
    return span[1:-1] if span.startswith(" ") and span.endswith(" ") and span.strip() else span
