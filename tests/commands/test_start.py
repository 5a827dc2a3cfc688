from harness.commands.start import installed_from, write_start
from tests import toy


def test_what_came_from_a_repository_is_installed_from_there():
    url = {
        "url": "https://example.org/takehome",
        "vcs_info": {"vcs": "git", "commit_id": "0123abc"},
    }
    assert installed_from(url, "1.0") == "takehome@git+https://example.org/takehome@0123abc"


def test_what_came_from_elsewhere_is_installed_from_a_wheel_beside(tmp_path):
    for url in ({}, {"url": "file:///home/ada/takehome", "dir_info": {"editable": True}}):
        assert installed_from(url, "1.0") == "./takehome-1.0-py3-none-any.whl"
    write_start(toy.SPEC, tmp_path, installed_from({}, "1.0"))
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "    pip install ./takehome-1.0-py3-none-any.whl\n" in text
    assert "came with this assignment" in text
