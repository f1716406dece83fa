"""For any question, files, search and overview count the same: also over changes of the clock, and
after what comes late."""

from hypothesis import HealthCheck, given, settings

from reports.testing import YEARS, check_figures, fill, late, questions


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(question=questions())
def test_every_way_to_ask_counts_the_same(ann, bot, question):
    if not bot.conversations.exists():
        for began in YEARS:
            fill(bot, began, chats=24)
    check_figures(ann, question)


def test_what_comes_late_is_counted(ann, bot):
    for began in YEARS:
        fill(bot, began, chats=12)
    question = {"date_from": "2026-03-28", "date_to": "2026-10-26", "timezone": "Europe/Berlin"}
    before = check_figures(ann, question)
    late(bot)
    after = check_figures(ann, question)
    assert {name: after[name] - before[name] for name in after} == {
        "chats": 0, "messages": 1, "credits_used": 5, "rating_count": 1, "handed_off": 1,
        "bot_resolved": 0,
    }  # fmt: skip
