"""How many wrong programs the checks catch, and how often a name given to one is its own.

``python -m benchmarks.mutants [SPEC…] [--every N] [--show]`` makes generic edits of two right
programs per assignment, tells by differential testing which of them are still right, and grades
all of them. Each runs in a process of its own. A name counts when the reference with the named
mistakes gives what the program gives on inputs of another seed.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import itertools
import multiprocessing
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import specs
from benchmarks.differential import truth
from benchmarks.mutations import mutants
from harness.candidate.checks import run_checks
from harness.candidate.functions import Recorded
from harness.candidate.session import DirectSession
from harness.commands.job import make_ready
from harness.diagnosis.all_calls import AllCalls
from harness.diagnosis.diagnosis import diagnose
from harness.diagnosis.distance import usable
from harness.results import CheckResult, Diagnosis, Facet
from harness.spec.spec import Flaw, Spec, disjoint
from harness.threads import ONE_THREAD
from tests.samples import path_of

PROGRAMS = {
    "numpy_attention": ("right_minimal_matmul", "right_where_minus_inf_guard"),
    "torch_sdpa": ("right_masked_fill_finfo", "right_hand_written_softmax"),
    "torch_multi_head": ("right_q_proj_k_proj", "right_fused_in_proj"),
    "torch_single_head": ("right_query_key_value", "right_fused_qkv"),
    "transformer_block": ("right_all_in_one_class", "right_nested_modules"),
    "kv_cache": ("right_tuple_of_tensors", "right_dictionary"),
    "positional_encoding": ("right_exp_of_log", "right_rotate_half"),
    "online_softmax": ("right_flash_style", "right_two_passes"),
}
SECONDS = 60


@dataclasses.dataclass(frozen=True)
class Grading:
    """What became of one program."""

    program: str
    edit: str
    truth: str
    failed: tuple[str, ...]
    names: str
    reproduced: bool


def grade(name: str, program: str, edit: str, source: str) -> Grading:
    """Tell the truth of one program, and what is said of it."""
    warnings.simplefilter("ignore")
    spec = specs.load(name)
    functions = _loaded(source)
    if isinstance(functions, str):
        return Grading(program, edit, "raises", ("does not load",), "", reproduced=False)
    original = _loaded(path_of(name, program).read_text(encoding="utf-8"))
    is_right = truth(name, original, functions)
    checks, recording = _checked(spec, functions, "seed")
    failed = tuple(check.id for check in checks if check.outcome.is_missed)
    costs = all(c.facet is Facet.EFFICIENCY for c in checks if c.outcome.is_missed)
    if failed and costs and is_right == "right":
        is_right = "unclear"  # what it costs, no output tells
    said = diagnose(spec, recording, checks, "seed")
    names = " & ".join(one.flaw for one in said)
    return Grading(program, edit, is_right, failed, names, _reproduced(spec, functions, said))


def _loaded(source: str) -> Any:
    namespace: dict[str, Any] = {"__name__": "submission"}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, "submission.py", "exec"), namespace)
    except Exception as error:
        return type(error).__name__
    return namespace


def _checked(
    spec: Spec, functions: dict[str, Any], seed: str
) -> tuple[tuple[CheckResult, ...], list[Recorded]]:
    wanted = {point.name: functions.get(point.name) for point in spec.entry_points}
    defined = {name: function for name, function in wanted.items() if function is not None}
    return run_checks(spec, DirectSession(defined, arrays=spec.arrays), seed)


def _reproduced(spec: Spec, functions: dict[str, Any], said: Sequence[Diagnosis]) -> bool:
    """Tell whether the named mistakes give what the program gives on inputs of another seed."""
    if not said:
        return False
    flaws = {flaw.id: flaw for flaw in spec.flaws}
    named = [[flaws[id] for id in one.flaw.split("+")] for one in said]
    union = list(dict.fromkeys(flaw for one in named for flaw in one))
    sets = [way for one in (*named, union) for way in itertools.product(*map(Flaw.spellings, one))]
    sets = [one for one in sets if disjoint(one)]
    checks, recording = _checked(spec, functions, "another seed")
    failed = {check.id for check in checks if check.outcome.is_missed}
    explained = []
    for point in spec.entry_points:
        calls = [call for call in recording if call.point is point and usable(call)]
        if not calls or AllCalls(spec, calls, failed).of(()) is not None:
            continue
        explained.append(any(AllCalls(spec, calls, failed).of(one) is not None for one in sets))
    complete = all(one.complete for one in said)
    hidden = {check for flaw in union for check in flaw.caught_by}
    shown = bool(failed & hidden)
    return shown and (all(explained) if complete else any(explained) or not explained)


def _jobs(name: str, every: int) -> Iterator[tuple[str, str, str, str]]:
    for program in PROGRAMS[name]:
        source = path_of(name, program).read_text(encoding="utf-8")
        for edit, text in list(mutants(source))[::every]:
            yield name, program, edit, text


def _in_a_process(job: tuple[str, str, str, str]) -> Grading:
    """Grade one program in a fork, which may hang or die."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def body() -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        send.send(grade(*job))

    process = context.Process(target=body)
    process.start()
    send.close()
    try:
        if receive.poll(SECONDS):
            found: Grading = receive.recv()
            return found
    except EOFError:
        pass
    finally:
        process.kill()
        process.join()
    return Grading(*job[1:3], "raises", ("ended",), "", reproduced=False)


def rows(name: str, every: int) -> list[Grading]:
    """Grade every Nth edit of an assignment's programs."""
    make_ready(specs.load(name))
    return [_in_a_process(job) for job in _jobs(name, every)]


def _print_row(name: str, found: Sequence[Grading]) -> None:
    wrong = [one for one in found if one.truth == "wrong"]
    raising = [one for one in found if one.truth == "raises"]
    killed = sum(bool(one.failed) for one in (*wrong, *raising))
    shown = sum(bool(one.failed) for one in wrong)
    right = [one for one in found if one.truth == "right"]
    failed = sum(bool(one.failed) for one in right)
    named = [one for one in wrong if one.names]
    own = sum(one.reproduced for one in named)
    print(
        f"| {name} | {len(found)} | {_share(killed, len(wrong) + len(raising))} "
        f"| {_share(shown, len(wrong))} | {failed} of {len(right)} | {_share(own, len(named))} |"
    )
    sys.stdout.flush()


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / max(whole, 1):.1f} %)"


def table(names: Sequence[str], every: int, *, show: bool) -> None:
    """Print a row per assignment, and one for all."""
    print("| spec | programs | wrong ones caught | those that answer | right ones failed | names |")
    print("|---|---|---|---|---|---|")
    everything = []
    for name in names or PROGRAMS:
        found = rows(name, every)
        _print_row(name, found)
        everything += found
        if show:
            _print_odd(found)
    _print_row("all", everything)


def _print_odd(found: Sequence[Grading]) -> None:
    for one in found:
        survived = one.truth in ("wrong", "raises") and not one.failed
        blamed = one.truth == "right" and one.failed
        misnamed = one.truth == "wrong" and one.names and not one.reproduced
        if survived or blamed or misnamed:
            what = "survived" if survived else "right, failed" if blamed else "misnamed"
            print(f"  {what}: {one.program} {one.edit} | {one.failed[:5]} | {one.names}")


def main() -> None:
    """Print the table that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="*")
    parser.add_argument("--every", type=int, default=1, help="grade every Nth edit only")
    parser.add_argument("--show", action="store_true", help="print what is not as it should be")
    options = parser.parse_args()
    os.environ |= ONE_THREAD
    table(options.specs, options.every, show=options.show)


if __name__ == "__main__":
    main()
