"""Which submissions share passages: copies in disguise are found, independent ones left alone."""

from __future__ import annotations

import ast
import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import specs
from harness.similarity import LookAlike, fingerprint, look_alikes, tokens
from specs import TITLES

SAMPLES = Path(__file__).parents[1] / "sample_submissions"


class Renamed(ast.NodeTransformer):
    """Gives every variable another name."""

    def __init__(self, tree: ast.AST) -> None:
        stored = {
            n.id
            for n in ast.walk(tree)
            if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        }
        taken = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
        self._names = {name: f"v{number}" for number, name in enumerate(sorted(stored | taken))}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self._names.get(node.arg, node.arg)
        return node


def copied(text: str, rng: random.Random) -> str:
    """Return a copy with variables renamed, functions reordered and comments changed."""
    tree = ast.parse(text)
    Renamed(tree).visit(tree)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    rng.shuffle(functions)
    order = iter(functions)
    tree.body = [next(order) if isinstance(n, ast.FunctionDef) else n for n in tree.body]
    lines = ast.unparse(tree).split("\n")  # without the comments there were
    return "\n".join(line + (f"  # {rng.random()}" if rng.random() < 0.2 else "") for line in lines)


def cohorts() -> Iterator[tuple[str, dict[str, str]]]:
    for name in TITLES:
        right = sorted((SAMPLES / name).glob("right_*.py"))
        if right:
            yield name, {path.stem: path.read_text(encoding="utf-8") for path in right}


def pairs_of(spec: str, texts: dict[str, str]) -> set[frozenset[str]]:
    loaded = specs.load(spec)
    prints = {name: fingerprint(text) for name, text in texts.items()}
    digests = {name: name for name in texts}
    found = look_alikes(prints, digests, (loaded.starter, loaded.brief))
    return {frozenset((pair.left, pair.right)) for pair in found}


def test_copies_in_disguise_are_listed_at_95_percent() -> None:
    rng = random.Random(0)
    found = made = 0
    for spec, texts in cohorts():
        copies = {f"{name} again": copied(texts[name], rng) for name in list(texts)[:9]}
        listed = pairs_of(spec, {**texts, **copies})
        wanted = {frozenset((name, name.removesuffix(" again"))) for name in copies}
        found += len(wanted & listed)
        made += len(wanted)
    assert made >= 50
    assert found >= 0.95 * made


def test_at_most_2_percent_of_independent_right_pairs_are_listed() -> None:
    listed = pairs = 0
    for spec, texts in cohorts():
        listed += len(pairs_of(spec, texts))
        pairs += len(list(itertools.combinations(texts, 2)))
    assert pairs >= 200
    assert listed <= 0.02 * pairs


def test_one_file_handed_in_twice_comes_first() -> None:
    prints = dict.fromkeys("abc", fingerprint("x = 1"))
    found = look_alikes(prints, {"a": "1", "b": "2", "c": "1"})
    assert found == [LookAlike("a", "c", is_same_file=True)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = f(y)  # why", "other = g(z)"),
        ('"""Long\n"""\nx = 1', "y = 2"),
        ("a.exp(1)", "b.exp(2)"),
    ],
)
def test_names_comments_and_numbers_do_not_tell_files_apart(one: str, other: str) -> None:
    assert tokens(one) == tokens(other)


def test_attributes_of_a_library_do() -> None:
    assert tokens("np.exp(x)") != tokens("np.log(x)")


def test_hostile_text_takes_linear_time_and_gives_the_same_prints_again() -> None:
    text = "'" * 100_000 + '"""' + "((((" * 20_000
    assert fingerprint(text) == fingerprint(text)


def test_pairs_are_the_same_in_whatever_order_submissions_end() -> None:
    texts = dict(next(iter(cohorts()))[1])
    first = next(iter(texts))
    texts |= {"copy": texts[first] + "\n", "same": texts[first], "again": texts[first]}
    prints = {name: fingerprint(text) for name, text in texts.items()}
    backwards = dict(reversed(prints.items()))
    found = look_alikes(prints, texts)
    assert len(found) == 5
    assert look_alikes(backwards, dict(reversed(texts.items()))) == found
