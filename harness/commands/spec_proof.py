"""Proves a spec: right answers pass, every mistake is caught, and nothing is for free.

What is asked of our own specs is asked of anybody's. Every finding names the line of the spec
and a remedy.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.candidate import Candidate, DirectSession, run_check, run_checks
from harness.results import CheckResult, Outcome
from harness.spec import Check, Flaw, Spec

Functions = Mapping[str, Callable[..., Any]]

#: Answers that no brief asks for; none may break a check.
GARBAGE: tuple[object, ...] = (
    None,
    "0.5",
    True,
    float("nan"),
    np.zeros(0),
    np.float64(1.0),
    np.full((2, 5, 9), np.nan),
    np.full((2, 5, 7), np.inf),
    np.ones((2, 5, 9), dtype=complex),
    np.ones((2, 5, 7), dtype=bool),
    {"out": 1},
    [[1, 2], [3]],
    (np.ones((2, 3)),) * 3,
    object(),
)


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """One thing that keeps a spec from being trusted."""

    where: str  #: file and line, or "" where the spec has none for it
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


def prove(spec: Spec, seeds: Sequence[str]) -> Iterator[Problem]:
    """Yield what is wrong with a spec, from its wording to its numbers."""
    yield from _wording(spec)
    yield from _reference(spec, seeds)
    yield from _flaws(spec, seeds)
    yield from _trivial_answers(spec, seeds[0])
    yield from _garbage(spec, seeds[0])


def _wording(spec: Spec) -> Iterator[Problem]:
    """Find ids used twice, mistakes without a question, and checks that cannot fail."""
    checks = [check.id for check in spec.checks]
    flaws = [flaw.id for flaw in spec.flaws]
    for identifier in sorted({name for name in checks if checks.count(name) > 1}):
        yield Problem("", f"check {identifier} is listed twice; keep one")
    for identifier in sorted({name for name in flaws if flaws.count(name) > 1}):
        yield Problem("", f"flaw {identifier} is listed twice; give one another id")
    for flaw in spec.flaws:
        where = _line_of_flaw(spec, flaw)
        if not set(flaw.caught_by) & set(checks):
            yield Problem(where, f"flaw {flaw.id} names no check of the spec in caught_by; add one")
        if not (flaw.title and flaw.question and flaw.answer):
            yield Problem(where, f"flaw {flaw.id} lacks a title, a question or an answer; add it")
    named = {name for flaw in spec.flaws for name in flaw.caught_by}
    for check in spec.checks:
        if check.id not in named:
            yield Problem(
                _line_of_check(check),
                f"check {check.id} is failed by no flaw; add a flaw that it catches, "
                "since a check that cannot fail is none",
            )


def _reference(spec: Spec, seeds: Sequence[str]) -> Iterator[Problem]:
    """Find checks that the reference does not pass with all points."""
    for seed in seeds:
        results, _ = run_checks(spec, _session(spec, spec.assemble(spec.reference)), seed)
        for check, result in zip(spec.checks, results, strict=True):
            if result.outcome is not Outcome.PASSED:
                yield Problem(
                    _line_of_check(check),
                    f"check {check.id} fails the reference at seed {seed} "
                    f"({result.message}); mend the reference, the bound or the check",
                )


def _flaws(spec: Spec, seeds: Sequence[str]) -> Iterator[Problem]:
    """Find flaws that a check which names them does not catch."""
    for flaw in (spelling for each in spec.flaws for spelling in each.spellings()):
        named = [check for check in spec.checks if check.id in flaw.caught_by]
        functions = spec.assemble(spec.with_flaws(flaw))
        candidate = Candidate(spec, _session(spec, functions))
        for check in named:
            passed = [seed for seed in seeds if _passes(check, spec, candidate, seed)]
            if passed:
                yield Problem(
                    _line_of_flaw(spec, flaw),
                    f"flaw {flaw.id} passes check {check.id} at seed {passed[0]}; draw inputs on "
                    "which it shows, or take the check out of its caught_by",
                )


def _passes(check: Check, spec: Spec, candidate: Candidate, seed: str) -> bool:
    return run_check(check, spec, candidate, seed).outcome is Outcome.PASSED


def _trivial_answers(spec: Spec, seed: str) -> Iterator[Problem]:
    """Find checks that give points to constants, noise and echoes.

    Of functions only: what a class returns is made of its parameters.
    """
    functions = spec.assemble(spec.reference)
    if any(inspect.isclass(function) for function in functions.values()):
        return
    for name, replace in TRIVIAL.items():
        answers = {key: replace(function) for key, function in functions.items()}
        results, _ = run_checks(spec, _session(spec, answers), seed)
        for check, result in zip(spec.checks, results, strict=True):
            if result.earned:
                yield Problem(
                    _line_of_check(check),
                    f"check {check.id} gives {result.earned} points to {name}; "
                    "let it earn with the check of the definition (earns_with)",
                )


def _garbage(spec: Spec, seed: str) -> Iterator[Problem]:
    """Find checks that break on an answer of the wrong kind."""
    names = [point.name for point in spec.entry_points]
    for answer in GARBAGE:
        functions = {name: _constant(answer) for name in names}
        results, _ = run_checks(spec, _session(spec, functions), seed)
        for check, result in zip(spec.checks, results, strict=True):
            if result.outcome is Outcome.INVALID:
                yield Problem(
                    _line_of_check(check),
                    f"check {check.id} breaks when {_kind(answer)} comes back "
                    f"({_message(result)}); compare through judge before you compute",
                )


def _session(spec: Spec, functions: Functions) -> DirectSession:
    return DirectSession(functions, arrays=spec.arrays)


def _message(result: CheckResult) -> str:
    return result.message.removeprefix("the check itself broke: ")


def _constant(answer: object) -> Callable[..., object]:
    return lambda *arguments, **keywords: answer


def _kind(answer: object) -> str:
    shape = getattr(answer, "shape", None)
    return type(answer).__name__ if shape is None else f"an array of shape {shape}"


def _filled(fill: Callable[[Any], Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function that returns what the reference returns, with other numbers in it."""

    def replace(function: Callable[..., Any]) -> Callable[..., Any]:
        def trivial(*arguments: Any, **keywords: Any) -> Any:
            returned = function(*arguments, **keywords)
            if isinstance(returned, tuple):
                return tuple(fill(array) for array in returned)
            return fill(returned)

        return trivial

    return replace


def _echo(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the first argument instead."""
    return lambda *arguments, **keywords: arguments[0] if arguments else None


def _noise(array: Any) -> Any:
    generator = np.random.default_rng(0)
    return array * 0 + generator.normal(size=tuple(np.shape(array)))


TRIVIAL: Mapping[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "zeros": _filled(lambda array: array * 0),
    "ones": _filled(lambda array: array * 0 + 1),
    "noise": _filled(_noise),
    "its own input": _echo,
}


def _line_of_check(check: Check) -> str:
    code = check.criterion.body.__code__
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}"


def _line_of_flaw(spec: Spec, flaw: Flaw) -> str:
    """Find the line of a flaw by its id in the file of its first part."""
    for part in flaw.parts.values():
        code = getattr(part, "__code__", None)
        if code is None:
            continue
        file = Path(code.co_filename)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if f'id="{flaw.id}"' in line:
                return f"{file.name}:{number}"
        return f"{file.name}:{code.co_firstlineno}"
    return ""
