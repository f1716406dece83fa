"""Everything that a customer of a page can do, and what becomes of it in the chat."""

import urllib.request

import pytest

from channels_app.models import CustomerIdentity, InboundItem, OutboundSend, Outcome
from channels_app.tests.helpers import PAGE, event, post_signed
from chatplatform.testing import run_jobs, tool_server
from chats.models import Attachment, Conversation, Feedback, Message
from chats.schemas.data_exchange import MessageEntity
from identity.testing import make_key
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def agents_answer(page, bot):
    """No bot's reply stands between the customer's messages."""
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)


def came(socialnet, kind, **values):
    """The message that a customer's deed became."""
    socialnet.act(kind, **values)
    run_jobs()
    return Message.objects.filter(sender_type="customer").order_by("-id").first()


def test_a_quick_reply_says_its_title_and_keeps_its_payload(socialnet):
    message = came(socialnet, "quick_reply", title="Green", payload="COLOUR_GREEN")
    assert (message.text, message.metadata) == ("Green", {"payload": "COLOUR_GREEN"})


def test_the_picture_of_a_customer_can_be_looked_at(socialnet):
    customer = came(socialnet, "text", text="Hello").conversation.customer
    with urllib.request.urlopen(customer.avatar_url) as reply:
        assert reply.headers["Content-Type"] == "image/png"
        assert reply.read().startswith(b"\x89PNG")


@pytest.mark.parametrize("without_mid", [False, True])
def test_a_postback_is_a_message_once(socialnet, without_mid):
    socialnet.sim.modes(duplicate=2)
    message = came(socialnet, "postback", title="Start", payload="GO", ref="r1",
                   without_mid=without_mid)  # fmt: skip
    assert (message.text, message.metadata["payload"]) == ("Start", "GO")
    assert message.metadata["referral"]["ref"] == "r1"
    assert Message.objects.filter(sender_type="customer").count() == 1
    assert InboundItem.objects.filter(outcome=Outcome.DUPLICATE).count() == 2


def test_a_picture_is_copied_to_our_store(socialnet, ann):
    message = came(socialnet, "attachment", type="image", text="This one")
    attachment = Attachment.objects.get()
    assert (attachment.message, attachment.mime_type) == (message, "image/jpeg")
    assert [part["type"] for part in message.content] == ["text", "image"]
    link = ann.get(f"/ai/chat/{message.conversation_id}/history").json()["items"][0]
    opened = ann.browser.get(link["content"][1]["url"])
    assert b"".join(opened.streaming_content).startswith(b"\xff\xd8\xff")


def test_several_files_come_in_one_message(socialnet):
    message = came(socialnet, "attachment", type="image", count=3)
    assert len(message.content) == Attachment.objects.filter(message=message).count() == 3


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "https://evil.example/p.png",
        "file:///etc/passwd",
        "http://user@127.0.0.1/",
        "https://evil.example\\.fbcdn.net/p.png",
        "nonsense",
    ],
)
def test_a_file_elsewhere_is_not_fetched_and_the_message_is_kept(socialnet, url):
    message = came(socialnet, "attachment", type="image", url=url, text="Look")
    text, picture = message.content
    assert text["text"] == "Look"
    assert picture["error"]
    assert "url" not in picture
    assert not Attachment.objects.exists()


def test_a_file_of_a_refused_type_is_marked(socialnet, ann, settings):
    settings.SOCIALNET_MEDIA_HOSTS = ["127.0.0.1"]
    page_url = f"{socialnet.sim.origin}/"  # an HTML page
    message = came(socialnet, "attachment", type="file", url=page_url)
    shown = ann.get(f"/ai/chat/{message.conversation_id}/history").json()["items"][0]
    assert "Send an image" in shown["content"][0]["error"]


def test_no_credential_goes_to_a_host_of_files(socialnet, settings):
    with tool_server.running() as host:
        settings.SOCIALNET_MEDIA_HOSTS = ["127.0.0.1"]
        settings.EGRESS_ALLOW = [*settings.EGRESS_ALLOW, host.host_port]
        message = came(socialnet, "attachment", type="file", url=f"http://{host.host_port}/a?b=1")
        (request,) = host.requests
    assert "attachment_id" in message.content[0]
    assert request.path == "/a?b=1"
    assert not {"authorization", "cookie"} & {name.lower() for name in request.headers}


def test_a_place_is_a_place(socialnet):
    message = came(socialnet, "location", lat=10.5, long=106.25)
    (part,) = message.content
    assert part["location"]["latitude"] == 10.5
    assert part["location"]["longitude"] == 106.25


