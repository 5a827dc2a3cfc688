import sys
import traceback

import pytest

from harness.worker import wire


def names(loaded):
    return [entry["name"] for entry in loaded.reply["names"]]


def test_a_module_is_executed_as_a_whole_but_not_as_main(load):
    loaded = load("x = 1\nif __name__ == '__main__': x = 2\ndef f(): return x")
    assert loaded.reply["loaded"] == "whole"
    assert loaded.namespace["f"]() == 1


def test_functions_and_classes_are_described_with_their_parameters(load):
    loaded = load(
        "import numpy as np\nfrom math import sqrt\n"
        "def attention(q, k, v, mask=None, *, scale=1.0): pass\n"
        "class Head:\n"
        " def __init__(self, d_model, heads=2): pass\n"
        " def forward(self, x): pass\n"
        "CONSTANT = 3\n"
    )
    function, head = loaded.reply["names"]
    assert (function["name"], function["kind"]) == ("attention", "function")
    assert [(p["name"], p["default"]) for p in function["parameters"]] == [
        ("q", False),
        ("k", False),
        ("v", False),
        ("mask", True),
        ("scale", True),
    ]
    assert function["parameters"][4]["kind"] == "keyword_only"
    assert (head["name"], head["kind"]) == ("Head", "class")
    assert [p["name"] for p in head["parameters"]] == ["d_model", "heads"]
    assert [p["name"] for p in head["call"]] == ["x"]


def test_what_wraps_a_function_is_described_as_one(load):
    loaded = load(
        "import functools\n"
        "@functools.lru_cache\ndef cached(n): return n\n"
        "half = functools.partial(cached, 2)\n"
        "class Attention:\n def __call__(self, q): return q\n"
        "attention = Attention()\n"
        "from numpy import matmul\n"
    )
    assert names(loaded) == ["cached", "half", "Attention", "attention"]


def test_a_description_of_very_many_names_fits_a_header(load):
    parameters = ", ".join(f"a_rather_long_parameter_name_{i}" for i in range(60))
    source = "\n".join(f"def function_{i}({parameters}): pass" for i in range(400))
    wire.pack(load(source).reply)


def test_siblings_are_imported_from_memory_by_every_spelling(load):
    loaded = load(
        files={
            "src/attention.py": "import masks\nfrom . import masks as m\n"
            "from .parts.soft import f\nfrom src.parts import soft\nimport top\n"
            "values = masks.A, m.A, f(), soft.f(), top.B",
            "src/masks.py": "A = 1",
            "src/parts/soft.py": "def f(): return 2",
            "top.py": "B = 3",
        }
    )
    assert loaded.namespace["values"] == (1, 1, 2, 2, 3)


def test_a_module_is_found_from_every_folder_above_the_entry(load):
    loaded = load(
        files={
            "project/models/layers/heads.py": "from models.masks import A\nfrom soft import f",
            "project/models/masks.py": "A = 1",
            "project/models/layers/soft.py": "from models.layers import soft\ndef f(): return 2",
        }
    )
    assert (loaded.namespace["A"], loaded.namespace["f"]()) == (1, 2)


def test_a_package_runs_its_own_init(load):
    loaded = load(
        files={
            "a.py": "from pkg import x",
            "pkg/__init__.py": "from .y import x",
            "pkg/y.py": "x = 5",
        }
    )
    assert loaded.namespace["x"] == 5


@pytest.mark.parametrize("name", ["numpy.py", "json.py", "torch.py", "2 weird name.py"])
def test_a_file_may_have_the_name_of_a_library(load, name):
    loaded = load(files={name: "import json, numpy\ndef f(): return numpy.zeros(1), json.dumps(1)"})
    assert loaded.reply["loaded"] == "whole"
    loaded.namespace["f"]()


def test_dataclasses_and_enums_of_the_submission_work(load):
    loaded = load(
        "from __future__ import annotations\nimport dataclasses, enum\n"
        "@dataclasses.dataclass\nclass Config:\n d: int = 4\n"
        "class Kind(enum.Enum):\n A = 1\n"
    )
    assert loaded.reply["loaded"] == "whole"


def test_a_traceback_shows_the_line_of_the_submission(load):
    loaded = load("def f(x):\n    return 1 / x  # here\n")
    with pytest.raises(ZeroDivisionError) as error:
        loaded.namespace["f"](0)
    assert "# here" in "".join(traceback.format_exception(error.value))


