"""Which flaw, or pair of flaws, makes the reference give exactly what the submission gave?

Works from the recording alone. Each entry point is explained by itself, from its outputs. What
outputs do not show (gradients, dropout, side effects) is explained by a flaw that fails the same
checks in the same way. What cannot be explained is not given a name: ``known`` then says what
is known.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from harness.candidate import Recorded, is_array
from harness.diagnosis.distance import outputs, usable
from harness.diagnosis.first_wrong_call import Explanation
from harness.diagnosis.replayed_checks import Replay
from harness.diagnosis.search import FlawSearch, SearchResult
from harness.diagnosis.silent_flaws import SilentFlaws
from harness.results import Bug, CheckResult, Diagnosis, Evidence, FollowUp, Outcome, Stage
from harness.spec import Flaw, Spec, disjoint, shape_name

#: A larger difference is not taken for rounding by a reader, even where it is.
SMALL: Final = 1e-3
#: Fewer answers than these prove nothing beside calls that raised.
HANDFUL: Final = 4
#: Failures in so many stages may tell where the mistake is; in more they point everywhere.
FEW: Final = 2


def diagnose(
    spec: Spec, recording: Sequence[Recorded], checks: Sequence[CheckResult], seed: str
) -> tuple[Diagnosis, ...]:
    """Return one diagnosis for each entry point that is wrong in a known way, and for behaviour.

    A submission that passed every check is given none.
    """
    if not any(check.outcome.is_missed for check in checks):
        return ()
    replay = Replay(spec, checks, seed)
    failed = replay.failed.keys()
    known = [spelling for flaw in spec.flaws for spelling in flaw.spellings()]
    flaws = [flaw for flaw in known if replay.compatible(flaw)]
    masked_flaws = [f for f in known if f not in flaws and replay.predicted(f) & failed]
    calls = _settled(spec, [call for call in recording if usable(call)], flaws)
    found: dict[str, SearchResult] = {}
    explained = True
    for point in spec.entry_points:
        of_point = [call for call in calls if call.point is point]
        search = FlawSearch(spec, of_point, failed, flaws, masked_flaws)
        if search.is_right:
            continue
        result = search.found()
        if result is not None and _is_proved(search, result):
            found[point.name] = result
        elif result is not None or not search.is_answered_right:
            explained = False
    unnamed = [call for call in calls if found and call.point.name not in found]
    found = {name: _in_order(one, replay) for name, one in _merged(found).items()}
    said = [(_of_outputs(name, one), one.explanations[0]) for name, one in found.items()]
    if explained and (base := _united(found.values())) is not None:
        style = next((one.spec for one in found.values()), spec)
        hidden = SilentFlaws(style, replay.of(style), base, flaws, calls, unnamed)
        if match := hidden.find():
            evidence = _of_checks(match.checks, len(replay.failed))
            explanations = [_from_the_lowest(one, replay) for one in match.explanations]
            said = [(_describe("submission", explanations, evidence), explanations[0])]
    named = itertools.chain.from_iterable(flaws for _, flaws in said)
    left = replay.not_accounted_for(dict.fromkeys(named))
    complete = explained and not left and not any(one.unexplained for one in found.values())
    return tuple(
        msgspec.structs.replace(one, complete=complete, confidence=_with_rest(one, left))
        for one, flaws in said
        if not left or min(map(replay.lowest_level, flaws)) <= min(map(replay.level_of, left))
    )


def _is_proved(search: FlawSearch, result: SearchResult) -> bool:
    """Tell whether enough calls answered, and as these flaws leave them, to give a name.

    That a call raised is evidence only beside answers: all calls end as the flaws say, or most
    answered. What is refused here raises by its own name, and that is the mistake.
    """
    if search.is_refused or not result.raised:
        return True
    if result.calls < HANDFUL:
        return False
    mostly_answered = result.raised <= result.calls and not search.is_answered_right
    return mostly_answered or not result.unexplained


def _with_rest(one: Diagnosis, left: Sequence[str]) -> str:
    """Return the confidence of a diagnosis, with the checks that it does not account for."""
    if not left:
        return one.confidence
    return f"{one.confidence} It does not explain why these checks fail: {', '.join(left)}."


def _settled(spec: Spec, calls: Sequence[Recorded], flaws: Iterable[Flaw]) -> Sequence[Recorded]:
    """Leave out calls of which nothing can be said when a random flaw may be there.

    That does not depend on what arrays hold, so that one call tells it of all like it.
    """
    silent = [flaw for flaw in flaws if flaw.random and not flaw.shows]
    if not silent:
        return calls
    forms = [_form(call) for call in calls]
    one_of_each = dict(zip(forms, calls, strict=True))
    for flaw in silent:
        made = spec.expect(spec.with_flaws(flaw))
        one_of_each = {form: c for form, c in one_of_each.items() if outputs(c, made) != ()}
    return [call for form, call in zip(forms, calls, strict=True) if form in one_of_each]


def _form(call: Recorded) -> tuple[object, ...]:
    """Return what two calls have in common that differ only in what arrays hold."""
    plain = ("an array" if is_array(argument) else argument for argument in call.arguments)
    return call.point.name, id(call.on), *plain


def is_proven(spec: Spec, diagnosis: Sequence[Diagnosis]) -> bool:
    """Tell whether a submission is the reference with named mistakes that no trivial answer has."""
    trivial = {flaw.id for flaw in spec.flaws if flaw.is_trivial}
    named = {flaw for bug in diagnosis for flaw in bug.flaw.split("+")}
    return bool(diagnosis) and all(bug.complete for bug in diagnosis) and not named & trivial


def unexplained(checks: Sequence[CheckResult], evidence: Sequence[Evidence]) -> str:
    """Say what is known of a wrong submission without a diagnosis, or "" where nothing is.

    That is the first property that broke, in the order of the stages, and a small failing call.
    Nothing is claimed.
    """
    failed = [check for check in checks if check.outcome is Outcome.FAILED]
    if not failed or not evidence:
        return ""
    stages = {check.stage for check in failed if check.stage is not None}
    first = failed[0]
    if 0 < len(stages) <= FEW:  # failures that point everywhere blame none
        order = list(Stage)
        staged = (check for check in failed if check.stage is not None)
        first = min(staged, key=lambda check: order.index(check.stage or Stage.BLOCK))
    stage = f" (stage {first.stage})" if len(stages) <= FEW and first.stage else ""
    call = evidence[0].call
    if shapes := ", ".join(f"{n} {shape_name(a.shape)}" for n, a in evidence[0].inputs.items()):
        call += f" with {shapes}"
    return (
        "No known mistake, nor two together, gives these results. "
        f"First to break{stage}: {first.title.rstrip('.')}. A small failing call: {call}."
    )


def _united(outputs: Iterable[SearchResult]) -> Explanation | None:
    """Return the flaws of all entry points together, or None where they exclude each other."""
    flaws = itertools.chain.from_iterable(found.explanations[0] for found in outputs)
    base = tuple(dict.fromkeys(flaws))
    return base if disjoint(base) else None


def _merged(found: Mapping[str, SearchResult]) -> dict[str, SearchResult]:
    """Put entry points together that the same flaws explain."""
    merged: dict[str, SearchResult] = {}
    for name, one in found.items():
        names = next((n for n, other in merged.items() if _common(other, one)), None)
        if names is None:
            merged[name] = one
        else:
            merged[f"{names} and {name}"] = _joined(merged.pop(names), one)
    return merged


def _in_order(found: SearchResult, replay: Replay) -> SearchResult:
    ordered = tuple(_from_the_lowest(one, replay) for one in found.explanations)
    return dataclasses.replace(found, explanations=ordered)


def _from_the_lowest(explanation: Explanation, replay: Replay) -> Explanation:
    """Return the flaws with those first that fail checks of the lowest level."""
    return tuple(sorted(explanation, key=replay.lowest_level))


def _common(one: SearchResult, other: SearchResult) -> tuple[Explanation, ...]:
    return tuple(each for each in one.explanations if each in other.explanations)


def _joined(one: SearchResult, other: SearchResult) -> SearchResult:
    return dataclasses.replace(
        one,
        explanations=_common(one, other),
        calls=one.calls + other.calls,
        values=one.values + other.values,
        raised=one.raised + other.raised,
        unexplained=one.unexplained + other.unexplained,
        difference=max(one.difference, other.difference),
        next=min(one.next, other.next),
    )


def _of_outputs(name: str, found: SearchResult) -> Diagnosis:
    if not found.calls:
        none = f"{_counted(found.raised, 'call')} raised, and none answered"
        return _describe(name, found.explanations, none, "raises what the reference raises")
    over = f"over {_counted(found.calls, 'call')} and {found.values:,} values"
    if math.isnan(found.difference):
        said = [f"random, but so made, {over}"]
    elif found.difference > SMALL:  # where rounding may be so large, for logits in the thousands
        said = [f"up to rounding {over}"]
    else:
        said = [f"largest difference {found.difference:.1g} {over}"]
    if raised := found.raised - found.unexplained:
        said.append(f"{_counted(raised, 'call')} raised, as they then do")
    if found.unexplained:
        said.append(f"{_counted(found.unexplained, 'call')} raised for another reason")
    if math.isfinite(found.next):
        said.append(f"the nearest other explanation differs by {found.next:.1g}")
    return _describe(name, found.explanations, "; ".join(said))


def _of_checks(compared: int, failed: int) -> str:
    if compared == failed:
        return f"it fails the same {_counted(failed, 'check')} in the same way"
    return f"equal outputs, and the same result in {compared} of {failed} failed checks, run again"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _describe(
    name: str,
    explanations: Sequence[Explanation],
    evidence: str,
    does: str = "equals the reference",
) -> Diagnosis:
    first, *others = {tuple(f.id for f in one): one for one in explanations}.values()
    title = _title(first)
    if " and " in name:
        does = does.replace("s ", " ", 1)
    asked = (FollowUp(question=flaw.question, answer=flaw.answer) for flaw in first)
    return Diagnosis(
        flaw="+".join(flaw.id for flaw in first),
        title=title,
        stage=first[0].stage,
        stages=tuple(sorted({flaw.stage for flaw in first}, key=[*Stage].index)),
        confidence=f"Your {name} {does} with {title} ({evidence}).",
        alternatives=tuple(_title(other) for other in others),
        questions=tuple(dict.fromkeys(asked)),
        parts=tuple(Bug(id=flaw.id, title=flaw.title, stage=flaw.stage) for flaw in first),
    )


def _title(explanation: Explanation) -> str:
    titles = [flaw.title for flaw in explanation]
    if len(titles) < 3:
        return " and ".join(titles)
    return f"{'; '.join(titles[:-1])}; and {titles[-1]}"