def test_a_link_is_shared_and_a_thumb_is_words(socialnet):
    link = came(socialnet, "link", url="https://shop.example/a", title="A page")
    assert link.text == "https://shop.example/a"
    assert link.metadata["lines"] == [
        {"kind": "shared_link", "text": "A page", "url": "https://shop.example/a"}
    ]
    assert came(socialnet, "sticker").text == "👍"


@pytest.mark.parametrize("kind", ["fallback", "unsupported"])
def test_what_cannot_be_shown_leaves_a_mark(socialnet, kind):
    message = came(socialnet, kind)
    assert (message.metadata["no_words"], bool(message.text)) == (True, True)
    assert message.metadata["lines"][0]["kind"] == "unsupported"


def test_an_advertisement_is_noted_on_the_message_and_the_chat(socialnet):
    message = came(socialnet, "ad", text="Still there?", ad_id="6045")
    assert message.metadata["referral"]["ad_id"] == "6045"
    assert message.conversation.metadata["referral"]["ad_id"] == "6045"
    socialnet.act("referral", ref="r2")
    run_jobs()
    assert Conversation.objects.get().metadata["referral"]["ref"] == "r2"


def test_a_reply_names_the_message_that_it_answers(socialnet):
    first = came(socialnet, "text", text="One")
    second = came(socialnet, "text", text="Two", reply_to=first.provider_message_id)
    assert second.in_reply_to == first


def test_an_edit_changes_the_words(socialnet):
    first = came(socialnet, "text", text="Tea, plese")
    socialnet.act("edit", message=first.provider_message_id, text="Tea, please")
    run_jobs()
    first.refresh_from_db()
    assert (first.text, first.content[0]["text"]) == ("Tea, please", "Tea, please")
    assert first.edited_at
    assert Event.objects.filter(type="message.updated").count() == 1


def test_an_unsent_message_loses_its_words_and_files(socialnet, ann):
    first = came(socialnet, "attachment", type="image", text="Oops")
    name = str(Attachment.objects.get().file)
    socialnet.act("unsend", message=first.provider_message_id)
    run_jobs()
    first.refresh_from_db()
    assert (first.text, first.content, Attachment.objects.count()) == ("", [], 0)
    shown = ann.get(f"/ai/chat/{first.conversation_id}/history").json()["items"][0]
    assert shown["deleted_at"]
    assert not Attachment._meta.get_field("file").storage.exists(name)


def test_a_reaction_is_shown_and_taken_back(socialnet, ben):
    came(socialnet, "text", text="Hello")
    chat = Conversation.objects.get()
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Hi"})
    socialnet.settle()
    answer = Message.objects.get(sender_type="agent")
    socialnet.act("reaction", message=answer.provider_message_id, reaction="love")
    run_jobs()
    answer.refresh_from_db()
    assert answer.customer_reaction == "❤️"
    socialnet.act("unreact", message=answer.provider_message_id)
    run_jobs()
    answer.refresh_from_db()
    assert answer.customer_reaction == ""


def test_changes_that_come_before_their_message_are_applied_when_it_comes(socialnet, ann):
    edit = {"message_edit": {"mid": "m_1", "text": "new", "num_edit": "1"}}
    message = {"message": {"mid": "m_1", "text": "old"}}
    post_signed(ann, "/socialnet/webhook", event(edit))
    run_jobs()
    assert not Message.objects.exists()
    post_signed(ann, "/socialnet/webhook", event(message))
    run_jobs()
    stored = Message.objects.get()
    assert (stored.text, stored.edited_at is not None) == ("new", True)
    assert not InboundItem.objects.exclude(awaited_message_id="").exists()


def test_the_bot_is_silent_if_another_app_had_the_thread_before_the_first_message(
    socialnet, ann, bot
):
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=False)
    taken = {"take_thread_control": {"previous_owner_app_id": "900000001"}}
    post_signed(ann, "/socialnet/webhook", event(taken))
    run_jobs()
    post_signed(ann, "/socialnet/webhook", event({"message": {"mid": "m_1", "text": "Hello?"}}))
    run_jobs()
    chat = Conversation.objects.get()
    assert (chat.assign_type, chat.handoff_reason) == ("queue", "answered_elsewhere")
    assert [message.text for message in Message.objects.filter(is_note=False)] == ["Hello?"]
    assert not OutboundSend.objects.exists()
    assert not InboundItem.objects.exclude(awaited_message_id="").exists()


def test_a_thread_that_came_back_before_the_first_message_is_the_bots(socialnet, ann, bot):
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=False)
    for part in (
        {"take_thread_control": {"previous_owner_app_id": "900000001"}},
        {"pass_thread_control": {}, "timestamp": 1795226399990},
        {"message": {"mid": "m_1", "text": "Hello?"}, "timestamp": 1795226399999},
    ):
        post_signed(ann, "/socialnet/webhook", event(part))
        run_jobs()
    assert Conversation.objects.get().handoff_reason != "answered_elsewhere"
    assert Message.objects.filter(sender_type="bot").exists()


