"""The published JSON Schema of ``results.json``.

After a change of the result types: ``python -m reports.schema > docs/results.schema.json``.
"""

from __future__ import annotations

import json

from harness.results import SCHEMA, schema


def render_schema() -> str:
    """Return the schema as it stands in ``docs/results.schema.json``."""
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"results.json ({SCHEMA})",
        **schema(),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(render_schema(), end="")
