import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import harness

ROOT = Path(__file__).parent.parent
PACKAGES = ("harness", "specs", "reports")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

#: What runs code, starts a shell or writes where an archive says; by its dotted name or last part.
DANGEROUS_MODULES = {"pickle", "dill", "cloudpickle", "shelve", "marshal", "yaml", "joblib"}
DANGEROUS_NAMES = {
    "np.load", "numpy.load", "torch.load", "torch.jit.load", "torch.hub.load", "os.system",
    "os.popen", "eval", "exec", "__import__",
}  # fmt: skip
DANGEROUS_METHODS = {"extractall", "extract", "exec_run", "put_archive", "get_archive"}
DANGEROUS_KEYWORDS = {"shell", "allow_pickle"}

#: The worker executes submissions: that is what it is for, inside the sandbox.
EXECUTES = {
    "harness/worker/loader.py",
    "harness/worker/definitions.py",
    "harness/worker/sources.py",
    "harness/worker/own_tests/pytest_run.py",
}


def findings(text):
    """Yield the line and the name of everything dangerous in a source."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import():
                for alias in node.names:
                    if alias.name.partition(".")[0] in DANGEROUS_MODULES:
                        yield node.lineno, alias.name
            case ast.ImportFrom(module=str(module)):
                if module.partition(".")[0] in DANGEROUS_MODULES:
                    yield node.lineno, module
                for alias in node.names:
                    if f"{module}.{alias.name}" in DANGEROUS_NAMES:
                        yield node.lineno, f"{module}.{alias.name}"
            case ast.Attribute(attr=attr) if attr in DANGEROUS_METHODS:
                yield node.lineno, attr
            case ast.Attribute() | ast.Name() if ast.unparse(node) in DANGEROUS_NAMES:
                yield node.lineno, ast.unparse(node)
            case ast.keyword(arg=arg) if arg in DANGEROUS_KEYWORDS:
                yield node.value.lineno, str(arg)


def prints(text):
    """Yield the line of every call of print that does not say where to."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(func=ast.Name(id="print"), keywords=keywords):
                if not any(keyword.arg == "file" for keyword in keywords):
                    yield node.lineno


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "import dill as innocent",
        "from pickle import loads",
        "import yaml",
        "np.load(path)",
        "from numpy import load",
        "model = torch.load(path)",
        "from torch import load",
        "eval(text)",
        "run = exec",
        "tarfile.open(path).extractall(folder)",
        "archive.extract(name)",
        "container.exec_run(command)",
        "container.put_archive('/', data)",
        "client.api.get_archive(id, '/')",
        "subprocess.run(command, shell=True)",
        "numpy.lib.format.read_array(file, allow_pickle=True)",
        "os.system(command)",
        "__import__(name)",
    ],
)
def test_the_gate_sees_what_is_dangerous(text):
    assert list(findings(text))


def test_the_gate_lets_ordinary_code_pass():
    assert not list(findings("import json\nmodel.evaluate(x)\njson.loads(text)\nnp.loadtxt(p)\n"))


def test_no_module_uses_anything_dangerous():
    found = [
        (name, line, what)
        for path in FILES
        for name in [str(path.relative_to(ROOT))]
        for line, what in findings(path.read_text(encoding="utf-8"))
        if not (name in EXECUTES and what == "exec")
    ]
    assert not found


#: Programs of their own, whose output is what they print.
PRINTS = {
    "harness/sandbox/container/__main__.py",
    "harness/sandbox/container/intruder.py",
    "reports/schema.py",
    "specs/table.py",
}
#: What a container starts: it runs the worker as soon as it is imported.
ENTRY = "harness.sandbox.container.entry"


def test_no_module_prints_by_itself():
    found = {
        name: lines
        for path in FILES
        if (name := str(path.relative_to(ROOT))) not in PRINTS
        and (lines := list(prints(path.read_text(encoding="utf-8"))))
    }
    assert not found


def test_imports_go_one_way():
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


