"""Who measures again after answering, by "Run all" say: what was worked out from the recordings before counts as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llmserving.exercises.read_recording import MOST_EARLIER

Place = tuple[str, str]
"""Of an answer in the data: the exercise's id and the part's name."""


def well_formed_earlier(answer: Mapping[str, Any]) -> bool:
    """The recordings before the last are numbered in order, each before the next; what they hold is judged elsewhere."""
    places = [entry["place"] for entry in answer["earlier"]] + [answer["place"]]
    whole = all(isinstance(place, int) and not isinstance(place, bool) for place in places)
    return whole and len(places) <= MOST_EARLIER + 1 and places == sorted(set(places))


def as_they_stood(data: Mapping[str, Any], recorded: Mapping[Place, Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The data as it is, then with the recordings as they stood before each time that one was made again, latest first.

    recorded: the well-formed answers among the data that are recordings. One that did not exist yet is taken as it first was.
    """
    yield data
    histories = {
        at: [*((entry["place"], entry["fields"]) for entry in answer["earlier"]), (answer["place"], answer["fields"])]
        for at, answer in recorded.items()
        if "earlier" in answer
    }
    moments = sorted({place for history in histories.values() for place, _ in history}, reverse=True)
    for moment in moments[1:]:
        then = dict(data)
        for (exercise_id, name), history in histories.items():
            fields = next((fields for place, fields in reversed(history) if place <= moment), history[0][1])
            parts = then[exercise_id]["parts"]
            then[exercise_id] = {**then[exercise_id], "parts": {**parts, name: {**parts[name], "fields": fields}}}
        yield then
