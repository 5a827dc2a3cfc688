"""Writes ``docs/checks/``, a page for each check: ``python -m harness.commands.check_pages``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import harness
import specs
from harness.commands.explain import explanation

FOLDER: Final = Path(harness.__file__).parents[1] / "docs" / "checks"
_INDEX: Final = """\
# Checks

What each check asks, why, a wrong and a right example, and the mistakes that it catches. The same
text is printed by `takehome explain CHECK`. These pages are made from the specs by
`python -m harness.commands.check_pages`.

| check | a right answer |
|---|---|
"""


def pages() -> dict[str, str]:
    """Return the pages by file name."""
    loaded = [specs.load(name) for name in specs.TITLES]
    titles = {check.id: check.criterion.title for spec in loaded for check in spec.checks}
    written = {f"{name}.md": f"# {name}\n\n{explanation(name, loaded)}\n" for name in titles}
    rows = (f"| [{name}]({name}.md) | {title.replace('|', '')} |" for name, title in titles.items())
    return {"README.md": _INDEX + "\n".join(sorted(rows)) + "\n", **written}


def main() -> None:
    """Write the pages, and remove those of checks that are gone."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
