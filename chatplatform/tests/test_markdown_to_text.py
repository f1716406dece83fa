"""Markdown's marks, as text for readers without them."""

import pytest

from chatplatform import markdown_to_text

PHONE = markdown_to_text.Marks(bold="*", code="```")


@pytest.mark.parametrize(
    ("text", "plain", "marked"),
    [
        ("**Bold** and `code`", "Bold and code", "*Bold* and ```code```"),
        ("# Sizes\n* small\n• large", "Sizes\n- small\n- large", "*Sizes*\n- small\n- large"),
        ("See [us](https://x.example/a_(b)).", "See us (https://x.example/a_(b)).", None),
        ("[https://x.example](https://x.example)", "https://x.example", None),
        ("![p](https://x.example/p.png)", "![p](https://x.example/p.png)", None),
        ("Run\n```sh\nls **\n```\nnow", "Run\nls **\nnow", "Run\n```ls **```\nnow"),
        ("2 ** 3 ** 4, a_b_c, 5 * 6", "2 ** 3 ** 4, a_b_c, 5 * 6", None),
        ("Item [1] of list", "Item [1] of list", None),
    ],
)  # fmt: skip
def test_marks_become_those_of_the_reader(text, plain, marked):
    assert markdown_to_text.convert(text) == plain
    assert markdown_to_text.convert(text, marks=PHONE) == (marked or plain)


def test_what_a_bot_cites_is_left_out():
    cited = "Within thirty days [1]. With its receipt [1, 2]."
    assert (
        markdown_to_text.convert(cited, is_citing=True) == "Within thirty days. With its receipt."
    )
