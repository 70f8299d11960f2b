"""What is promised, how often each promise was looked at, and where it did not hold."""

from __future__ import annotations

from dataclasses import dataclass, field

PRESENT = "every item is stated, answered and checked once, for its points"
CLEAN = "no solution text, key or stored output in the release"
NOT_TOLD = "no statement or lesson holds the right number"
ALONE = "each notebook runs alone, without network, errors or warnings"
UNTOUCHED = "an untouched release scores 0"
REFERENCE = "the reference scores 100 %"
OTHERWISE = "the reference written otherwise scores 100 %"
MISTAKES = "each named mistake fails with its own message"
INSTRUCTOR = "the instructor's own solutions score 100 %"
PROPERTIES = (PRESENT, CLEAN, NOT_TOLD, ALONE, UNTOUCHED, REFERENCE, OTHERWISE, MISTAKES, INSTRUCTOR)


@dataclass
class Tally:
    """How often each property was looked at, and where it did not hold."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PROPERTIES, 0))
    failures: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in PROPERTIES})

    def expect(self, name: str, holds: bool, otherwise: str) -> None:
        self.counts[name] += 1
        if not holds:
            self.failures[name].append(otherwise)

    def add(self, other: Tally) -> None:
        for name in PROPERTIES:
            self.counts[name] += other.counts[name]
            self.failures[name] += other.failures[name]

    @property
    def holds(self) -> bool:
        """False also where a property was never looked at: a check that cannot fail is worse than none."""
        return all(self.counts.values()) and not any(self.failures.values())

    def report(self) -> str:
        lines = []
        for name in PROPERTIES:
            verdict = "FAILED" if self.failures[name] else "ok" if self.counts[name] else "NOT RUN"
            lines.append(f"{verdict:<8}{name}: {self.counts[name] - len(self.failures[name])} of {self.counts[name]}")
            lines += [f"          {failure}" for failure in self.failures[name][:5]]
        return "\n".join(lines)
