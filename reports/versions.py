"""Results of earlier versions, read as if they were of the present one."""

from __future__ import annotations

from typing import Any, Final

from harness.results import SCHEMA

VERSION_1: Final = "takehome/1"


def from_version_1(content: dict[str, Any]) -> dict[str, Any]:
    """Return a batch or a card of version 1 as one of version 2.

    A batch then had one ``spec``, and its submissions had none; everything else is new.
    """
    spec = content.get("spec", "")
    now = {**content, "schema": SCHEMA}
    if "result" in content:  # a card
        return {**now, "result": {**content["result"], "spec": spec}}
    now.pop("spec", None)
    submissions = [{**one, "spec": spec} for one in content.get("submissions", ())]
    return {**now, "specs": [spec], "submissions": submissions}