def test_the_bot_is_silent_if_another_app_took_the_thread_after_the_chat_had_ended(
    socialnet, ann, ben, bot
):
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=False)
    post_signed(ann, "/socialnet/webhook", event({"message": {"mid": "m_1", "text": "Hello?"}}))
    run_jobs()
    chat = Conversation.objects.get()
    assert ben.post(f"/ai/chat/{chat.pk}/agent-end").status_code == 200
    taken = {"take_thread_control": {"previous_owner_app_id": "900000001"}}
    again = {"message": {"mid": "m_2", "text": "Is it blue?"}, "timestamp": 1795226399999}
    bots = Message.objects.filter(sender_type="bot").count()
    for part in (taken, again):
        post_signed(ann, "/socialnet/webhook", event(part))
        run_jobs()
    chat.refresh_from_db()
    assert (chat.assign_type, chat.handoff_reason) == ("queue", "answered_elsewhere")
    assert Message.objects.filter(sender_type="bot").count() == bots


def test_agents_read_that_another_app_took_the_thread_and_gave_it_back(socialnet, ann, bot):
    """Also while the customer waits for an agent anyway."""
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)
    for part in (
        {"message": {"mid": "m_1", "text": "Hello?"}},
        {"take_thread_control": {"previous_owner_app_id": "900000001"}},
        {"pass_thread_control": {}, "timestamp": 1795226399999},
        {"pass_thread_control": {}, "timestamp": 1795226400999},
    ):
        post_signed(ann, "/socialnet/webhook", event(part))
        run_jobs()
    notes = Message.objects.filter(is_note=True).order_by("seq")
    kinds = [note.metadata["lines"][0]["kind"] for note in notes]
    assert kinds == ["thread_taken", "thread_returned"]


def test_a_link_that_led_a_new_customer_here_is_shown_with_the_first_message(socialnet, ann):
    link = {"referral": {"ref": "spring", "source": "SHORTLINK", "type": "OPEN_THREAD"}}
    post_signed(ann, "/socialnet/webhook", event(link))
    run_jobs()
    assert not Conversation.objects.exists()
    for number in (1, 2):
        body = event({"message": {"mid": f"m_{number}", "text": "Is it blue?"}})
        post_signed(ann, "/socialnet/webhook", body)
        run_jobs()
    first, second = Message.objects.filter(sender_type="customer").order_by("seq")
    assert [line["text"] for line in first.metadata["lines"]] == ["spring"]
    assert "lines" not in second.metadata
    assert first.conversation.metadata["referral"] == link["referral"]


def test_an_agent_who_answers_elsewhere_is_heard_and_the_bot_steps_back(socialnet, bot):
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=False)
    came(socialnet, "text", text="Hello")
    chat = Conversation.objects.get()
    chat.status, chat.assign_type = "open", "bot"
    chat.save()
    socialnet.act("agent_wrote", text="I answer in the inbox")
    run_jobs()
    answer = Message.objects.get(text="I answer in the inbox")
    chat.refresh_from_db()
    assert (answer.sender_type, answer.status) == ("agent", "sent")
    assert (chat.assign_type, chat.handoff_reason) == ("queue", "answered_elsewhere")
    assert "I answer in the inbox" not in [
        call for call in socialnet.sim.calls(what="sends") if "I answer" in str(call["body"])
    ]


def test_a_thumb_on_an_answer_is_a_rating_of_it(socialnet, ben, ann):
    came(socialnet, "text", text="Hello")
    ben.post(f"/ai/chat/{Conversation.objects.get().pk}/manual", {"text": "Hi"})
    socialnet.settle()
    answer = Message.objects.get(sender_type="agent")
    user = CustomerIdentity.objects.get().provider_user_id
    thumb = {"response_feedback": {"feedback": "Bad response", "mid": answer.provider_message_id}}
    post_signed(ann, "/socialnet/webhook", event(thumb, user=user))
    run_jobs()
    rating = Feedback.objects.get()
    assert (rating.message, rating.thumb, rating.rating) == (answer, "down", None)


def test_a_customer_has_a_row_of_its_own_at_each_page(socialnet):
    came(socialnet, "text", text="Hello")
    identity = CustomerIdentity.objects.get()
    assert (identity.channel, identity.account_id) == ("socialnet", PAGE)
    assert identity.customer.external_id is None


def test_a_customer_whom_the_client_identifies_goes_on_in_the_same_chat(socialnet, bot, ann):
    came(socialnet, "text", text="Hello")
    chat = Conversation.objects.get()
    server = make_key(ann.client, "secret", bot.pk)
    server.post("/ai/client/chat", {"customer": {"external_id": "c-1", "name": "Known"}})
    named = server.post(f"/ai/client/chat/customer/{chat.pk}", {"external_id": "c-1"})
    assert named.status_code == 200
    message = came(socialnet, "text", text="Again")
    assert message.conversation_id == chat.pk
    assert Conversation.objects.filter(channel="socialnet").count() == 1


