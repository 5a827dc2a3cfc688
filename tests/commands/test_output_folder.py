from pathlib import Path

import msgspec
import pytest

from harness.commands.output_folder import OutputFolder
from harness.results import Verdict
from tests.reports import samples


@pytest.mark.parametrize("for_candidates", [False, True])
def test_a_submission_whose_card_is_taken_has_no_score_and_no_card(
    tmp_path: Path, for_candidates: bool
) -> None:
    folder = OutputFolder(tmp_path, for_candidates=for_candidates)
    first = samples.right()
    assert folder.write_card(first) == first.result
    renamed = msgspec.structs.replace(first.result, id="another")
    result = folder.write_card(msgspec.structs.replace(first, result=renamed))
    assert (result.verdict, result.earned, result.card) == (Verdict.INVALID, None, "")
    assert f"is the card of {first.result.id}" in result.reason
