"""What a Python file defines and imports, to find the one that holds the answer."""

import ast
from typing import Any

NAMES_CAP = 1000


def run(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return whether ``text`` defines a function or class, and the module names it imports.

    A file that does not parse counts as one that defines something: it may be the answer, and
    its error is the sandbox's to report.
    """
    try:
        tree = ast.parse(arguments["text"])
    except (SyntaxError, ValueError, RecursionError):
        return {"defines": True, "imports": []}
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defines = any(isinstance(statement, definitions) for statement in tree.body)
    return {"defines": defines, "imports": sorted(imported(tree))[:NAMES_CAP]}


def imported(tree: ast.Module) -> set[str]:
    """Every part of every dotted name that could be a module of the submission."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            dotted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            dotted = [node.module or "", *(alias.name for alias in node.names)]
        else:
            continue
        names.update(part for name in dotted for part in name.split("."))
    return names - {""}
