"""Renderers of results; they know ``harness.results`` and nothing else."""

from reports.candidate import render_candidate
from reports.files import (
    Taken,
    Unreadable,
    Unwritable,
    context_of,
    load,
    load_cards,
    prepare,
    remove_card,
    write,
    write_candidate,
    write_card,
)
from reports.index import render_index
from reports.junit import render_junit
from reports.opinions import Opinions
from reports.placed import PlacedCard, write_placed
from reports.scorecard import Context, render_card
from reports.summary import render_summary
from reports.table import render_csv

__all__ = [
    "Context",
    "Opinions",
    "PlacedCard",
    "Taken",
    "Unreadable",
    "Unwritable",
    "context_of",
    "load",
    "load_cards",
    "prepare",
    "remove_card",
    "render_candidate",
    "render_card",
    "render_csv",
    "render_index",
    "render_junit",
    "render_summary",
    "write",
    "write_candidate",
    "write_card",
    "write_placed",
]
