"""The assignments, by name. A spec is imported when it is asked for; listing needs no torch."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import MappingProxyType

from harness.errors import UnknownName, UsageError
from harness.spec import Spec
from specs import briefs, loading

#: Name of an assignment -> one line about it.
TITLES = MappingProxyType(
    {
        "kv_cache": "Attention with a key-value cache as a PyTorch module",
        "numpy_attention": "Attention in numpy, with masks, heads and a positional encoding",
        "online_softmax": "Attention in blocks of keys with an online softmax, in numpy",
        "positional_encoding": "Sinusoids, rotations and biases in numpy",
        "torch_single_head": "Single-head attention as a PyTorch module, over one source or two",
        "torch_multi_head": "Multi-head attention as a PyTorch module, with four projections",
        "torch_sdpa": "scaled_dot_product_attention in PyTorch, with masks and dropout",
        "written_answers": "66 questions on self-attention as a form; no code is run",
        "transformer_block": "A pre-norm Transformer block as a PyTorch module",
    }
)


def load(name: str) -> Spec:
    """Return the spec of that name: one of ours, of an installed package, or a file's.

    Raises:
        UnknownName: there is none; the message lists those there are.
        UsageError: a file or a package that is named has no usable spec.
    """
    if loading.is_path(name):
        return loading.load_file(Path(name))
    if name in TITLES:
        spec = importlib.import_module(f"specs.{name}").SPEC
        assert isinstance(spec, Spec)
        return spec
    others = loading.installed()
    if name not in others:
        raise UnknownName("spec", name, [*TITLES, *others])
    return loading.load_installed(others[name])


def brief(spec: Spec, code: str) -> str:
    """Return what an assignment asks, in Markdown, in a language if there is one, else English."""
    return (briefs.brief_in(spec.name, code) if spec.name in TITLES else None) or spec.brief


def files(name: str) -> list[Path]:
    """Return the files that a spec is made of, sorted, once it has been loaded.

    Raises:
        UnknownName: there is no such spec.
    """
    folder = Path(__file__).parent
    ours = [path for kind in ("*.py", "*.toml", "*.txt") for path in folder.rglob(kind)]
    if loading.is_path(name):
        return sorted([*ours, *Path(name).parent.glob("*.py")])
    if name in TITLES:
        return sorted(ours)
    others = loading.installed()
    if name not in others:
        raise UnknownName("spec", name, [*TITLES, *others])
    module = importlib.import_module(others[name].module)
    return sorted([*ours, *Path(str(module.__file__)).parent.rglob("*.py")])


def recognise(file: Path) -> str:
    """Return the name of the spec of which a file defines the most entry points.

    Raises:
        UsageError: the file cannot be read, none fits, or several fit equally well.
    """
    try:
        text = "" if file.is_dir() else file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{file} cannot be read ({error.strerror})") from None
    defined = set(re.findall(r"\b(?:def|class)\s+(\w+)", text))
    counts = {name: _defined(load(name), defined) for name in TITLES}
    best = [name for name, count in counts.items() if count and count == max(counts.values())]
    if len(best) != 1:
        found = f"fits {' and '.join(best)}" if best else "defines no entry point that is known"
        raise UsageError(f"{file} {found}; say which assignment it is with --spec")
    return best[0]


def _defined(spec: Spec, defined: set[str]) -> int:
    return len({point.name for point in spec.entry_points} & defined)
