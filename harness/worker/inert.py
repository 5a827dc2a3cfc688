"""Stand-ins for libraries that only draw, display, annotate or report progress.

A submission that imports matplotlib for its demo is not wrong. A stand-in accepts whatever is
done with it and does nothing. Only imports made by the submission itself get one: libraries
probe for optional companions, and must not find any.
"""

from __future__ import annotations

import importlib.machinery
import sys
import types
import typing
from collections.abc import Container, Iterator, Sequence
from typing import Any

import numpy as np

LIBRARIES = {
    *("IPython", "PIL", "altair", "bertviz", "bokeh", "colorama", "cv2", "google", "graphviz"),
    *("icecream", "imageio", "ipywidgets", "loguru", "matplotlib", "pandas", "plotly", "plotnine"),
    *("prettytable", "psutil", "rich", "seaborn", "tabulate", "tensorboardX", "termcolor"),
    *("beartype", "jaxtyping", "nptyping", "torchtyping", "typeguard", "typing_extensions"),
    *("numba", "torchinfo", "torchsummary", "torchview", "torchviz", "tqdm", "wandb"),
}


#: What of these libraries is more than a display or an annotation.
COMPUTING = {"numba.cuda", "numba.guvectorize", "numba.stencil", "numba.vectorize"}


class Inert:
    """Accepts every attribute, call and operator, and is empty."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return subplots if name == "subplots" else Inert()

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        # As a decorator it must not swallow what it decorates.
        if len(arguments) == 1 and isinstance(arguments[0], (types.FunctionType, type)):
            return arguments[0]
        return Inert()

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return ()

    def __getitem__(self, key: Any) -> Inert:
        return Inert()

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return False

    def __format__(self, specification: str) -> str:
        return ""

    def __enter__(self) -> Inert:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __add__(self, other: Any) -> Inert:
        return self

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __add__
    __lt__ = __le__ = __gt__ = __ge__ = __or__ = __ror__ = __and__ = __matmul__ = __add__


def subplots(nrows: int = 1, ncols: int = 1, **keywords: Any) -> tuple[Inert, Any]:
    """Return a figure and its axes in matplotlib's shape, so that they can be unpacked."""
    axes = np.empty((nrows, ncols), dtype=object)
    for place in np.ndindex(nrows, ncols):
        axes[place] = Inert()
    return Inert(), axes[0, 0] if axes.size == 1 else axes.squeeze()


class Progress(Inert):
    """A progress bar that shows nothing and yields what it was given."""

    def __init__(self, iterable: Any = (), *arguments: Any, **keywords: Any) -> None:
        self._iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self._iterable)

    def __len__(self) -> int:
        return len(self._iterable)

    def __enter__(self) -> Progress:
        return self


def _range(*bounds: int, **keywords: Any) -> Progress:
    return Progress(range(*bounds))


def _of_typing(name: str) -> Any:
    """Return what ``typing`` has of ``typing_extensions``; what is newer only annotates."""
    return getattr(typing, name, None) or Inert()


def _of_numba(name: str) -> Any:
    """Return what makes no difference but in speed; the rest of numba changes what is computed."""
    if name == "prange":
        return range
    if f"numba.{name}" in COMPUTING:
        raise AttributeError(f"numba.{name} is not available in this assignment")
    return Inert()


#: Library -> what its names stand for, where a name that does nothing would be wrong.
REAL = {"numba": _of_numba, "typing_extensions": _of_typing}


class Module(types.ModuleType):
    """A module in which every name exists."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__ in REAL:
            return REAL[self.__name__](name)
        if self.__name__.startswith("tqdm"):
            return {"tqdm": Progress, "trange": _range}.get(name, Inert())
        return subplots if name == "subplots" else Inert()

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        # ``import tqdm`` and then ``tqdm(...)``
        if self.__name__.startswith("tqdm"):
            return Progress(*arguments, **keywords)
        return Inert()


class StandIns:
    """Gives a submission stand-ins, and words for a library that the assignment does not have.

    Asked before the system's own finders, so that a library which happens to be installed, as
    on a candidate's own machine, is as absent as in the image. ``given`` holds the libraries
    that were asked for and stood in for.
    """

    def __init__(self, files: Container[str], available: Container[str]) -> None:
        self._files = files
        self._available = available
        self.given: list[str] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Stand in for a library that only displays; see the class."""
        library = fullname.partition(".")[0]
        if library in sys.stdlib_module_names or library in self._available:
            return None
        if not self._asked_by_submission():
            return None
        if library in LIBRARIES and fullname not in COMPUTING:
            if library not in self.given:
                self.given.append(library)
            return importlib.machinery.ModuleSpec(
                fullname,
                self,  # type: ignore[arg-type]  # as in sources.py
                is_package=True,
            )
        if "." not in fullname or fullname in COMPUTING:
            raise ModuleNotFoundError(
                f"{fullname} is not available in this assignment", name=fullname
            )
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Return an empty module in which every name exists."""
        return Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing: the module is ready."""

    def _asked_by_submission(self) -> bool:
        frame = sys._getframe(1)
        while frame is not None and (
            "importlib" in frame.f_code.co_filename or frame.f_globals.get("__name__") == __name__
        ):
            frame = frame.f_back  # type: ignore[assignment]
        return frame is not None and frame.f_code.co_filename in self._files
