"""What a Python file defines and imports, to find the one that holds the answer."""

import ast
from typing import Any

NAMES_CAP = 1000


def run(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the functions and classes that ``text`` defines, and the module names it imports.

    Of a file that does not parse nothing is known, not even that it defines nothing.
    """
    try:
        tree = ast.parse(arguments["text"])
    except (SyntaxError, ValueError, RecursionError):
        return {"defines": None, "imports": []}
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defines = [statement.name for statement in tree.body if isinstance(statement, definitions)]
    return {"defines": defines[:NAMES_CAP], "imports": sorted(imported(tree))[:NAMES_CAP]}


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
