"""Add Socialnet Access Token."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from chatplatform.crypto import CryptoError
from identity.models import AuditEvent, ChannelAccessToken
from identity.services import clients

PATH = "/identity/socialnet-access-token"
SECRET = "EAAG-marker-of-a-token"
GIVEN = {"access_token": SECRET, "expires_in": 3600, "user_external_id": "10158"}


def test_stored_encrypted_and_never_shown(ann):
    reply = ann.post(PATH, GIVEN)
    assert (reply.status_code, reply.content) == (204, b"")
    row = ChannelAccessToken.objects.for_client(ann.client).get()
    assert (row.access_token, row.channel, row.user_external_id) == (SECRET, "socialnet", "10158")
    assert row.expires_at
    assert abs(row.expires_at - timezone.now() - timedelta(hours=1)) < timedelta(minutes=1)
    assert row.created_by == ann.user
    with connection.cursor() as cursor:
        cursor.execute("SELECT t::text FROM identity_channelaccesstoken t")
        assert SECRET not in cursor.fetchone()[0]
    event = AuditEvent.objects.get()
    assert (event.action, event.user) == ("socialnet_token.stored", ann.user)
    assert SECRET not in str(event.changes)


def test_a_newer_token_replaces_it(ann):
    ann.post(PATH, GIVEN)
    assert ann.post(PATH, {"access_token": "newer"}).status_code == 204
    row = ChannelAccessToken.objects.get()
    assert (row.access_token, row.expires_at, row.user_external_id) == ("newer", None, "")
    assert AuditEvent.objects.count() == 2


def test_it_cannot_be_decrypted_in_another_row(ann, cara):
    for person, token in ((ann, SECRET), (cara, "hers")):
        person.post(PATH, {"access_token": token})
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE identity_channelaccesstoken SET access_token ="
            " (SELECT access_token FROM identity_channelaccesstoken WHERE client_id = %s)"
            " WHERE client_id = %s",
            [ann.client.pk, cara.client.pk],
        )
    with pytest.raises(CryptoError):
        ChannelAccessToken.objects.for_client(cara.client).get().access_token  # noqa: B018 - decrypted on reading


@pytest.mark.parametrize(
    "change",
    [
        {"access_token": ""},
        {"access_token": "x" * 4001},
        {"access_token": "a\0b"},
        {"access_token": "EAA…"},
        {"access_token": "EAAé"},
        {"access_token": "EAA\nHost: x"},
        {"access_token": " EAA"},
        {"expires_in": 0},
        {"expires_in": 10**9},
        {"user_external_id": "x" * 201},
        {"channel": "photoapp"},
    ],
)
def test_wrong_body(ann, change):
    assert ann.post(PATH, GIVEN | change).status_code == 422
    assert not ChannelAccessToken.objects.exists()


def test_one_token_for_each_channel(ann):
    for channel in ("socialnet", "photoapp"):
        clients.store_channel_access_token(
            ann.client, channel=channel, access_token="x", expires_in=None, user_external_id="",
            by=ann.user,
        )  # fmt: skip
    assert ChannelAccessToken.objects.count() == 2
