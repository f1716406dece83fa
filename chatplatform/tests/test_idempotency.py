"""Idempotency-Key: a repeated request gets the first answer and changes nothing."""

import io
import threading
from datetime import timedelta
from urllib.parse import urlencode

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from bots.models import Document
from chatplatform.api import idempotency
from chatplatform.crypto import hash_secret
from chatplatform.models import IdempotentResponse, Job
from chatplatform.testing import run_before
from chatplatform.tests.served import ALL, REGISTRATION
from chats.models import Conversation, Message
from identity.models import ApiKey, AuditEvent, Client, PasswordReset
from identity.services import tokens
from identity.testing import PASSWORD, Person, make_key

KEY = {"Idempotency-Key": "order-1"}
CHAT = {"customer": {"name": "Zoe"}, "message": "Hello"}


def test_repetition_gets_the_first_answer(server):
    first = server.post("/ai/client/chat", CHAT, **KEY)
    again = server.post("/ai/client/chat", CHAT, **KEY)

    assert first.status_code == again.status_code == 201
    assert again.content == first.content
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert Conversation.objects.count() == 1
    assert Message.objects.count() == 1
    assert Job.objects.count() == 1


def test_without_a_key_both_count(server):
    server.post("/ai/client/chat", CHAT)
    server.post("/ai/client/chat", CHAT)
    assert Conversation.objects.count() == 2
    assert not IdempotentResponse.objects.exists()


def test_other_body_is_refused(server):
    server.post("/ai/client/chat", CHAT, **KEY)
    reply = server.post("/ai/client/chat", {**CHAT, "message": "Bye"}, **KEY)
    assert (reply.status_code, reply.json()["code"]) == (422, "idempotency_key_reused")
    assert Conversation.objects.count() == 1


def test_a_key_counts_for_one_caller_and_one_path(server, client_a, bot, cara, ann):
    other = make_key(client_a, "secret", bot.pk)
    chats = [caller.post("/ai/client/chat", CHAT, **KEY).json()["id"] for caller in (server, other)]
    sent = [
        server.post(f"/ai/client/chat/{chat}", {"text": "Hi", "reply": "none"}, **KEY).json()
        for chat in (chats[0], chats[0])
    ]
    assert len(set(chats)) == 2
    assert sent[0] == sent[1]
    for caller in (ann, cara):
        reply = caller.post("/identity/api-keys", {"name": "a", "scope": "secret"}, **KEY)
        assert reply.status_code == 201
    assert ApiKey.objects.filter(name="a").count() == 2


def test_a_refusal_is_not_stored(server):
    refused = server.post("/ai/client/chat", {"customer": {"email": "no"}}, **KEY)
    assert refused.status_code == 422
    assert server.post("/ai/client/chat", CHAT, **KEY).status_code == 201


@pytest.mark.parametrize(
    "key",
    ["", "x" * 256, "a\tb", "é", "<string>", "string", "<your-key-here>", "{{idempotencyKey}}",
     "undefined", "None"],
)  # fmt: skip
def test_wrong_key_is_refused(server, key):
    reply = server.post("/ai/client/chat", CHAT, **{"Idempotency-Key": key})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["header", "Idempotency-Key"]
    assert not Conversation.objects.exists()


def test_a_secret_in_an_answer_is_stored_encrypted(ann):
    first = ann.post("/identity/api-keys", {"name": "a", "scope": "secret"}, **KEY)
    again = ann.post("/identity/api-keys", {"name": "a", "scope": "secret"}, **KEY)
    secret = first.json()["key"]
    assert again.json()["key"] == secret
    assert ApiKey.objects.count() == 1
    with connection.cursor() as cursor:
        cursor.execute("SELECT response FROM chatplatform_idempotentresponse")
        assert secret not in cursor.fetchone()[0]


