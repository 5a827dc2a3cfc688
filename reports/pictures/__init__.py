"""Pictures of evidence: laid out here, drawn by ``templates/parts/pictures.html``.

Every picture says the same in words, and marks what is wrong by sign and weight, not by colour
alone.
"""

from __future__ import annotations

from harness.results import Heat, Picture, Rearrangement, Visibility
from reports.pictures import curves, heat, origins, reach
from reports.pictures.grid import Figure

__all__ = ["Figure", "drawn"]


def drawn(picture: Picture) -> Figure:
    """Lay out a picture of any kind."""
    match picture:
        case Heat():
            return heat.draw(picture)
        case Visibility():
            return reach.draw(picture)
        case Rearrangement():
            return origins.draw(picture)
    return curves.draw(picture)
