"""Python source to highlighted HTML, one string per line of the source."""

from typing import Any

from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers.python import PythonLexer


def run(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the lines of ``text``, escaped, with Pygments' short class names."""
    text: str = arguments["text"]
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    html = highlight(text, lexer, HtmlFormatter(nowrap=True))
    # The formatter ends its last line whether or not the source does.
    return {"lines": html.split("\n")[: text.count("\n") + 1]}
