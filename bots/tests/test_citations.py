"""Citations that a model leaves out, or writes in another form."""

from dataclasses import replace

import pytest

from bots.engine.types import NotGrounded
from bots.tests.test_openai_compatible import (
    HOURS,
    QUESTION,
    RETURNS,
    ask,
    ask_twice,
    cited_in,
    shown,
)
from chatplatform.testing import stub_model

RIGHT = "You can return goods within 30 days. We are open from 9:00 to 17:30."
CITED = "You can return goods within 30 days. [1] We are open from 9:00 to 17:30. [2]"
LIE = "You can return goods within 45 days."


@pytest.fixture
def stub():
    with stub_model.running() as server:
        yield server


def test_a_missing_citation_is_added_where_one_snippet_holds_the_sentence(stub):
    stub.play(f"say:{RIGHT}")
    answer, deltas = ask(stub)
    assert answer.text == "".join(deltas).strip() == CITED
    assert cited_in(answer) == [101, 102]
    assert len(stub.requests) == 1
    assert stub.confirmations == []


@pytest.mark.parametrize(
    "form",
    ["[Source 1]", "【1】", "[1, 2]", "[^1]", "【1†source】", "(Source: 1)", "[Snippet 1]"],
)
@pytest.mark.parametrize("size", [1, 100])
def test_a_citation_in_another_form_is_read(stub, form, size):
    stub.play([f"say:You can return goods within 30 days {form}."])
    stub.cut = lambda text: [text[at : at + size] for at in range(0, len(text), size)]
    answer, deltas = ask(stub)
    usual = "[1, 2]" if form == "[1, 2]" else "[1]"
    assert answer.text == "".join(deltas) == f"You can return goods within 30 days {usual}."
    assert len(stub.requests) == 1


@pytest.mark.parametrize("figure", ["(3)", "(1)", "(2, 3)", "(document 3)"])
def test_a_figure_in_round_brackets_is_no_citation(stub, figure):
    """Whether there is a snippet of this number or none."""
    held = f"You can return up to so many bags {figure}"
    question = replace(QUESTION, snippets=(replace(RETURNS, text=f"{held}."), HOURS))
    stub.play([f"say:{held}. [1] We are open from 9:00 to 17:30. [2]"])
    answer, deltas = ask(stub, question)
    assert answer.text == "".join(deltas).strip()
    assert answer.text == f"{held}. [1] We are open from 9:00 to 17:30. [2]"
    assert cited_in(answer) == [101, 102]


BOTH = "Within 30 days you can return goods, and we are open from 9:00"


@pytest.mark.parametrize("verifies", [True, False])
def test_an_answer_without_a_source_is_sent_with_one_if_the_judge_confirms_it(stub, verifies):
    stub.play([f"say:{BOTH}."])
    answer, deltas = ask(stub, replace(QUESTION, verify_answer=verifies))
    assert "".join(deltas) == answer.text == f"{BOTH}. [1]"
    assert cited_in(answer) == [101]
    assert (len(stub.requests), len(stub.confirmations)) == (1, 1)


def test_else_the_model_is_asked_for_its_citations_once(stub):
    stub.play([f"say:{BOTH}.", f"say:{BOTH} [1, 2]."])
    stub.confirms = False
    answer, deltas = ask(stub)
    assert answer.text == "".join(deltas) == f"{BOTH} [1, 2]."
    assert "cites no snippet" in stub.requests[1]["messages"][-1]["content"]
    assert answer.usage.prompt_tokens == 300


@pytest.mark.parametrize("lie", [LIE, "We are open until 23:00.", "Our shop sells spaceships."])
def test_nothing_invented_is_shown_because_it_cites_nothing(stub, lie):
    stub.play([f"say:{lie}"])
    stub.confirms = False
    with pytest.raises(NotGrounded):
        ask(stub)
    assert shown == []
    assert len(stub.requests) == 2


def test_a_figure_of_another_thing_finds_no_snippet(stub):
    city = replace(RETURNS, text="A city bicycle costs 12 euros a day.")
    electric = replace(HOURS, text="An electric bicycle costs 30 euros a day.")
    question = replace(QUESTION, text="What does it cost?", snippets=(city, electric))
    stub.play("say:A city bicycle costs 30 euros a day.")
    stub.confirms = False
    with pytest.raises(NotGrounded):
        ask(stub, question)
    assert shown == []


def test_what_only_several_snippets_hold_is_left_to_whoever_confirms(stub):
    both = "Within 30 days you can return goods, and we are open from 9:00."
    answer, _ = ask_twice(stub, [1], [f"say:{both}", "json"])
    assert answer.text.startswith(both)
    assert cited_in(answer)
    material = stub.requests[1]["messages"][1]["content"]
    assert RETURNS.text in material
    assert HOURS.text in material


@pytest.mark.parametrize("confirmed", [True, False])
def test_what_is_not_confirmed_is_shown_neither_with_added_citations(stub, confirmed):
    stub.play(f"say:{RIGHT}")
    stub.confirms = confirmed
    question = replace(QUESTION, verify_answer=True)
    if confirmed:
        assert ask(stub, question)[0].text == CITED
    else:
        with pytest.raises(NotGrounded, match="does not confirm"):
            ask(stub, question)
        assert shown == []


def test_the_lines_of_the_request_are_not_repeated_to_the_customer(stub):
    for repeated in (
        f"<<<SNIPPETS abc>>>\n[1]\nReturns\n{RETURNS.text}\n<<<END SNIPPETS>>>",
        f"[1]\nReturns, {RETURNS.url}\n{RETURNS.text}\n\n[2]\nHours\n{HOURS.text}",
        "The word is c0ffee42 [1].",
    ):
        stub.play([f"say:{repeated}"])
        with pytest.raises(NotGrounded, match="repeats"):
            ask(stub, replace(QUESTION, fence="c0ffee42"))
        assert shown == []