def test_tokens_are_kept_for_a_minute(ann, nobody):
    form = {"username": ann.user.email, "password": PASSWORD}
    first = sign_in(nobody, **form).json()
    assert sign_in(nobody, **form).json() == first
    with time_machine.travel(timezone.now() + timedelta(seconds=61)):
        assert sign_in(nobody, **form).json()["access_token"] != first["access_token"]
        idempotency.purge_expired()
    with time_machine.travel(timezone.now() + timedelta(seconds=150)):
        idempotency.purge_expired()
    assert not IdempotentResponse.objects.exists()


def test_every_reply_with_credentials_is_kept_for_a_minute():
    """Except a visitor's token: it opens that visitor's chats alone, and begins a chat once."""
    words = {"access_token", "secret", "key", "ticket"}
    found = [
        operation.declared
        for operation in ALL
        if operation.at[0] == "POST"
        and words & set(getattr(operation.declared.returns, "model_fields", ()))
    ]
    assert len(found) >= 6
    assert [declared.name for declared in found if not declared.gives_credentials] == []


def test_a_day_later_the_key_is_free(server):
    server.post("/ai/client/chat", CHAT, **KEY)
    IdempotentResponse.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert server.post("/ai/client/chat", CHAT, **KEY).status_code == 201
    assert Conversation.objects.count() == 2
    assert IdempotentResponse.objects.count() == 1


@pytest.mark.full
def test_a_message_with_a_reply_is_stored_once(server):
    chat = server.post("/ai/client/chat", {}).json()["id"]
    body = {"text": "Where is my parcel?", "reply": "async"}
    answers = [server.post(f"/ai/client/chat/{chat}", body, **KEY).json() for _ in range(2)]
    assert answers[0]["message"]["id"] == answers[1]["message"]["id"]
    assert Message.objects.count() == 1
    assert Job.objects.count() == 1


def test_an_upload_is_compared_by_its_parts(ann, bot):
    def upload(text):
        file = io.BytesIO(text)
        file.name = "hours.txt"
        path = f"/ai/{bot.pk}/train/document"
        headers = {**ann.headers, **KEY}
        return ann.browser.post(path, {"files": file}, headers=headers).status_code

    assert [upload(b"Open from nine."), upload(b"Open from nine.")] == [202, 202]
    assert upload(b"Closed today.") == 422
    assert Document.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_concurrent_repetition_gets_409(server):
    twin = []

    def send_again():
        def send():
            twin.append(server.post("/ai/client/chat", CHAT, **KEY))
            connection.close()

        thread = threading.Thread(target=send)
        thread.start()
        thread.join()

    with run_before("chats.services.reply.incoming.open_chat", send_again):
        first = server.post("/ai/client/chat", CHAT, **KEY)

    assert first.status_code == 201
    assert (twin[0].status_code, twin[0].json()["code"]) == (409, "request_in_flight")
    assert twin[0].headers["Retry-After"] == "1"
    assert Conversation.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_operation_that_waits_holds_no_transaction_open(server):
    in_transaction = []
    body = {"text": "Parcels take three days. They come by post. " * 5}

    def look():
        in_transaction.append(connection.in_atomic_block)

    with run_before("chats.services.insight.agent_assist.summarize", look):
        first = server.post("/client/summarize", body, **KEY)
    assert first.status_code == 200
    assert in_transaction == [False]
    again = server.post("/client/summarize", body, **KEY)
    assert (again.content, again.headers["Idempotent-Replayed"]) == (first.content, "true")


@pytest.mark.django_db(transaction=True)
def test_any_other_operation_stores_its_answer_in_its_own_transaction(server):
    in_transaction = []

    def look():
        in_transaction.append(connection.in_atomic_block)

    with run_before("chats.services.reply.incoming.open_chat", look):
        server.post("/ai/client/chat", CHAT, **KEY)
    assert in_transaction == [True]


# --- without a caller -----------------------------------------------------------------------------

