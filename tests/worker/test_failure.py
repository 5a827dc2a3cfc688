import sys

import pytest

from harness.worker import failure


def raised(source, name="answer.py"):
    try:
        exec(compile(source, name, "exec"), {})
    except BaseException as error:
        return failure.describe(error, {"answer.py"})
    raise AssertionError("nothing was raised")


def test_the_line_is_the_innermost_of_the_submission():
    found = raised("import json\ndef f():\n    json.loads('{')\nf()")
    assert (found["type"], found["file"], found["line"]) == ("JSONDecodeError", "answer.py", 3)


def test_a_syntax_error_says_which_version_reads_it():
    version = "Python {}.{}".format(*sys.version_info)
    assert raised("type Array = 1 +")["message"].endswith(version)
    assert version not in raised("raise ValueError('x')")["message"]


def test_an_exception_from_elsewhere_has_no_line():
    found = raised("1 / 0", name="/usr/lib/elsewhere.py")
    assert (found["file"], found["line"]) == ("", None)


@pytest.mark.parametrize("message", ["x" * 100_000, "é" * 5_000, "\U0001f600" * 5_000])
def test_a_message_has_at_most_a_kibibyte(message):
    found = raised(f"raise ValueError({message!r})")
    assert 500 < len(found["message"].encode()) <= failure.MESSAGE_CAP


def test_a_lone_surrogate_can_be_encoded():
    assert raised("raise ValueError('\\ud800')")["message"] == "\\ud800"


@pytest.mark.parametrize(
    "body",
    ["raise ValueError", "raise SystemExit", "return 5", "return str(self)"],
)
def test_a_message_that_cannot_be_read_is_said_to_be_so(body):
    found = raised(f"class E(Exception):\n def __str__(self): {body}\nraise E('x')")
    assert found["message"] == "(its message could not be read)"


def test_a_message_that_only_pretends_to_be_text_is_copied():
    found = raised(
        "class Text(str):\n def encode(self, *a): raise SystemExit\n"
        " def __getitem__(self, k): return self\n"
        "class E(Exception):\n def __str__(self): return Text('plain')\nraise E()"
    )
    assert found["message"] == "plain"


def test_a_type_whose_name_is_hostile_is_named():
    found = raised(
        "class Meta(type):\n __name__ = property(lambda self: 1 / 0)\n"
        "class E(Exception, metaclass=Meta): pass\nraise E('x')"
    )
    assert found["type"] == "E"
