"""``takehome check`` in a terminal: once, or again at every save."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.status import Status
from rich.text import Text

import specs
from harness.commands.check import changes, check_file, is_starter
from harness.commands.check_report import CheckReport, changed
from harness.commands.console import show_repair
from harness.language import Language
from harness.results import Card, CheckResult, SubmissionResult
from harness.spec import Spec


class CheckConsole:
    """Checks one file and prints what its author is told."""

    def __init__(
        self,
        file: Path,
        spec: str | None,
        language: Language,
        console: Console,
        say: Callable[[str], None],
        *,
        repairs: bool,
        verbose: bool,
        quiet: bool,
    ) -> None:
        self._file = file
        self._spec = spec
        self._language = language
        self._console = console
        self._say = say
        self._repairs = repairs
        self._verbose = verbose
        self._quiet = quiet

    def run(self) -> SubmissionResult:
        """Check the file once.

        Raises:
            UsageError: there is no such file, or no assignment can be told from it.
        """
        return self._check(self._load()).result

    def watch(self) -> SubmissionResult:
        """Check the file now and at every save, and say what each save changed.

        Raises:
            UsageError: as ``run``.
        """
        spec, last = self._load(), None
        for _ in changes(self._file):
            if last is not None and self._console.is_terminal:
                self._console.clear()
            card = self._check(spec)
            when = time.strftime("%H:%M:%S")
            text = Text(f"{when} ", style="dim")
            if last is not None:
                text.append_text(changed(last, card, self._language))
            self._print(text)
            last = card
        assert last is not None  # it yields at once
        return last.result

    def _load(self) -> Spec:
        if not self._file.exists():
            next(changes(self._file))  # says so
        spec = specs.load(self._spec or specs.recognise(self._file))
        if spec.arrays == "torch" and not spec.is_written:
            self._say(self._language("loading torch, which takes some seconds …"))
        return spec

    def _check(self, spec: Spec) -> Card:
        total, ended = len(spec.checks), 0
        with Status(self._language("loading …"), console=self._console) as status:

            def follow(result: CheckResult) -> None:
                nonlocal ended
                ended += 1
                done = self._language("{ended} of {total} checks", ended=ended, total=total)
                status.update(done)

            card = check_file(self._file, spec, repairs=self._repairs, follow=follow)
        report = CheckReport(
            card=card,
            file=str(self._file),
            is_starter=is_starter(self._file, spec),
            language=self._language,
            verbose=self._verbose,
            quiet=self._quiet,
        )
        for text in report.lines():
            self._print(text)
        if self._repairs:
            show_repair(card, self._console)
        return card

    def _print(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True)
