import specs
from harness.commands.start import installed_from, write_start
from harness.language import ENGLISH, Language
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
    source = installed_from({}, "1.0")
    write_start(toy.SPEC, tmp_path, source, brief=toy.SPEC.brief, language=ENGLISH)
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "    pip install ./takehome-1.0-py3-none-any.whl\n" in text
    assert "came with this assignment" in text


def test_a_chinese_candidate_starts_from_a_chinese_brief(tmp_path):
    spec, chinese = specs.load("torch_sdpa"), Language.load("zh")
    brief = specs.brief(spec, "zh")
    write_start(spec, tmp_path, "./takehome.whl", brief=brief, language=chinese)
    assert (tmp_path / "brief.md").read_text(encoding="utf-8") == brief
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "takehome check torch_sdpa.py --spec torch_sdpa" in text
    assert "wheel 随作业一起给出" in text
