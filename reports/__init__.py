"""Renderers of results; they know ``harness.results`` and nothing else."""

from reports.candidate import render_candidate
from reports.comparison import render_comparison
from reports.exports import FORMATS, export
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
    save,
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
    in_language,
    marked_answer,
    render_sheet,
    render_sheets,
)
from reports.summary import render_summary
from reports.table import formula_safe, render_csv
from reports.translation import translated

__all__ = [
    "FORMATS",
    "Context",
    "Opinions",
    "PlacedCard",
    "SheetPage",
    "SheetsPage",
    "Taken",
    "Unreadable",
    "Unwritable",
    "context_of",
    "export",
    "formula_safe",
    "in_language",
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
    "save",
    "standing",
    "translated",
    "with_neighbours",
    "write",
    "write_candidate",
    "write_card",
    "write_placed",
]
