"""`python -m llmserving plan MODEL GPU` and `bandwidth`: the library's questions from a terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from llmserving import bandwidth_command, plan_command
from llmserving.reader_may_leave import reader_may_leave


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 where it has an answer, 2 with a sentence on stderr where the question makes no sense.

    1 where the question makes sense and not all of the answer could be had; the sentences on stderr say what is missing.
    130, as shells have it, where it was interrupted.
    """
    parser = argparse.ArgumentParser(prog="python -m llmserving", description="How large language models are served.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    plan_command.add_parser(commands)
    bandwidth_command.add_parser(commands)
    asked = parser.parse_args(arguments)
    try:
        answer = asked.run(asked)
    except (ValueError, TypeError) as refusal:
        print(f"{parser.prog} {asked.command}: {refusal}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{parser.prog} {asked.command}: stopped before there was an answer", file=sys.stderr)
        return 130
    words, status = answer if isinstance(answer, tuple) else (str(answer), 0)
    if words:
        print(words)
    return int(status)


if __name__ == "__main__":
    with reader_may_leave():
        sys.exit(main())
