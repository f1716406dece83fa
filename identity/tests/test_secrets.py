"""No secret is in a log line, or unencrypted in a row."""

import logging

import pytest
from django.apps import apps
from django.core import mail
from django.db import connection

from chatplatform.testing import run_jobs
from identity.testing import PASSWORD, Person

pytestmark = pytest.mark.django_db(transaction=True)

NEW = "marker-new-horse-battery"
WRONG = "marker-wrong-horse-battery"
TOKEN = "marker-of-a-channel-token"


def rows():
    """Every row of every table, as text."""
    tables = [model._meta.db_table for model in apps.get_models(include_auto_created=True)]
    assert len(tables) > 20
    values = []
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f'SELECT t::text FROM "{table}" t')
            values += [row[0] for row in cursor.fetchall()]
    return "\n".join(values)


def secrets_used(ann, ben, nobody):
    """Use every operation that handles a secret; returns the secrets."""
    signed_in = nobody.upload("/identity/token2", username=ben.user.email, password=PASSWORD).json()
    nobody.upload("/identity/token2", username=ben.user.email, password=WRONG)
    # A password typed into the e-mail field.
    nobody.upload("/identity/token2", username=WRONG, password=WRONG)
    form = {"grant_type": "refresh_token", "refresh_token": signed_in["refresh_token"]}
    again = nobody.upload("/identity/token2", **form).json()
    nobody.upload("/identity/token2", **form)
    key = ann.post("/identity/api-keys", {"name": "Server"}).json()["key"]
    Person({"API-KEY": key}).get("/identity/languages/by-api-key")
    Person({"API-KEY": key + "x"}).get("/identity/languages/by-api-key")
    ann.post("/identity/socialnet-access-token", {"access_token": TOKEN})
    ann.post("/identity/socialnet-access-token", {"access_token": TOKEN, "no": 1})
    ann.post("/identity/users", {"email": "e@e.example", "full_name": "E", "password": NEW})
    ann.post("/identity/users", {"email": "i@e.example", "full_name": "I"})
    ann.put(f"/identity/users/{ben.user.pk}/reset-password", {"password": NEW})
    nobody.post("/identity/forgot-password", {"email": ben.user.email})
    run_jobs()
    links = [message.body.partition("#token=")[2].split() for message in mail.outbox]
    mailed = [words[0] for words in links if words]
    assert len(mailed) == 2
    for token in mailed:
        nobody.post("/identity/reset-password", {"token": token, "new_password": "1234567890"})
        nobody.post("/identity/reset-password", {"token": token, "new_password": NEW})
    issued = [
        reply[name] for reply in (signed_in, again) for name in ("access_token", "refresh_token")
    ]
    return [PASSWORD, NEW, WRONG, TOKEN, key.partition(".")[2], *issued, *mailed]


def test_no_secret_in_logs_or_rows(ann, ben, nobody, caplog):
    caplog.set_level(logging.DEBUG)
    # The driver logs statements with values at DEBUG, which none of our settings enables.
    logging.getLogger("django.db.backends").setLevel(logging.INFO)
    used = secrets_used(ann, ben, nobody)
    run_jobs()
    stored = rows()
    assert ben.user.email in stored
    assert caplog.text
    for secret in used:
        assert secret
        assert secret not in stored
        assert secret not in caplog.text


@pytest.mark.parametrize("place", ["query", "body", "cookie"])
def test_a_key_is_read_from_its_header_only(ann, nobody, place):
    key = ann.post("/identity/api-keys", {"name": "Server"}).json()["key"]
    path = "/identity/languages/by-api-key"
    if place == "query":
        reply = nobody.get(path, {"API-KEY": key, "api_key": key})
    elif place == "cookie":
        nobody.browser.cookies["API-KEY"] = key
        reply = nobody.get(path)
    else:
        reply = nobody.browser.generic("GET", path, f'{{"API-KEY": "{key}"}}')
    assert reply.status_code == 401
    assert ann.get("/identity/api-keys").json()["items"][0]["last_used_at"] is None
