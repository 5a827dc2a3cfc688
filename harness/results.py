"""The result types and their JSON; every report is rendered from this module alone.

Sentences for people stand here in English, beside the id by which another language finds them:
titles and hints go by the id of their check or flaw, a cause by its ``kind`` and ``values``.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from typing import Annotated, Any, Final

import msgspec

SCHEMA: Final = "takehome/2"


class Outcome(enum.StrEnum):
    """How one check ended."""

    PASSED = "passed"
    FAILED = "failed"  #: the answer is wrong
    RAISED = "raised"  #: the candidate's code raised
    TIMED_OUT = "timed_out"
    OUT_OF_RESOURCES = "out_of_resources"
    CRASHED = "crashed"
    PROTOCOL_VIOLATION = "protocol_violation"
    NOT_RUN = "not_run"  #: it could only have met the cause again, or the submission had ended
    NOT_APPLICABLE = "not_applicable"  #: not offered, or not measurable in this sandbox
    INVALID = "invalid"  #: the harness or the sandbox broke; never scored

    @property
    def is_missed(self) -> bool:
        """Whether a check that ended so keeps its level from being reached."""
        return self not in (Outcome.PASSED, Outcome.NOT_APPLICABLE)


#: Outcomes of checks that say nothing against a submission by themselves.
SAYING_NOTHING: Final = frozenset({Outcome.PASSED, Outcome.NOT_RUN, Outcome.NOT_APPLICABLE})


class Verdict(enum.StrEnum):
    """What a submission as a whole came to."""

    PASSED = "passed"  #: every pass-level check passed
    FAILED = "failed"
    UNGRADEABLE = "ungradeable"  #: refused at intake, or no entry point; never scored
    AWAITING_REVIEW = "awaiting_review"  #: a person has yet to read it
    INVALID = "invalid"  #: the harness or the sandbox broke; never scored


class Level(enum.StrEnum):
    """The level a check belongs to, and the level a submission reached."""

    NONE = "none"
    PASS = "pass"
    GOOD = "good"
    EXCELLENT = "excellent"


#: Lowest first.
LEVELS: Final = (Level.NONE, Level.PASS, Level.GOOD, Level.EXCELLENT)


class Facet(enum.StrEnum):
    """What a check looks at."""

    SHAPE = "shape"
    WEIGHTS = "weights"
    NUMERIC = "numeric"
    BEHAVIOUR = "behaviour"
    STABILITY = "stability"
    EFFICIENCY = "efficiency"


class Stage(enum.StrEnum):
    """The part of attention that a flaw replaces."""

    SCORE = "score"
    SCALE = "scale"
    MASK = "mask"
    NORMALISE = "normalise"
    AGGREGATE = "aggregate"
    HEADS = "heads"
    PROJECTION = "projection"
    ENCODING = "encoding"
    CACHE = "cache"
    BLOCK = "block"
    CONTRACT = "contract"  #: what a call takes and returns, whatever the numbers


#: Points, earned or possible: a multiple of 0.5.
Points = int | Annotated[float, msgspec.Meta(multiple_of=0.5)]

#: A number in JSON: a float, or one of "nan", "inf", "-inf".
Number = float | str


def number(value: float) -> Number:
    """Spell a float so that strict JSON can carry it."""
    value = float(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


class Mismatch(msgspec.Struct, frozen=True, kw_only=True):
    """Where an array is furthest from what was expected, and by how much."""

    output: str  #: which output, e.g. "weights"
    index: tuple[int, ...]
    actual: Number
    expected: Number
    allowed: Number  #: the rounding bound at this element
    ratio: Number  #: |actual - expected| / allowed
    differing: int
    total: int


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """One check of one submission."""

    id: str
    title: str  #: a statement that is true of a right answer
    outcome: Outcome
    level: Level
    facet: Facet
    points: Points
    earned: Points
    message: str = ""  #: the fact
    hint: str = ""  #: the remedy
    note: str = ""  #: what is to be known of a passing answer, or that an error was borderline
    seconds: float = 0.0
    line: int | None = None  #: the candidate's line, when their code raised
    file: str = ""  #: the candidate's file that the line is in
    mismatch: Mismatch | None = None
    stage: Stage | None = None  #: the one stage it looks at, if it looks at one only
    question: str = ""  #: what an interviewer can ask when it failed; interviewer only
    answer: str = ""  #: what a good answer contains; interviewer only


def shared_message(ended: Iterable[tuple[Outcome, str]]) -> str:
    """Return the message of several failing checks that all say the same, or "".

    It is then about none of them, but about the submission.
    """
    messages = [said for how, said in ended if how not in SAYING_NOTHING]
    return messages[0] if len(messages) > 1 and len(set(messages)) == 1 else ""


class FollowUp(msgspec.Struct, frozen=True, kw_only=True):
    """A question that an interviewer can ask next."""

    question: str
    answer: str = ""  #: what a good answer contains
    written: str = ""  #: number of the written question that it is, if it is one
    points: tuple[KeyPoint, ...] = ()  #: what a good answer says, by level


class Bug(msgspec.Struct, frozen=True, kw_only=True):
    """One mistake that has a name."""

    id: str  #: of the flaw
    title: str
    stage: Stage


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """Flaws, or a class of equal flaws, that together reproduce the submission's outputs."""

    flaw: str  #: ids joined by "+" for a pair
    title: str
    stage: Stage
    confidence: str  #: the evidence in words
    stages: tuple[Stage, ...] = ()  #: those of all flaws of a pair
    alternatives: tuple[str, ...] = ()  #: titles of flaws that are the same function
    questions: tuple[FollowUp, ...] = ()  #: of each flaw, one question once; interviewer only
    complete: bool = False  #: with the others, it accounts for every wrong output
    parts: tuple[Bug, ...] = ()  #: each flaw by itself

    @property
    def bugs(self) -> tuple[Bug, ...]:
        """Return each flaw by itself; results of earlier versions have them as one only."""
        return self.parts or (Bug(id=self.flaw, title=self.title, stage=self.stage),)


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """Where and under which limits the submissions ran."""

    takehome: str
    sandbox: str  #: "container" or "process"
    isolated: bool
    image: str = ""  #: image id
    runtime: str = ""
    python: str = ""
    numpy: str = ""
    torch: str = ""
    limits: dict[str, str] = {}  #: name -> value with its unit


class KeyPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a good written answer says; an interviewer marks how far it does."""

    id: str  #: number of the question, a dot, and a number, e.g. "12.2"
    text: str
    text_zh: str = ""  #: the same in Chinese
    level: Level
    points: Points = 1  #: more for what a machine was to read and could not
    mark: Points | None = None  #: 0, 0.5 or 1 of the points; None before it is marked


class RedFlag(msgspec.Struct, frozen=True, kw_only=True):
    """Something that only a wrong answer says; it tells a reviewer what to look for."""

    text: str
    text_zh: str = ""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One question of a written assignment, with the submission's answers to it."""

    id: str
    part: str  #: title of the part that it belongs to
    part_zh: str = ""  #: the same in Chinese
    text: str
    text_zh: str = ""  #: the same in Chinese
    program: str = ""  #: code that is asked about, its lines numbered
    answers: dict[str, str] = {}  #: name of a field -> what was written there
    points: tuple[KeyPoint, ...] = ()  #: none where the answer is checked by machine alone
    red_flags: tuple[RedFlag, ...] = ()  #: interviewer only
    model_answer: str = ""  #: what a full answer may look like; interviewer only
    model_answer_zh: str = ""
    note: str = ""  #: what a reviewer remarked on the answer
    #: of the code in the answer, graded by an assignment of its own; it changes no verdict
    code: Card | None = None


class Reviewed(msgspec.Struct, frozen=True, kw_only=True):
    """What the key points of one level were marked with in all."""

    level: Level
    marked: Points
    total: int