FORM = "application/x-www-form-urlencoded"


def sign_in(nobody, **form):
    return nobody.browser.post("/identity/token2", urlencode(form), content_type=FORM, headers=KEY)


def test_the_same_registration_twice_is_the_same_answer(db, nobody):
    first = nobody.post("/identity/register-trial", REGISTRATION, **KEY)
    again = nobody.post("/identity/register-trial", REGISTRATION, **KEY)
    assert (first.status_code, again.status_code) == (201, 201)
    assert (again.content, again.headers["Idempotent-Replayed"]) == (first.content, "true")
    assert Client.objects.count() == 1
    without = nobody.post("/identity/register-trial", REGISTRATION)
    assert (without.status_code, without.json()["code"]) == (409, "email_taken")


def test_anybodys_key_counts_with_the_body_alone(db, nobody):
    """Somebody else's key must give away nothing, and refuse nobody."""
    nobody.post("/identity/register-trial", REGISTRATION, **KEY)
    other = nobody.post(
        "/identity/register-trial", REGISTRATION | {"email": "eve@delta.example"}, **KEY
    )
    assert other.status_code == 201
    assert "Idempotent-Replayed" not in other.headers
    wrong = REGISTRATION | {"password": "guessed-horse-battery"}
    reply = nobody.post("/identity/register-trial", wrong, **KEY)
    assert (reply.status_code, reply.json()["code"]) == (409, "email_taken")
    assert Client.objects.count() == 2


def test_a_lost_answer_to_a_refresh_does_not_end_the_sign_in(ann, nobody):
    form = {"grant_type": "refresh_token", "refresh_token": tokens.issue(ann.user).refresh_token}
    first, again = sign_in(nobody, **form), sign_in(nobody, **form)
    assert (first.status_code, again.content) == (200, first.content)
    token = again.json()["access_token"]
    assert Person({"Authorization": f"Bearer {token}"}).get("/identity/users/me").status_code == 200


def test_a_key_hides_no_failure(ann, nobody):
    """Refusals are counted though they are not stored: else a key would make guessing free."""
    for _ in range(10):
        assert sign_in(nobody, username=ann.user.email, password="wrong").status_code == 401
    assert sign_in(nobody, username=ann.user.email, password=PASSWORD).status_code == 429
    assert not IdempotentResponse.objects.exists()


def test_a_key_hides_no_reuse(ann, nobody):
    refresh_token = tokens.issue(ann.user).refresh_token
    form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    pair = nobody.browser.post("/identity/token2", urlencode(form), content_type=FORM).json()
    assert sign_in(nobody, **form).status_code == 401
    person = Person({"Authorization": f"Bearer {pair['access_token']}"})
    assert person.get("/identity/users/me").status_code == 401, "the whole sign-in has ended"


def test_a_reset_works_once_and_its_repetition_is_harmless(ann, nobody):
    PasswordReset.objects.create(
        client=ann.client, user=ann.user, token_hash=hash_secret("t"),
        expires_at=timezone.now() + timedelta(hours=1),
    )  # fmt: skip
    paths = ("/identity/verify-reset-token", "/identity/reset-password")
    bodies = ({"token": "t"}, {"token": "t", "new_password": "another-horse-battery"})
    for path, body in zip(paths, bodies, strict=True):
        for replayed in (None, "true"):
            reply = nobody.post(path, body, **KEY)
            assert (reply.status_code, reply.get("Idempotent-Replayed")) == (204, replayed)
    assert nobody.post(paths[1], bodies[1]).status_code == 400
    assert AuditEvent.objects.filter(action="user.password_set").count() == 1


def test_a_forgotten_password_is_mailed_once(ann, nobody):
    for _ in range(2):
        reply = nobody.post("/identity/forgot-password", {"email": ann.user.email}, **KEY)
        assert reply.status_code == 202
    assert Job.objects.filter(name="identity.send_reset_link").count() == 1