def test_a_profile_that_is_refused_loses_no_message(socialnet):
    socialnet.sim.fault("code", what="profiles", code=230)
    message = came(socialnet, "text", text="Hello")
    assert (message.text, message.conversation.customer.name) == ("Hello", "")


def test_a_customer_who_writes_after_the_end_opens_the_chat_again(socialnet, ben):
    came(socialnet, "text", text="Hello")
    chat = Conversation.objects.get()
    assert ben.post(f"/ai/chat/{chat.pk}/agent-end").status_code == 200
    message = came(socialnet, "text", text="One more thing")
    chat.refresh_from_db()
    assert (message.conversation_id, chat.status) == (chat.pk, "open")


def test_a_customer_who_writes_long_after_the_end_begins_a_chat_that_follows(socialnet, ben, ann):
    ann.post(f"/config/{ann.client.pk}/chat", {"reopen_window_minutes": 0})
    came(socialnet, "text", text="Hello")
    old = Conversation.objects.get()
    ben.post(f"/ai/chat/{old.pk}/agent-end")
    message = came(socialnet, "text", text="A week later")
    assert message.conversation.previous_chat_id == old.pk
    new = message.conversation
    ben.post(f"/ai/chat/{new.pk}/manual", {"text": "Welcome back"})
    socialnet.settle()
    assert "Welcome back" in socialnet.replies()


def test_what_an_export_holds_of_it_an_import_can_read(socialnet):
    came(socialnet, "attachment", type="image", url="https://evil.example/p.png", text="Look")
    gone = came(socialnet, "text", text="Oops")
    socialnet.act("unsend", message=gone.provider_message_id)
    run_jobs()
    refused, deleted = (
        MessageEntity.model_validate(MessageEntity.from_row(row))
        for row in Message.objects.order_by("seq")
    )
    assert refused.content[1].error
    assert deleted.deleted_at


def test_what_a_blocked_customer_does_stays_in_its_callback(socialnet, ben):
    """On every channel: it is the customer who is blocked."""
    message = came(socialnet, "text", text="Hello")
    customer = f"/ai/customers/{message.conversation.customer_id}"
    ben.put(customer, {"blocked_until": "9999-01-01T00:00:00Z"})
    events = Event.objects.count()
    assert came(socialnet, "text", text="You!") == message
    socialnet.act("edit", message=message.provider_message_id, text="You!")
    run_jobs()
    message.refresh_from_db()
    assert (message.text, Event.objects.count()) == ("Hello", events)
    kept = InboundItem.objects.filter(outcome=Outcome.UNSUPPORTED, kind="customer_blocked")
    assert [b"You!" in bytes(item.callback.body) for item in kept.order_by("pk")] == [True, True]
    ben.put(customer, {"blocked_until": None})
    assert came(socialnet, "text", text="Sorry").text == "Sorry"


@pytest.mark.full
def test_no_rating_survey_or_referral_of_a_blocked_customer_counts(socialnet, ben, ann):
    came(socialnet, "text", text="Hello")
    chat = Conversation.objects.get()
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Hi"})
    ben.post(f"/ai/chat/{chat.pk}/agent-end")
    socialnet.settle()
    answer = Message.objects.get(sender_type="agent")
    user = CustomerIdentity.objects.get().provider_user_id
    thumb = {"response_feedback": {"feedback": "Bad response", "mid": answer.provider_message_id}}
    customer = f"/ai/customers/{chat.customer_id}"
    ben.put(customer, {"blocked_until": "9999-01-01T00:00:00Z"})
    events = Event.objects.count()
    reply = post_signed(ann, "/socialnet/webhook", event(thumb, user=user))
    assert reply.status_code == 200
    socialnet.act("survey", score="1", comment="You!")
    socialnet.act("referral", ref="you")
    run_jobs()
    assert not InboundItem.objects.filter(outcome=Outcome.WAITING).exists()
    assert InboundItem.objects.filter(kind="customer_blocked").count() == 3
    chat.refresh_from_db()
    assert "referral" not in chat.metadata
    assert (Feedback.objects.count(), Event.objects.count()) == (0, events)
    # Others are not held up, and what they unsend is cleared.
    came(socialnet, "text", user="binh", text="Hi from me")
    assert Message.objects.filter(text="Hi from me").exists()
    own = Message.objects.get(text="Hello")
    socialnet.act("unsend", message=own.provider_message_id)
    run_jobs()
    assert Message.objects.get(pk=own.pk).deleted_at
