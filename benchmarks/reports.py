"""How long it takes to render a card and an index, and how large they get.

Run from the root of the repository: ``python -m benchmarks.reports``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import msgspec

from reports import render_card, render_csv, render_index, render_junit, render_summary
from tests.reports import samples

#: Calls per figure; the median is printed.
REPEATS = 30

#: A long but honest submission: ten times the text of an ordinary one, 41 checks.
LONG = samples.RIGHT * 10


def median(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the median CPU time of a call in milliseconds; the first call compiles templates."""
    call()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1000 * statistics.median(times)


def main() -> None:
    """Print one line per figure."""
    long = msgspec.structs.replace(samples.crashed(), sources=(samples.source(LONG),))
    cards = {
        "a right answer": samples.right(),
        "a named bug": samples.over_queries(),
        "several bugs, a picture of every kind": samples.composite(),
        "a crash": samples.crashed(),
        "a source of 560 lines": long,
        "hostile text": samples.hostile('"<&' * 5000),
    }
    for name, card in cards.items():
        size = len(render_card(card).encode()) / 1000
        print(f"card, {name}: {median(lambda card=card: render_card(card)):.1f} ms, {size:.0f} kB")
    crowd = tuple(
        msgspec.structs.replace(samples.over_queries().result, id=f"submission-{number}")
        for number in range(200)
    )
    batch = msgspec.structs.replace(samples.batch(), submissions=crowd)
    for render in (render_index, render_csv, render_junit, render_summary):
        size = len(render(batch).encode()) / 1000
        took = median(lambda render=render: render(batch), 5)
        print(f"{render.__name__}, 200 submissions: {took:.0f} ms, {size:.0f} kB")


if __name__ == "__main__":
    main()