def test_libraries_that_only_draw_are_replaced_and_named(load):
    loaded = load(
        "import matplotlib.pyplot as plt, seaborn as sns\nfrom tqdm.auto import tqdm, trange\n"
        "import tqdm as bar\nimport pandas as pd\nfrom IPython.display import display\n"
        "fig, (left, right) = plt.subplots(1, 2, figsize=(4, 2))\n"
        "fig, axes = plt.subplots(2, 3)\naxes[1, 2].imshow([[1]]); axes.ravel()[0].set_title('x')\n"
        "fig, ax = plt.subplots()\nax.plot([1]); plt.figure().add_subplot(111).legend()\n"
        "with plt.style.context('x'): plt.show()\n"
        "print(f'{pd.DataFrame([1]).mean():.2f}'); sns.heatmap([[1]], ax=ax); display(fig)\n"
        "seen = [list(tqdm([1, 2], desc='x')), list(trange(2)), list(bar.tqdm(range(1)))]\n"
        "with tqdm(total=3) as progress: progress.update(1); progress.set_description('x')\n"
        "@plt.wrapper\ndef kept(): return 1\n"
        "class Animated(plt.Animation):\n pass\n"
    )
    assert loaded.reply["loaded"] == "whole", loaded.reply["reason"]
    assert loaded.reply["inert"] == ["matplotlib", "seaborn", "tqdm", "pandas", "IPython"]
    assert loaded.namespace["seen"] == [[1, 2], [0, 1], [0]]
    assert loaded.namespace["kept"]() == 1


def test_a_library_that_computes_is_not_replaced(load):
    loaded = load("import no_such_science\ndef f(): return no_such_science.softmax(1)")
    assert loaded.reply["loaded"] == "definitions"
    assert "no_such_science is not available in this assignment" in loaded.reply["reason"]
    assert "line 1" in loaded.reply["reason"]


def test_a_missing_library_can_be_caught(load):
    loaded = load("try:\n import no_such_science as s\nexcept ImportError:\n s = None")
    assert loaded.reply["loaded"] == "whole"
    assert loaded.namespace["s"] is None


def test_only_the_submission_gets_stand_ins(load):
    load("import matplotlib")
    with pytest.raises(ModuleNotFoundError):
        import bertviz  # noqa: F401


def test_a_notebook_may_lack_its_first_cell(load):
    source = "a = np.exp(math.log(2)); get_ipython().run_line_magic('x', 'y'); display(a)"
    assert load(source, origin="notebook").reply["loaded"] == "whole"


def test_a_script_without_its_imports_is_given_them_and_they_are_named(load):
    loaded = load("def f(x: Optional[int] = None): return np.exp(math.log(2))")
    assert loaded.reply["given"] == ["Optional", "math", "np"]
    assert loaded.namespace["f"]() == 2


def test_a_name_that_the_script_binds_is_not_given(load):
    loaded = load("import math as np\nF = 2\ndef math(): return F")
    assert loaded.reply["given"] == []


def test_torch_is_not_given_where_there_is_none(load):
    assert "torch" in load("x = torch.zeros(1)").reply["reason"]


def test_libraries_that_annotate_are_replaced(load):
    loaded = load(
        "from jaxtyping import Float, jaxtyped\nfrom beartype import beartype\n"
        "from typing_extensions import Self, override\n"
        "@jaxtyped(typechecker=beartype)\n"
        "def f(x: Float['b t'] | None, y: None | Float['b'] = None) -> Float['t']: return x\n"
        "class A:\n @override\n def g(self) -> Self: return self\n"
    )
    assert loaded.reply["loaded"] == "whole", loaded.reply["reason"]
    assert loaded.namespace["f"](3) == 3
    assert loaded.namespace["A"]().g()


def test_what_only_makes_numba_fast_is_replaced(load):
    loaded = load(
        "from numba import njit, prange\nimport numba\n"
        "@njit(parallel=True)\ndef f(n): return sum(i for i in prange(n))\n"
        "@numba.jit\ndef g(n): return n\n"
    )
    assert (loaded.namespace["f"](4), loaded.namespace["g"](1)) == (6, 1)
    assert load("from numba import vectorize").reply["loaded"] == "definitions"


