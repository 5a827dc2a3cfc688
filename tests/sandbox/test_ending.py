import pytest

from harness.errors import CandidateTimedOut, OutOfResources, SandboxBroken
from harness.sandbox.base import Limits
from harness.sandbox.container.ending import ContainerState, silence, why_ended
from harness.worker.supervisor import EXIT_DEADLINE, EXIT_TAMPERED, EXIT_UNCLEAN


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        ({"ExitCode": 137, "OOMKilled": True}, OutOfResources),
        ({"ExitCode": 1, "OOMKilled": True}, OutOfResources),
        ({"ExitCode": EXIT_DEADLINE}, CandidateTimedOut),
        ({"ExitCode": EXIT_TAMPERED}, OutOfResources),
        ({"ExitCode": EXIT_UNCLEAN}, OutOfResources),
        ({"ExitCode": 137}, SandboxBroken),  # docker kill, or an engine that stops
        ({"ExitCode": 139}, SandboxBroken),
        ({"ExitCode": 0}, SandboxBroken),  # it was told that nobody listens
        ({"ExitCode": 1}, SandboxBroken),  # a defect of the supervisor
        ({"Running": True, "ExitCode": 0}, SandboxBroken),
        ({}, SandboxBroken),
    ],
)
def test_a_submission_answers_for_what_it_can_cause_and_for_nothing_else(state, fault):
    assert type(why_ended(ContainerState.read(state), Limits())) is fault


def test_silence_is_the_submissions_unless_its_container_is_paused():
    assert type(silence(ContainerState(running=True), 5)) is CandidateTimedOut
    assert type(silence(ContainerState(running=True, paused=True), 5)) is SandboxBroken
