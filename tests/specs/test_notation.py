"""Written answers are read in the notations that people use, and nonsense breaks nothing."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specs.criteria import notation

READERS = (
    notation.shape,
    lambda text: notation.grid(text, 4),
    notation.proportions,
    notation.growth,
    notation.factor,
    notation.kind_of_growth,
    notation.axis,
    notation.role,
)


@pytest.mark.parametrize(
    "text",
    [
        "[B, H, T_q, T_k]",
        "(B,H,Tq,Tk)",
        "B x H x T_q x T_k",
        "BxHxTqxTk",
        "B × H × T_q × T_k",
        "B*H*Tq*Tk",
        "$[B, H, T_{q}, T_{k}]$",
        "$B \\times H \\times T_q \\times T_k$",
        "scores = [B, H, T_q, T_k]",
        "scores: B, H, T_q, T_k",
        "[batch_size, num_heads, T_q, T_k]  # per head",
        "（B，H，T_q，T_k）",
        "torch.Size([B, H, Tq, Tk])",
    ],
)
def test_a_shape_of_names(text):
    assert notation.shape(text) == ("b", "h", "tq", "tk")


@pytest.mark.parametrize(
    "text", ["[2, 4, 8]", "torch.Size([2, 4, 8])", "2x4x8", "2 4 8", "(2,4,8)"]
)
def test_a_shape_of_numbers(text):
    assert notation.shape(text) == ("2", "4", "8")


@pytest.mark.parametrize("text", ["d_model", "d", "D_model", "dₘodel", "emb_dim", "d_{model}"])
def test_names_of_the_width(text):
    assert notation.shape(f"[B, T, {text}]") == ("b", "t", "dmodel")


@pytest.mark.parametrize(
    "text",
    [
        "1 0 0\n1 1 0\n1 1 1",
        "[[1,0,0],[1,1,0],[1,1,1]]",
        "100\n110\n111",
        "   k1 k2 k3\nq1 1 0 0\nq2 1 1 0\nq3 1 1 1",
        "||k1|k2|k3|\n|--|--|--|--|\n|q1|1|0|0|\n|q2|1|1|0|\n|q3|1|1|1|",
        "row 1: 1 0 0\nrow 2: 1 1 0\nrow 3: 1 1 1",
        "True False False\nTrue True False\nTrue True True",
        "0 -inf -inf\n0 0 -inf\n0 0 0",
        "0 -∞ −∞\n0 0 -∞\n0 0 0",
        "✓ ✗ ✗\n✓ ✓ ✗\n✓ ✓ ✓",
        "torch.tril(torch.ones(3, 3))",
    ],
)
def test_a_lower_triangle(text):
    assert notation.grid(text, 3) == (True, False, False, True, True, False, True, True, True)


@pytest.mark.parametrize(
    "text", ["", "lower triangle", "1 0\n1 1", "np.tril(np.ones((3, 3)), k=-1)", "~torch.tril(x)"]
)
def test_what_is_no_matrix_of_three(text):
    assert notation.grid(text, 3) is None


@pytest.mark.parametrize(
    "text",
    [
        "0.665, 0.245, 0.090",
        "[0.67 0.24 0.09]",
        "66.5% / 24.5% / 9%",
        "e² : e : 1",
        "e^2 : e^1 : e^0",
        "softmax([2, 1, 0]) ≈ (0.665, 0.245, 0.09)",
    ],
)
def test_proportions(text):
    assert notation.proportions(text) == pytest.approx((0.665, 0.245, 0.09), abs=0.01)


@pytest.mark.parametrize("text", ["", "large, small, tiny", "-1, 2, 3", "nan 1 2", "inf", "0 0 0"])
def test_what_is_no_proportion(text):
    assert notation.proportions(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "O(T²d)",
        "O(T^2 * d_model)",
        "T**2 d",
        "O(T²·d_model)",
        "O(n^2 d)",
        "O(B T^2 d_model)",
        "O(H T² d_head)",
        "O(T·T·d)",
        "O(T_q T_k d)",
        "$O(T^2 d_{model})$",
        "time: Θ(2 T² d)",
        "O((T^2) d)",
    ],
)
def test_quadratic_in_the_length_and_linear_in_the_width(text):
    assert notation.growth(text) == {(2, 1)}


def test_terms_of_a_sum():
    assert notation.growth("O(T² d + T d²)") == {(2, 1), (1, 2)}


@pytest.mark.parametrize("text", ["O(T^2)", "O(H T²)", "O(B * heads * T^2)", "T x T", "L^2"])
def test_the_matrix_of_weights(text):
    assert notation.growth(text) == {(2, 0)}


@pytest.mark.parametrize("text", ["", "quadratic", "O(1)", "^2", "T^", "it depends"])
def test_what_is_no_growth(text):
    assert notation.growth(text) is None


@pytest.mark.parametrize(
    "text",
    ["4", "4x", "x4", "×4", "4 times", "four times", "fourfold", "2^2", "2² = 4", "(2T)² = 4T²",
     "4 倍", "四倍", "it quadruples", "by a factor of 4", "(4)", "4-fold"],
)  # fmt: skip
def test_a_factor_of_four(text):
    assert notation.factor(text) == 4


@pytest.mark.parametrize("text", ["", "more", "2 or 4", "T²", "1" * 50])
def test_what_is_no_factor(text):
    assert notation.factor(text) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("linearly", "linear"),
        ("O(T)", "linear"),
        ("proportional to T", "linear"),
        ("linear, not quadratic", "linear"),
        ("线性", "linear"),
        ("quadratically", "quadratic"),
        ("with the square of T", "quadratic"),
        ("O(T²)", "quadratic"),
        ("constant", "constant"),
        ("hm", None),
    ],
)
def test_kinds_of_growth(text, kind):
    assert notation.kind_of_growth(text) == kind


@pytest.mark.parametrize(
    ("text", "axis"),
    [
        ("T_k", "keys"),
        ("-1", "keys"),
        ("dim=-1", "keys"),
        ("axis 3", "keys"),
        ("the last one, over the keys", "keys"),
        ("the keys, for each query", "keys"),
        ("keys, not queries", "keys"),
        ("最后一维", "keys"),
        ("T_q", "queries"),
        ("dim = -2", "queries"),
        ("heads", "heads"),
        ("1", "heads"),
        ("no idea", None),
        ("queries and keys", None),
    ],
)
def test_a_dimension_of_the_scores(text, axis):
    assert notation.axis(text) == axis


@pytest.mark.parametrize(
    ("text", "role"),
    [("query i", "query"), ("the i-th Query", "query"), ("k_j, a key", "key"), ("键", "key"),
     ("a token", None)],
)  # fmt: skip
def test_whose_row_it_is(text, role):
    assert notation.role(text) == role


@pytest.mark.parametrize(
    ("reader", "text", "value"),
    [
        (notation.kind_of_growth, "不是平方，是线性", "linear"),
        (notation.kind_of_growth, "not quadratic, linear", "linear"),
        (notation.kind_of_growth, "不是平方而是线性", "linear"),
        (notation.kind_of_growth, "线性，而不是平方", "linear"),
        (notation.kind_of_growth, "not linear but quadratic", "quadratic"),
        (notation.kind_of_growth, "it isn't constant, it is linear", "linear"),
        (notation.kind_of_growth, "正比于 T", "linear"),
        (notation.kind_of_growth, "proportional to T²", "quadratic"),
        (notation.kind_of_growth, "it does not grow", "constant"),
        (notation.kind_of_growth, "not quadratic", None),
        (notation.kind_of_growth, "linear or quadratic", None),
        (notation.role, "被 query 关注的 key", None),
        (notation.role, "第 j 个 key", "key"),
        (notation.role, "第i个query", "query"),
        (notation.role, "not a query, a key", "key"),
        (notation.factor, "变为原来的四倍", 4),
        (notation.factor, "4倍（2×2）", 4),
        (notation.factor, "不是两倍，是四倍", 4),
        (notation.factor, "2倍或4倍", None),
        (notation.factor, "16 times, not 4", 16),
        (notation.growth, "not O(T), but O(T²)", {(2, 0)}),
        (notation.growth, "不是 O(T^2) 而是 O(T)", {(1, 0)}),
        (notation.growth, "O(T²), not O(T)", {(2, 0)}),
        (notation.growth, "投影约为 O(T d_model^2)。核心约为 O(T^2 d_model)。", None),
        (notation.growth, "O(T²) per head, O(H T²) in all", {(2, 0)}),
        (
            lambda text: notation.role(text, "j"),
            "每个位置都作为 query 去看。第 j 列是 token j",
            None,
        ),
        (lambda text: notation.role(text, "j"), "第 j 个位置作为 key 时得到的权重", "key"),
        (notation.axis, "第 4 维", "keys"),
        (notation.axis, "第三维", "queries"),
        (notation.axis, "倒数第一维", "keys"),
        (notation.axis, "在每个 query 上对所有 key 归一化", "keys"),
        (notation.axis, "让每个 query 对所有 key 的权重和为 1", "keys"),
        (notation.axis, "not over the queries, over the keys", "keys"),
        (notation.axis, "不是 query 维，是 key 维", "keys"),
        (notation.axis, "not the keys", None),
        (notation.shape, "(批, 长度, 维度)", ("b", "t", "dmodel")),
        (notation.shape, "（批次，头数，查询长度，键长度）", ("b", "h", "tq", "tk")),
        (notation.shape, "[2、4、8]", ("2", "4", "8")),
        (notation.shape, "[B, H, T, d_model/H]", ("b", "h", "t", "dhead")),
        (notation.shape, "like the input", None),
        (notation.shape, "[B, whatever]", None),
    ],
)
def test_a_denial_or_a_word_of_chinese_is_read_right_or_not_at_all(reader, text, value):
    assert reader(text) == value


@pytest.mark.parametrize(
    "text", ["w1=0.67, w2=0.24, w3=0.09", "w1: 0.67; w2: 0.24; w3: 0.09", "0.67、0.24、0.09",
             "weights = [0.67, 0.24, 0.09]", "p(1)=67%, p(2)=24%, p(3)=9%"]
)  # fmt: skip
def test_proportions_with_labels(text):
    assert notation.proportions(text) == pytest.approx((0.67, 0.24, 0.09), abs=0.01)


@pytest.mark.parametrize("digit", "²①፩⒈🄂")
def test_a_digit_that_is_no_number_breaks_no_reader(digit):
    for text in (f"O(T^{digit})", f"-{digit}", f"{digit}x", f"T^2{digit}", f"[{digit}, B]"):
        for reader in READERS:
            reader(text)


@given(st.text(max_size=400))
def test_no_text_breaks_a_reader(text):
    for reader in READERS:
        reader(text)


@pytest.mark.parametrize(
    "piece", ["(", "[", "^2", "T", "1 ", "x", "-1", "O(", "e^2:", "²", "=", "\n"]
)
def test_a_long_answer_takes_no_long_time(piece):
    text = piece * 200_000
    began = time.process_time()
    for reader in READERS:
        reader(text)
    assert time.process_time() - began < 1.0
