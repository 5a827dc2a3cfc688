"""Renderers of results; they know ``harness.results`` and nothing else."""

from reports.candidate import render_candidate
from reports.comparison import render_comparison
from reports.files import (
    Taken,
    Unreadable,
    Unwritable,
    context_of,
    load,
    load_cards,
    neighbours,
    prepare,
    remove_card,
    write,
    write_candidate,
    write_card,
)
from reports.index import render_index
from reports.junit import render_junit
from reports.opinions import Opinions, standing
from reports.placed import PlacedCard, write_placed
from reports.scorecard import Context, render_card, with_neighbours
from reports.sheets import (
    SheetPage,
    SheetsPage,
    marked_answer,
    render_sheet,
    render_sheets,
)
from reports.summary import render_summary
from reports.table import render_csv

__all__ = [
    "Context",
    "Opinions",
    "PlacedCard",
    "SheetPage",
    "SheetsPage",
    "Taken",
    "Unreadable",
    "Unwritable",
    "context_of",
    "load",
    "load_cards",
    "marked_answer",
    "neighbours",
    "prepare",
    "remove_card",
    "render_candidate",
    "render_card",
    "render_comparison",
    "render_csv",
    "render_index",
    "render_junit",
    "render_sheet",
    "render_sheets",
    "render_summary",
    "standing",
    "with_neighbours",
    "write",
    "write_candidate",
    "write_card",
    "write_placed",
]