def test_compilers_of_torch_change_nothing(load):
    loaded = load(
        "import torch\n@torch.compile\ndef f(x): return x\n"
        "@torch.compile(mode='max-autotune')\ndef g(x): return x\n"
        "@torch.jit.script\ndef h(x, mask=None): return x\n",
        arrays="torch",
    )
    assert loaded.reply["loaded"] == "whole", loaded.reply["reason"]
    assert names(loaded) == ["f", "g", "h"]
    assert [p["name"] for p in loaded.reply["names"][2]["parameters"]] == ["x", "mask"]


def test_a_torch_notebook_gets_torch_nn_and_f(load):
    loaded = load("ok = (nn.Linear, F.softmax, torch.zeros)", origin="notebook", arrays="torch")
    assert loaded.reply["loaded"] == "whole"


def test_after_a_line_that_raises_the_definitions_below_it_are_loaded(load):
    loaded = load(
        "import numpy as np\n"
        "table = np.tril(np.ones((3, 3)))\n"
        "def above(): return table.sum()\n"
        "data = open('/no/such/file').read()\n"
        "SIZE = 4\n"
        "DEVICE = print('never printed')\n"
        "soft = lambda x: np.exp(x)\n"
        "def below(n=SIZE): return n\n"
        "print('demo', above())\n"
    )
    assert loaded.reply["loaded"] == "definitions"
    assert loaded.reply["reason"].startswith("FileNotFoundError")
    assert "answer.py line 4" in loaded.reply["reason"]
    assert loaded.namespace["above"]() == 6.0
    assert loaded.namespace["below"]() == 4
    assert loaded.namespace["soft"](0.0) == 1.0
    assert "DEVICE" not in loaded.namespace
    assert {"above", "below", "soft"} <= set(names(loaded))


def test_an_import_that_fails_does_not_take_its_neighbours_along(load):
    loaded = load("import no_such_science, numpy as np\ndef f(): return np.zeros(1).size")
    assert loaded.namespace["f"]() == 1
    assert loaded.reply["skipped"] == [
        {
            "line": 1,
            "why": "ModuleNotFoundError: no_such_science is not available in this assignment",
        }
    ]


def test_leaving_during_the_import_is_like_raising(load):
    loaded = load("import sys\ndef f(): return 1\nsys.exit('done')\ndef g(): return 2")
    assert loaded.reply["reason"].startswith("SystemExit: done")
    assert loaded.namespace["f"]() + loaded.namespace["g"]() == 3


def test_definitions_alone_skip_the_demo_and_what_may_take_long(load):
    loaded = load(
        "import math\nfrom collections import namedtuple\n"
        "D, H = 8, 2\nSCALE = 1 / math.sqrt(D // H)\nPair = namedtuple('Pair', 'a b')\n"
        "try:\n import no_such_science\nexcept ImportError:\n no_such_science = None\n"
        "if D > 4:\n def f(x): return x * SCALE\nelse:\n def f(x): return None\n"
        "if __name__ == '__main__':\n broken = 1 / 0\n"
        "result = f(3)\nwhile True: pass\n",
        because="its top level did not finish in 15 s",
    )
    assert loaded.reply["loaded"] == "definitions"
    assert loaded.reply["reason"] == "its top level did not finish in 15 s"
    assert loaded.namespace["SCALE"] == 0.5
    assert "result" not in loaded.namespace and "broken" not in loaded.namespace
    assert "f" in names(loaded) and "Pair" in loaded.namespace


def test_future_imports_hold_for_definitions_alone(load):
    loaded = load(
        "from __future__ import annotations\n1 / 0\ndef f(x: Unknown) -> Missing: return 1"
    )
    assert loaded.namespace["f"](0) == 1
    assert loaded.reply["skipped"] == []


def test_a_file_that_does_not_compile_raises_its_syntax_error(load):
    raised = load("def f():\nreturn 1").reply["raised"]
    assert (raised["type"], raised["line"], raised["file"]) == ("IndentationError", 2, "answer.py")


def test_a_syntax_error_in_a_sibling_is_a_reason_not_an_end(load):
    loaded = load(files={"a.py": "def f(): return 1\nimport b\n", "b.py": "def ("})
    assert "SyntaxError" in loaded.reply["reason"]
    assert "b.py line 1" in loaded.reply["reason"]
    assert names(loaded) == ["f"]


def test_a_library_that_is_installed_here_and_not_in_the_image_is_not_available(load, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "jsonschema"]:
        monkeypatch.delitem(sys.modules, name)  # another test of this process may have it
    loaded = load("import jsonschema\n")
    assert "jsonschema is not available in this assignment" in loaded.reply["reason"]
