"""A bot is tried in the site: a preview chat with the answer, what it rests on, and why."""

import re

import pytest
from django.test import Client as Browser
from django.urls import reverse

from bots.models import Bot, Document, GoldenQuestion, GoldenRun
from bots.testing import trained
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message
from chats.pages import transcripts
from chats.testing import make_chat
from identity.models import ClientConfig
from identity.testing import make_person


@pytest.fixture
def path(bot):
    return reverse("admin:chats_try_bot", args=[bot.pk])


@pytest.mark.django_db(transaction=True)
def test_the_answer_is_shown_with_its_source_and_its_reason(site, path, bot):
    trained(bot, "The shop is open from nine to five on weekdays.", title="Opening hours")
    reply = site.post(path, {"question": "When is the shop open?"})
    chat = Conversation.objects.get()
    assert chat.is_preview
    assert reply.url == reverse("admin:chats_tried_bot", args=[bot.pk, chat.pk])
    assert 'hx-trigger="every 1s"' in site.get(reply.url).content.decode()
    run_jobs()
    page = site.get(reply.url).content.decode()
    assert "every 1s" not in page
    for words in ("open from nine to five", "Opening hours", "data-confidence", "data-good"):
        assert words in page
    site.post(reply.url, {"question": "Is it open on weekdays?"})
    assert Conversation.objects.count() == 1
    assert Message.objects.filter(conversation=chat, sender_type="customer").count() == 2
    answer = Message.objects.filter(conversation=chat, sender_type="bot")[0]
    shown = site.get(reverse("admin:chats_conversation_change", args=[chat.pk])).content.decode()
    why = reverse("admin:chats_why", args=[chat.pk, answer.pk])
    assert why in shown
    assert "<summary>Opening hours</summary>" in site.get(why).content.decode()


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_a_wrong_answer_is_traced_corrected_and_then_right(site, path, bot):
    wrong = trained(bot, "The shop is open from nine to five on weekdays.", title="Old hours")
    question = "When is the shop open?"
    tried = site.post(path, {"question": question})
    run_jobs()
    answer = Message.objects.get(sender_type="bot", in_reply_to__text=question)
    why = reverse("admin:chats_why", args=[answer.conversation_id, answer.pk])
    chat = reverse("admin:chats_conversation_change", args=[answer.conversation_id])
    assert why in site.get(chat).content.decode()
    page = site.get(why).content.decode()
    assert reverse("admin:bots_document_change", args=[wrong.pk]) in page
    correct = reverse("admin:chats_answer", args=[answer.pk])
    assert correct in page
    assert question in site.get(correct).content.decode()
    form = {"question": question, "answer": "From ten to six, every day."}
    asks_again = site.post(correct, form)["Location"]
    run_jobs()
    again = site.post(asks_again, {"question": question})
    run_jobs()
    page = site.get(again["Location"]).content.decode()
    assert "From ten to six, every day." in page
    assert f'data-other-source="{wrong.pk}"' in page, "the owner is told who says otherwise"
    assert page.count("nine to five") == 1
    assert "nine to five" in site.get(tried["Location"]).content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_handover_is_said_and_ends_the_trial(site, path, bot):
    question = "What is the meaning of life?"
    reply = site.post(path, {"question": question})
    run_jobs()
    page = site.get(reply.url).content.decode()
    (fix,) = re.findall(r"<details data-fix open>.*?</details>", page, re.DOTALL)
    assert question in fix
    site.post(reply.url, {"question": "I want to talk to a person"})
    run_jobs()
    page = site.get(reply.url).content.decode()
    assert "data-handed-over" in page
    told = Message.objects.get(receipt__handoff_reason="customer_asked")
    why = reverse("admin:chats_why", args=[told.conversation_id, told.pk])
    assert "data-no-match" not in site.get(why).content.decode()
    assert "data-ended" not in page
    ClientConfig.objects.update(answer_while_waiting=False)
    assert "data-ended" in site.get(reply.url).content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_good_answer_becomes_a_golden_question(site, ann, path, bot):
    trained(bot, "The shop is open from nine to five on weekdays.", title="Opening hours")
    tried = site.post(path, {"question": "When is the shop open?"})["Location"]
    run_jobs()
    answer = Message.objects.get(sender_type="bot", in_reply_to__isnull=False)
    keep = reverse("admin:chats_keep_answer", args=[bot.pk, answer.conversation_id, answer.pk])
    page = site.get(tried).content.decode()
    assert keep in page
    agent = Browser()
    agent.force_login(make_person(ann.client, "agent", "Amy").user)  # type: ignore[arg-type]
    assert agent.post(keep).status_code == 403
    assert site.get(keep).status_code == 302
    assert not GoldenQuestion.objects.exists()
    (source,) = re.findall(r'name="source" value="(.*?)"', page)
    assert site.post(keep, {"source": source})["Location"] == tried
    kept = GoldenQuestion.objects.get(bot=bot)
    assert (kept.question, kept.expected_source) == ("When is the shop open?", "Opening hours")
    page = site.get(tried).content.decode()
    assert "data-golden" in page
    assert keep not in page


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_a_wrong_answer_is_fixed_where_it_stands(site, ann, path, bot):
    trained(bot, "The shop is open from nine to five on weekdays.", title="Old hours")
    tried = site.post(path, {"question": "When is the shop open?"})["Location"]
    run_jobs()
    answer = Message.objects.get(sender_type="bot", in_reply_to__isnull=False)
    fields = {"question": "When is the shop open?", "answer": "From ten to six."}
    form = {f"{answer.pk}-{name}": said for name, said in fields.items()}
    fix = reverse("admin:chats_fix_answer", args=[bot.pk, answer.conversation_id, answer.pk])
    agent = Browser()
    agent.force_login(make_person(ann.client, "agent", "Amy").user)  # type: ignore[arg-type]
    assert agent.post(fix, form).status_code == 403
    assert b"data-refused" in site.post(fix, form | {f"{answer.pk}-answer": ""}).content
    assert not Document.objects.filter(source="question_answer").exists()
    learning = site.post(fix, form)["Location"].partition("#")[0]
    now = reverse("admin:chats_answer_now", args=[bot.pk, answer.conversation_id, answer.pk])
    assert now not in site.get(learning).content.decode()
    run_jobs()
    assert now in site.get(learning).content.decode()
    page = site.post(now).content.decode()
    (now_said,) = re.findall(r"data-now>.*?</div>", page, re.DOTALL)
    assert "From ten to six." in now_said
    # Only today's answer can be kept as good.
    assert page.count("data-good") == now_said.count("data-good") == 1
    assert "data-good" not in site.get(learning).content.decode()
    (source,) = re.findall(r'name="source" value="(.*?)"', now_said)
    assert source == Document.objects.get(source="question_answer").title
    assert Message.objects.filter(sender_type="bot", in_reply_to__isnull=False).count() == 1
    # Good belongs to the corrected answer, which stays; what an earlier test expects is replaced.
    keep = reverse("admin:chats_keep_answer", args=[bot.pk, answer.conversation_id, answer.pk])
    for earlier in (None, "Old hours"):
        if earlier:
            GoldenQuestion.objects.update(expected_source=earlier)
            assert "data-good" in site.post(now).content.decode()
        kept_page = site.get(site.post(keep, {"source": source})["Location"]).content.decode()
        assert GoldenQuestion.objects.get(bot=bot).expected_source == source
        (corrected,) = re.findall(r"data-corrected>.*?</div>", kept_page, re.DOTALL)
        assert "From ten to six." in corrected
        assert kept_page.count("data-golden") == corrected.count("data-golden") == 1
    assert "data-golden" in site.post(now).content.decode().partition("data-now>")[2]
    # The form shows the answer that exists now, and changes it.
    document = Document.objects.get(source="question_answer")
    assert f'value="{document.pk}"' in site.get(tried).content.decode()
    again = form | {f"{answer.pk}-answer": "From eight.", f"{answer.pk}-edits": document.pk}
    assert site.get(fix)["Location"] == tried
    assert site.post(fix, again).status_code == 302
    assert Document.objects.get(source="question_answer").content == "From eight."