class CauseKind(enum.StrEnum):
    """The first question before the checks that a submission answered with no."""

    LOAD = "load"  #: does it load?
    PACKAGE = "package"  #: is what it imports installed?
    DEFINITION = "definition"  #: is what the brief asks defined?
    CALL = "call"  #: does a call take what the brief gives it, in that order?
    RETURN = "return"  #: does a call return as many values as asked, of the right kind?
    SHAPE = "shape"  #: are they of the right shape?
    RAISED = "raised"  #: does a call answer at all?
    LIMIT = "limit"  #: did it stay in its limits?


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Why nothing that follows could be checked: the fact, and where it lies in the source."""

    kind: CauseKind
    text: str
    file: str = ""
    line: int | None = None
    check: str = ""  #: the first check that met it
    values: dict[str, str] = {}  #: what stands in the text besides its fixed words


class SubmissionResult(msgspec.Struct, frozen=True, kw_only=True):
    """One submission against one spec, without evidence."""

    id: str
    spec: str = ""
    sha256: str
    verdict: Verdict
    reason: str = ""
    cause: Cause | None = None
    card: str = ""  #: path of the card's page, relative to the results
    level: Level = Level.NONE
    earned: Points | None = None  #: None when it is not scored
    possible: Points = 0
    not_offered: tuple[str, ...] = ()  #: what the brief asks and this submission does not have
    interface: dict[str, Any] | None = None  #: how its entry points were bound, where adapted
    diagnosis: tuple[Diagnosis, ...] = ()
    next_questions: tuple[FollowUp, ...] = ()  #: where nothing is wrong; interviewer only
    conventions: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    review: tuple[Reviewed, ...] = ()  #: of written answers, once an interviewer has read them
    reviewers: tuple[str, ...] = ()  #: who marked them
    graded: str = ""  #: when; ISO 8601, in UTC
    seconds: float = 0.0
    exchanges: int = 0  #: round trips to the sandbox


class BatchResults(msgspec.Struct, frozen=True, kw_only=True):
    """A whole batch: the content of ``results.json``."""

    schema: str = SCHEMA
    specs: tuple[str, ...]
    title: str
    seed: str  #: secret; present for the interviewer only
    started: str = ""  #: ISO 8601, in UTC
    finished: str = ""
    environment: Environment
    submissions: tuple[SubmissionResult, ...] = ()
    ignored: tuple[str, ...] = ()  #: entries of the folder that are not submissions


class Array(msgspec.Struct, frozen=True, kw_only=True):
    """A small recorded array, row-major."""

    dtype: str
    shape: tuple[int, ...]
    values: tuple[Number, ...]


class Heat(msgspec.Struct, frozen=True, kw_only=True, tag="heat"):
    """One matrix of an output, as it should be and as it is."""

    output: str
    place: str  #: where it sits on the leading axes, e.g. "[0, 1]"; "" for the only one
    rows: str  #: what a row is, e.g. "query"
    columns: str
    corner: tuple[int, int] = (0, 0)  #: where its first cell lies, when it is a part only
    whole: tuple[int, int]  #: rows and columns of the whole matrix
    expected: tuple[tuple[Number | None, ...], ...]  #: None where any finite value is right
    actual: tuple[tuple[Number, ...], ...]
    wrong: tuple[tuple[bool, ...], ...]
    probabilities: bool = False  #: each row should sum to 1


class Reach(enum.StrEnum):
    """What becomes of one query and one key."""

    OPEN = "open"  #: allowed, and seen
    CLOSED = "closed"  #: blocked, and not seen
    LEAK = "leak"  #: blocked, and seen all the same
    LOST = "lost"  #: allowed, and not seen
    FREE = "free"  #: the query has no allowed key; any finite answer is right
    NAN = "nan"  #: the answer is not a number


class Visibility(msgspec.Struct, frozen=True, kw_only=True, tag="visibility"):
    """Which keys influence which queries, and which may; or slices of the features, for heads."""

    found_by: str  #: "weights", "change", "mask" or "slice": how what is seen was found out
    place: str
    rows: str
    columns: str
    corner: tuple[int, int] = (0, 0)
    whole: tuple[int, int]
    cells: tuple[tuple[Reach, ...], ...]
    amounts: tuple[tuple[Number, ...], ...] = ()  #: the weights, where they are known


class Rearrangement(msgspec.Struct, frozen=True, kw_only=True, tag="rearrangement"):
    """Where each element of an output was taken from; indices are row-major into the source."""

    source: str
    source_shape: tuple[int, ...]
    output: str
    shape: tuple[int, ...]  #: as it should be
    expected: tuple[int, ...]
    actual_shape: tuple[int, ...]
    actual: tuple[int | None, ...]  #: None for a value that is not in the source


class Curves(msgspec.Struct, frozen=True, kw_only=True, tag="curves"):
    """Columns of an output along its rows, as they should be and as they are."""

    output: str
    call: str
    along: str  #: what a row is, e.g. "position"
    columns: tuple[int, ...]
    wrong: int  #: how many of all columns differ
    total: int
    expected: tuple[tuple[Number, ...], ...]  #: one tuple per column
    actual: tuple[tuple[Number, ...], ...]


Picture = Heat | Visibility | Rearrangement | Curves


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One failing call of the smallest size: what went in, what came out, what was expected."""

    check: str
    call: str  #: e.g. "attention(Q, K, V, mask)"; of an object, "model(q, k, v)"
    made: str = ""  #: how the object was made that was called, e.g. "MultiHeadAttention(8, 2)"
    arrays: str = "numpy"  #: what the inputs are given as: "numpy" or "torch"
    inputs: dict[str, Array] = {}
    expected: dict[str, Array] = {}
    actual: dict[str, Array] = {}
    wrong: dict[str, tuple[int, ...]] = {}  #: of each output, which values are wrong, row-major
    pictures: tuple[Picture, ...] = ()