#: A package with a face: code outside of it imports what ``__all__`` names, from there.
#: ``harness.worker`` has none, for its modules run on both sides of the wall.
FACES = {
    path.parent: {
        element.value
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for element in ast.walk(node.value)
        if isinstance(element, ast.Constant)
    }
    for path in FILES
    if path.name == "__init__.py" and "__all__" in path.read_text(encoding="utf-8")
}


def imports_past_a_face(path):
    """Yield what a module imports from the inside of a package that it is not in."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or node.level or not node.module:
            continue
        target = ROOT.joinpath(*node.module.split("."))
        for folder, names in FACES.items():
            if folder == ROOT / "harness" or folder in path.parents:
                continue
            if folder == target:
                yield from (alias.name for alias in node.names if alias.name not in names)
            elif folder in target.parents and not any(
                inner in FACES for inner in (target, *target.parents) if folder in inner.parents
            ):
                yield node.module


def test_every_subject_of_the_harness_has_a_face():
    folders = {path.parent for path in FILES if path.name == "__init__.py"}
    subjects = {folder for folder in folders if folder.parent == ROOT / "harness"}
    without = {folder.name for folder in subjects - FACES.keys()}
    assert without == {"commands", "worker"}


def test_code_outside_a_package_imports_its_face_only():
    past = [(str(path.relative_to(ROOT)), *imports_past_a_face(path)) for path in FILES]
    assert [found for found in past if len(found) > 1] == []


def test_every_public_name_of_a_face_exists():
    for folder, names in FACES.items():
        module = importlib.import_module(".".join(folder.relative_to(ROOT).parts))
        assert [name for name in names if not hasattr(module, name)] == [], folder


ALONE = """
import json, os, sys, traceback, warnings
for name in json.loads(sys.argv[1]):
    __import__(name)
for name in json.loads(sys.argv[2]):
    child = os.fork()
    if not child:
        warnings.simplefilter("error")
        try:
            __import__(name)
        except BaseException:
            print(name, traceback.format_exc(), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
#: Of others, and slow to import: loaded once, before the children are forked.
LIBRARIES = (
    "docker", "jinja2", "junitparser", "msgspec", "nbformat", "numpy",
    "numpy.random", "numpy.testing", "pygments.formatters", "pygments.lexers", "rich.progress",
    "typer", "typer.rich_utils",
)  # fmt: skip


def test_every_module_imports_alone_and_without_a_warning():
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in FILES
        if path.name != "__main__.py"
    ]
    names.remove(ENTRY)
    done = subprocess.run(
        [sys.executable, "-c", ALONE, json.dumps(LIBRARIES), json.dumps(names)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout + done.stderr == ""


def test_the_public_names_are_those_that_can_be_imported():
    assert set(harness.__all__) == set(harness._HOMES)
    assert list(harness.__all__) == sorted(harness.__all__)
    for name in harness.__all__:
        assert getattr(harness, name) is not None


def test_an_error_can_be_imported_without_numpy():
    text = "import sys, harness.errors, harness.cli; print('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_no_assignment_needs_torch_to_be_read():
    text = (
        "import sys, specs\n"
        "for name in specs.TITLES: specs.load(name)\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


#: Declared for a reason other than an import.
RUN = {"pip": "downloads the wheels of an image"}


def test_every_dependency_is_imported_or_run_by_the_product():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.split(r"[<>=\[ ]", line)[0] for line in project["dependencies"]}
    imported = {
        name.partition(".")[0]
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
        )
    }
    assert declared - imported == set(RUN)


def test_every_path_that_the_pages_name_exists():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "specs" / "README.md"]
    named = {
        (page.name, path)
        for page in pages
        for path in re.findall(
            r"`((?:harness|specs|reports|tests|docs|benchmarks)/[\w/.-]+)`",
            page.read_text(encoding="utf-8"),
        )
    }
    gone = {(page, path) for page, path in named if not (ROOT / path).exists()}
    # A segment in capitals stands for a name: tests/corpus/NAME/wrong/.
    assert {(page, path) for page, path in gone if not re.search(r"/[A-Z_]+/", path)} == set()