@pytest.mark.django_db(transaction=True)
def test_only_the_newest_unanswered_question_has_its_form_open(site, path, bot):
    tried = site.post(path, {"question": "What is the meaning of life?"}).url
    run_jobs()
    site.post(tried, {"question": "How far away is the moon?"})
    assert "data-fix open" not in site.get(tried).content.decode()
    run_jobs()
    page = site.get(tried).content.decode()
    forms = re.findall(r"<details data-fix.*?</details>", page, re.DOTALL)
    assert ["<details data-fix open>" in form for form in forms] == [False, True]
    assert not any("autofocus" in form for form in forms)


@pytest.mark.django_db(transaction=True)
def test_an_answer_on_hold_is_said_with_the_test_that_decides(site, path, bot):
    Bot.objects.update(hold_back_worse=True)
    GoldenQuestion.objects.create(client=bot.client, bot=bot, question="When is it open?")
    question = "What is the meaning of life?"
    site.post(path, {"question": question})
    run_jobs()
    answer = Message.objects.get(sender_type="bot", in_reply_to__text=question)
    fix = reverse("admin:chats_fix_answer", args=[bot.pk, answer.conversation_id, answer.pk])
    form = {f"{answer.pk}-question": question, f"{answer.pk}-answer": "It is 42."}
    fixed = site.post(fix, form)["Location"].partition("#")[0]
    run_jobs()
    assert Document.objects.get(source="question_answer").pending_review
    (said,) = re.findall(
        f'<p id="now-{answer.pk}"[^>]* data-on-hold.*?</p>', site.get(fixed).content.decode()
    )
    run = GoldenRun.objects.get()
    assert reverse("admin:bots_goldenrun_change", args=[run.pk]) in said
    assert "every 1s" in said
    GoldenRun.objects.update(status="done", outcome="held")
    page = site.get(fixed).content.decode()
    assert "data-on-hold" in page
    assert "every 1s" not in page


