"""Shows every check of a spec as a pytest item, for a file of one's own.

    pytest --takehome-spec numpy_attention --submission attention.py

The submission runs in a plain process, as with ``takehome check``: for your own code only. ``-k``,
``--junitxml`` and pytest-xdist work as for any test. Nothing but pytest is imported until the
options are given, since every pytest of the environment loads this module.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from harness.candidate import Candidate
    from harness.results import CheckResult
    from harness.spec import Check, Spec


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("takehome", "checks of attention written by hand")
    group.addoption("--submission", type=Path, help="the file to check; goes with --takehome-spec")
    group.addoption("--takehome-spec", metavar="NAME", help="the assignment that it answers")
    group.addoption("--takehome-seed", metavar="SEED", help="repeat the inputs of another run")


def pytest_configure(config: pytest.Config) -> None:
    """Collect the submission, and nothing else, where one is given.

    Raises:
        pytest.UsageError: only one of the two options is given, or there is no such file or spec.
    """
    file, name = config.option.submission, config.option.takehome_spec
    if file is None and name is None:
        return
    if file is None or name is None:
        raise pytest.UsageError("--submission and --takehome-spec go together; give both")
    if not file.is_file():
        raise pytest.UsageError(f"--submission is {file}, expected a file; check the path")
    from harness.errors import UsageError
    from specs import load

    try:
        load(name)
    except UsageError as error:
        raise pytest.UsageError(f"--takehome-spec: {error}") from None
    config.args = [str(file)]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SubmissionFile | None:
    """Collect a submission that is no Python file: a notebook, an archive, a form."""
    if _is_submission(file_path, parent.config) and file_path.suffix != ".py":
        return SubmissionFile.from_parent(parent, path=file_path)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> SubmissionFile | None:
    """Collect a submission instead of importing it as a test module."""
    if _is_submission(module_path, parent.config):
        return SubmissionFile.from_parent(parent, path=module_path)
    return None


def _is_submission(path: Path, config: pytest.Config) -> bool:
    file: Path | None = config.option.submission
    return file is not None and path == file.resolve()


class SubmissionFile(pytest.File):
    """A submission; its items are the checks of its spec."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._opened = contextlib.ExitStack()
        self._candidate: Candidate | None = None
        self.load_failure = ""  #: why no check can run, once that has been said

    def collect(self) -> Iterable[CheckItem]:
        """Yield an item for each check."""
        from specs import load

        spec = load(self.config.option.takehome_spec)
        for check in spec.checks:
            yield CheckItem.from_parent(self, name=check.id, spec=spec, check=check)

    def candidate(self, spec: Spec) -> Candidate:
        """Return the submission, loaded into a process when it is first asked for.

        Raises:
            CandidateError: it does not load.
            Refused: it is not a file that can be graded.
        """
        if self._candidate is None:
            self._candidate = self._opened.enter_context(_opened(self.path, spec))
        return self._candidate

    def teardown(self) -> None:
        """End the process of the submission."""
        self._opened.close()
        self._candidate = None


@contextlib.contextmanager
def _opened(path: Path, spec: Spec) -> Iterator[Candidate]:
    """Load a file into a sandbox process, which ends with the context."""
    import time

    from harness.candidate import Candidate, SandboxSession
    from harness.intake import collect
    from harness.parsing import Parser
    from harness.sandbox import LIMITS, opener

    limits = LIMITS[spec.image]
    with contextlib.ExitStack() as stack:
        parser = stack.enter_context(Parser())
        texts = spec.is_written
        (delivery,) = collect([path], single=True, texts=texts, asked=spec.asked).deliveries
        sandbox = opener("process", spec.image)()
        stack.callback(sandbox.close)
        session = SandboxSession(
            delivery.load(parser),
            sandbox,
            limits,
            arrays=spec.arrays,
            blocked=spec.blocks_fused,
            clock=time.monotonic,
        )
        brief = {point.name for point in spec.entry_points}
        yield Candidate(spec, session, session.load().names & brief)


class CheckNotPassed(Exception):
    """A check did not pass; the report is its message and its hint."""

    def __init__(self, result: CheckResult) -> None:
        self.result = result
        super().__init__(result.message or result.title)


class CheckItem(pytest.Item):
    """One check of a spec."""

    def __init__(self, *, spec: Spec, check: Check, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._spec = spec
        self._check = check
        self.user_properties += [("level", str(check.level)), ("points", check.points)]

    def runtest(self) -> None:
        """Run the check; one that could not run is skipped.

        Raises:
            CheckNotPassed: it did not pass.
        """
        from harness.candidate import run_check
        from harness.errors import CandidateError, Refused
        from harness.results import Outcome

        parent = self.parent
        assert isinstance(parent, SubmissionFile)
        if parent.load_failure:
            pytest.skip(f"follows from: {parent.load_failure}")
        try:
            candidate = parent.candidate(self._spec)
        except (CandidateError, Refused) as error:
            parent.load_failure = str(error)
            pytest.fail(f"the submission does not load: {error}", pytrace=False)
        seed = self.config.option.takehome_seed or secrets.token_hex(8)
        result = run_check(self._check, self._spec, candidate, seed)
        if result.outcome in (Outcome.NOT_RUN, Outcome.NOT_APPLICABLE):
            pytest.skip(result.message)
        if result.outcome is not Outcome.PASSED:
            raise CheckNotPassed(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Say what a check found, without a traceback of the harness."""
        if not isinstance(excinfo.value, CheckNotPassed):
            return super().repr_failure(excinfo, style)
        result = excinfo.value.result
        where = f"{self.path.name}:{result.line}: " if result.line else ""
        lines = [result.title, f"{where}{result.message}", f"hint: {result.hint}"]
        return "\n".join(line for line in lines if line)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the item is, and its title."""
        return self.path, None, f"{self._spec.name}: {self._check.criterion.title}"
