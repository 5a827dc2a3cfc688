from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from harness.results import to_json
from reports.schema import render_schema
from tests.reports import samples

PUBLISHED = Path(__file__).parents[2] / "docs" / "results.schema.json"


def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(PUBLISHED.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_published_schema_is_current() -> None:
    assert PUBLISHED.read_text() == render_schema()


def test_the_results_of_a_batch_are_valid() -> None:
    validator().validate(json.loads(to_json(samples.batch())))


@pytest.mark.parametrize(
    ("key", "value"), [("verdict", "excused"), ("earned", "many"), ("checks", None), ("level", 3)]
)
def test_results_with_a_wrong_value_are_not_valid(key: str, value: object) -> None:
    content = json.loads(to_json(samples.batch()))
    content["submissions"][0][key] = value
    with pytest.raises(jsonschema.ValidationError):
        validator().validate(content)