def test_what_is_refused_is_said(site, path, bot):
    bot.allow_preview = False
    bot.save()
    assert b"preview is switched off" in site.post(path, {"question": "Hello?"}).content
    assert not Conversation.objects.exists()


def test_nobody_speaks_in_a_customers_chat(site, bot):
    chat = make_chat(bot)
    path = reverse("admin:chats_tried_bot", args=[bot.pk, chat.pk])
    assert site.post(path, {"question": "Hello?"}).status_code == 404
    assert not Message.objects.exists()


def test_viewers_and_strangers_do_not_try(ann, cara, path):
    for person, status in ((make_person(ann.client, "viewer", "Vic"), 403), (cara, 404)):
        browser = Browser()
        browser.force_login(person.user)  # type: ignore[arg-type]
        assert browser.get(path).status_code == status
        assert browser.post(path, {"question": "Hello?"}).status_code == status
    assert not Conversation.objects.exists()


WITH_FIELDS = [
    {"name": "email", "label": {"en": "E-mail"}, "type": "email"},
    {"name": "colour", "label": {"en": "Colour"}, "type": "text"},
    {"name": "city", "label": {"en": "City"}, "type": "text", "required": True,
     "ask_before_chat": True},
]  # fmt: skip
SAYS = ["When is the shop open?", "It is ann@shop.example", "red", "Who was Napoleon?", "Why?"]


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_it_says_what_the_widget_says(ann, site, path, bot, page):
    """The welcome, the fields to ask for, other words before a handover: all as on a page."""
    trained(bot, "The shop is open from nine to five on weekdays.", title="Opening hours")
    Bot.objects.update(welcome_message={"en": "Welcome!"})
    fields = {"fields": WITH_FIELDS}
    assert ann.put(f"/ai/{bot.pk}/customer-info-field", fields).status_code == 200
    opening = {"channel": "web", "customer": {"attributes": {"city": "Ulm"}}}
    opened = page.post("/ai/client/chat", opening).json()
    visitor, tried = {"Visitor-Token": opened["visitor_token"]}, path
    for text in SAYS:
        body = {"text": text, "reply": "async"}
        sent = page.post(f"/ai/client/chat/{opened['id']}", body, **visitor)
        assert sent.status_code == 202, sent.content
        tried = site.post(tried, {"question": text})["Location"]
        run_jobs()
    seen = ("sender_type", "text", "receipt__decision", "receipt__asks_for", "receipt__filled")
    on_page, in_preview = (
        list(Message.objects.filter(conversation=chat).order_by("seq").values_list(*seen))
        for chat in Conversation.objects.order_by("is_preview")
    )
    assert (on_page[0][1], len(on_page)) == ("Welcome!", 1 + 2 * len(SAYS))
    assert on_page[-3][1] != on_page[-1][1]
    assert in_preview == on_page
    assert Conversation.objects.get(is_preview=True).customer.attributes == {}


@pytest.mark.django_db(transaction=True)
def test_a_reply_that_comes_while_the_page_is_built_is_shown_soon(site, path, bot, monkeypatch):
    trained(bot, "The shop is open from nine to five on weekdays.")
    tried = site.post(path, {"question": "When is the shop open?"})["Location"]
    read = transcripts.part_of

    def read_before_the_reply(chat):
        found = read(chat)
        run_jobs()
        return found

    monkeypatch.setattr(transcripts, "part_of", read_before_the_reply)
    page = site.get(tried).content.decode()
    assert "data-finding" not in page
    assert 'hx-trigger="every 1s"' in page
    page = site.get(tried).content.decode()
    assert "data-finding" in page
    assert 'hx-trigger="every 1s"' not in page