class CardSource(msgspec.Struct, frozen=True, kw_only=True):
    """One file of the submission; ``html`` is its highlighted form, made in a limited child."""

    name: str
    text: str
    html: str = ""


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """An edit of the submission's own source under which every check passes."""

    description: str  #: what is changed, in a line
    diff: str  #: unified
    lines: int  #: how many lines it changes
    checks: int  #: how many pass with it: all
    runs: int  #: how many edited versions were run to find it


class RepairSearch(msgspec.Struct, frozen=True, kw_only=True):
    """How far a repair was looked for."""

    versions: int = 0  #: edited versions that were run
    is_finished: bool = True  #: False when time ran out before the last of them


class OwnTestsRemark(enum.StrEnum):
    """Why a candidate's own tests told less than they might have."""

    NONE = ""
    NOT_READ = "not_read"  #: a file of tests does not load, or there is no test in it
    NEVER_CALLED = "never_called"  #: they call nothing that the brief names
    NONE_PASS = "none_pass"  #: no test passes with a right answer
    TOO_SLOW = "too_slow"  #: the time ran out before every known bug was tried
    ENDED = "ended"  #: they ended what they ran in


class OwnTests(msgspec.Struct, frozen=True, kw_only=True):
    """What a candidate's own tests find, by their own word: it earns nothing. Interviewer only."""

    collected: int = 0
    passing: int = 0  #: with a right answer; the others were left out
    failing: tuple[str, ...] = ()  #: some of those that fail with a right answer
    found: tuple[Bug, ...] = ()
    missed: tuple[Bug, ...] = ()
    known: int = 0  #: bugs that there are; some may not have been tried
    remark: OwnTestsRemark = OwnTestsRemark.NONE


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """One submission with its evidence: the content of ``cards/<slug>.json``."""

    schema: str = SCHEMA
    spec: str
    title: str
    environment: Environment
    result: SubmissionResult
    sources: tuple[CardSource, ...] = ()
    log: str = ""  #: what the submission printed, sanitised and capped
    evidence: tuple[Evidence, ...] = ()
    repair: Repair | None = None  #: interviewer only
    search: RepairSearch | None = None  #: for a repair; None where none was looked for
    own_tests: OwnTests | None = None  #: None where there are none, or they were not run
    questions: tuple[Question, ...] = ()  #: of a written assignment


def to_json(value: msgspec.Struct) -> bytes:
    """Encode a result; every number that is not finite must already be spelled by ``number``."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1)


def schema() -> dict[str, object]:
    """Return the JSON Schema of ``results.json``."""
    return msgspec.json.schema(BatchResults)
