"""A script as plain JSON, and back: what crosses from whoever asks to the process in which a learner's allocator runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmserving.paging.operation import Operation
from llmserving.paging.script import Script


def plain_script(script: Script) -> dict[str, Any]:
    """Requests and keys of the script are texts or numbers."""
    return {
        "title": script.title,
        "num_blocks": script.num_blocks,
        "block_size": script.block_size,
        "prefix_caching": script.prefix_caching,
        "operations": [_plain(operation) for operation in script.operations],
    }


def script_of(plain: Mapping[str, Any]) -> Script:
    return Script(
        plain["title"],
        tuple(_operation(one) for one in plain["operations"]),
        plain["num_blocks"],
        plain["block_size"],
        plain["prefix_caching"],
    )


def _plain(operation: Operation) -> dict[str, Any]:
    fields = {
        "kind": operation.kind,
        "request": operation.request,
        "tokens": list(operation.tokens),
        "key": operation.key,
        "parent": operation.parent,
    }
    return {name: value for name, value in fields.items() if value not in (None, [])}


def _operation(plain: Mapping[str, Any]) -> Operation:
    return Operation(
        plain["kind"], plain["request"], tuple(plain.get("tokens", ())), plain.get("key"), plain.get("parent")
    )
