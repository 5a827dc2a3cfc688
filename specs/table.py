"""The table of criteria: which spec counts which, and which flaws it catches.

After a change of a spec: ``python -m specs.table > docs/criteria.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import specs
from harness import Check, Spec

_HEAD = """\
# Criteria

Generated from the specs by `python -m specs.table > docs/criteria.md`. A criterion is one property
of a right answer; a spec counts it at a level, for some points. Flaws are known mistakes, which the
tests prove to be caught: {flaws} of them in {specs} specs, by {criteria} criteria in {checks}
checks.

| criterion | true of a right answer | spec | level | points | flaws that it catches |
|---|---|---|---|---|---|
"""


def table(every: Sequence[Spec]) -> str:
    """Return the page for these specs, in Markdown: criteria sorted by id, specs in their order."""
    criteria = sorted({check.id for spec in every for check in spec.checks})
    head = _HEAD.format(
        flaws=len({(flaw.id, flaw.title) for spec in every for flaw in spec.flaws}),
        specs=len(every),
        criteria=len(criteria),
        checks=sum(len(spec.checks) for spec in every),
    )
    return head + "\n".join(row for criterion in criteria for row in _rows(criterion, every)) + "\n"


def _rows(criterion: str, every: Sequence[Spec]) -> Iterator[str]:
    name, said = f"`{criterion}`", set[str]()
    for spec in every:
        for check in spec.checks:
            if check.id == criterion:
                title = "" if check.criterion.title in said else _cell(check.criterion.title)
                said.add(check.criterion.title)
                cells = [name, title, spec.name, check.level, str(check.points)]
                yield f"| {' | '.join([*cells, caught(spec, check)])} |"
                name = ""


def caught(spec: Spec, check: Check) -> str:
    """List the flaws of a spec that fail one of its checks, at least."""
    return ", ".join(flaw.id for flaw in spec.flaws if check.id in flaw.caught_by)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    """Print the page for all specs."""
    print(table([specs.load(name) for name in specs.TITLES]), end="")


if __name__ == "__main__":
    main()
