"""Exportadhocreportrouter: the rows of a report as a file, which add up to what the search says."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from chatplatform import jobs
from chatplatform.jobs import leases
from chatplatform.models import Job
from chatplatform.testing import run_before, run_jobs
from chats.testing import make_chat
from identity.models import AuditEvent, User
from reports import tasks
from reports.models import Export
from reports.services import exports, table_writer
from reports.testing import PARSERS, rows_of_csv, rows_of_xlsx

pytestmark = pytest.mark.django_db(transaction=True)
EXPORT, SEARCH = "/report/adhoc/export", "/report/adhoc/search"
OCTOBER = {"date_from": "2026-10-01", "date_to": "2026-10-31"}


def download(person, **body):
    reply = person.post(EXPORT, OCTOBER | body)
    assert reply.status_code == 200, reply.content
    return b"".join(reply.streaming_content), reply


def test_it_is_a_download_with_a_row_for_each_chat(ann, bot):
    chats = [make_chat(bot, created_at=datetime(2026, 10, day, tzinfo=UTC)) for day in (3, 4)]
    data, reply = download(ann, file_name="Oktober", columns=["chat_id", "bot_name", "messages"])
    assert reply["Content-Disposition"] == 'attachment; filename="Oktober.csv"'
    assert rows_of_csv(data) == [
        ["chat_id", "bot_name", "messages"],
        *[[str(chat.pk), "Helper", "0"] for chat in chats[::-1]],
    ]
    data, reply = download(ann, format="xlsx", group_by=["bot"])
    assert reply["Content-Type"] == table_writer.MIME_TYPES["xlsx"]
    assert rows_of_xlsx(data) == [
        ["Bot", "Bot", "Conversations", "Messages"], [str(bot.pk), "Helper", "2", "0"],
    ]  # fmt: skip


def test_who_took_which_rows_is_recorded_without_their_values(ann, nobody, two_chats):
    recorded = AuditEvent.objects.filter(action__startswith="report.").order_by("pk")
    download(ann, tags=["secret word"], channels=[])
    asked: dict[str, Any] = {"user": ann.user.pk, "changes__rows": 0}
    assert recorded.get(**asked).changes["fields"] == ["date_from", "date_to", "tags"]
    export = ask(ann)
    assert nobody.get(export["url"]).status_code == 202
    run_jobs()
    assert rows_of_csv(b"".join(nobody.get(export["url"]).streaming_content))[1:]
    assert [(row.action, row.user, row.subject, row.changes["rows"]) for row in recorded[1:]] == [
        (action, ann.user, f"export:{export['id']}", 2)
        for action in ("report.exported", "report.downloaded")
    ]
    assert "secret" not in str(list(recorded.values()))
    refused = ann.post(EXPORT, OCTOBER | {"columns": ["joy"]})
    assert refused.status_code == 422
    assert recorded.count() == 3


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "＝1+1", "\t=1", "=cmd|' /C'!A0"])
def test_no_text_becomes_a_formula(ann, bot, text):
    make_chat(bot, created_at=datetime(2026, 10, 3, tzinfo=UTC), tags=[text])
    asked: dict[str, Any] = {"columns": ["tags"]}
    assert rows_of_csv(download(ann, **asked)[0])[1] == [f"'{text}"]
    assert rows_of_xlsx(download(ann, format="xlsx", **asked)[0])[1] == [text]


@pytest.mark.parametrize(
    "text", ["; =1+1", "late;@SUM(A1)", "a\n=1+1", "\r=1", "a;\r\n -1", ";;＝1"]
)
def test_no_piece_of_a_cell_becomes_a_formula_elsewhere(ann, bot, text):
    """Where semicolons separate, or a quotation mark inside a line says nothing."""
    make_chat(bot, created_at=datetime(2026, 10, 3, tzinfo=UTC), tags=[text])
    (cell,) = rows_of_csv(download(ann, columns=["tags"])[0])[1]
    pieces = [piece.strip() for piece in re.split(r"[;\r\n]", cell)]
    assert not [piece for piece in pieces if piece.startswith(("=", "@", "-", "＝"))]
    assert cell.replace("'", "") == text
    (table,) = rows_of_xlsx(download(ann, format="xlsx", columns=["tags"])[0])[1:]
    assert table[0].replace("_x000D_", "\r") == text


@pytest.fixture
def two_chats(bot, settings, tmp_path):
    """One more than an answer holds; and a media store of this test's own."""
    settings.MEDIA_ROOT = tmp_path
    settings.EXPORT_INLINE_LIMIT = 1
    return [make_chat(bot, created_at=datetime(2026, 10, day, tzinfo=UTC)) for day in (3, 4)]


def ask(person, **body):
    reply = person.post(EXPORT, OCTOBER | body)
    assert reply.status_code == 202, reply.content
    return reply.json()


def stored_files():
    try:
        return default_storage.listdir("reports")[1]
    except FileNotFoundError:
        return []


@pytest.mark.parametrize("form", PARSERS)
@pytest.mark.parametrize("group_by", [[], ["day"]])
def test_a_large_export_is_written_by_a_worker(ann, nobody, two_chats, form, group_by, settings):
    body = {"format": form, "group_by": group_by, "file_name": "all"}
    export = ask(ann, **body)
    path = f"{EXPORT}/{export['id']}"
    assert (export["status"], export["progress"], export["rows"]) == ("queued", 0, 2)
    waiting = ann.get(path)
    assert (waiting.status_code, nobody.get(export["url"]).status_code) == (202, 202)
    run_jobs()
    replies = [ann.get(path), nobody.get(export["url"])]
    files = [b"".join(reply.streaming_content) for reply in replies]
    assert files[0] == files[1]
    assert replies[0]["Content-Disposition"] == f'attachment; filename="all.{form}"'
    settings.EXPORT_INLINE_LIMIT = 2
    at_once = download(ann, **body)[0]
    assert PARSERS[form](files[0]) == PARSERS[form](at_once)
    assert len(PARSERS[form](files[0])) == 3


def test_the_progress_of_an_export_is_told(ann, two_chats, monkeypatch):
    monkeypatch.setattr(exports, "_PAGE_ROWS", 1)
    path, seen = f"{EXPORT}/{ask(ann)['id']}", []

    def look():
        seen.append(ann.get(path).json())

    with run_before("chatplatform.media.store", look):
        run_jobs()
    assert [(row["status"], row["progress"]) for row in seen] == [("running", 99)]


def test_what_a_worker_does_not_understand_waits_for_one_of_the_other_release(ann, two_chats):
    export = Export.objects.get(pk=ask(ann)["id"])
    known, unknown = export.param, export.param | {"asked_by_a_newer_release": True}
    Export.objects.update(param=unknown)
    run_jobs()
    assert Export.objects.get().status == "queued"
    Export.objects.update(param=known | {"limit": 50, "cursor": None})
    Job.objects.update(due_at=timezone.now())
    run_jobs()
    assert Export.objects.get().status == "done"


def test_a_link_is_of_one_export_and_of_whom_it_was_made_for(ann, ben, cara, nobody, two_chats):
    export, other = ask(ann), ask(ben)
    signature = export["url"].partition("=")[2]
    own, others = (f"{EXPORT}/{row['id']}?signature" for row in (export, other))
    for wrong in (f"{others}={signature}", f"{export['url']}x", f"{own}=", f"{own}=%3A1"):
        assert nobody.get(wrong).status_code == 401, wrong
    User.objects.filter(pk=ben.user.pk).update(is_disabled=True)
    assert nobody.get(other["url"]).status_code == 401
    assert nobody.get(export["url"]).status_code == 202
    assert cara.get(f"{EXPORT}/{export['id']}").status_code == 404


def test_an_export_is_deleted_after_its_day(ann, nobody, two_chats, time_machine):
    export = ask(ann)
    run_jobs()
    tasks.clean_up()
    run_jobs()
    assert len(stored_files()) == 1
    time_machine.move_to(datetime.now(UTC) + timedelta(hours=25))
    assert nobody.get(export["url"]).status_code == 401
    tasks.clean_up()
    run_jobs()
    assert (Export.objects.count(), stored_files()) == (0, [])


def test_the_export_of_a_dead_worker_is_written_again_and_once(ann, two_chats):
    path = f"{EXPORT}/{ask(ann)['id']}"
    job = Job.objects.get(name="reports.write_export")
    assert leases.claim(job.pk)
    Job.objects.filter(pk=job.pk).update(lease_until=two_chats[0].created_at)
    leases.requeue_lost(job.pk)

    def die():
        raise jobs.LeaseLost

    with run_before("chatplatform.jobs.commit", die):
        run_jobs()
    assert (ann.get(path).status_code, stored_files()) == (202, [])
    # This time its process lives.
    Job.objects.filter(pk=job.pk).update(lease_until=two_chats[0].created_at, crashes=0)
    leases.requeue_lost(job.pk)
    run_jobs()
    run_jobs()
    written = ann.get(path)
    assert (written.status_code, len(stored_files())) == (200, 1)
    assert len(rows_of_csv(b"".join(written.streaming_content))) == 3


def test_an_export_that_cannot_be_made_says_so(ann, two_chats, monkeypatch):
    export = ask(ann, format="xlsx")
    monkeypatch.setattr(table_writer, "XLSX_ROWS", 1)
    run_jobs()
    reply = ann.get(f"{EXPORT}/{export['id']}")
    assert (reply.status_code, reply.json()["code"]) == (409, "export_failed")
    assert (reply.json()["export_id"], stored_files()) == (export["id"], [])
    reply = ann.post(EXPORT, OCTOBER | {"format": "xlsx"})
    assert (reply.status_code, "Export as CSV instead" in reply.content.decode()) == (422, True)
    monkeypatch.setattr(exports, "MAX_EXPORTS", 1)
    reply = ann.post(EXPORT, OCTOBER)
    assert (reply.status_code, reply.json()["code"]) == (409, "too_many_exports")
    assert Export.objects.count() == 1


@pytest.mark.parametrize("path", [EXPORT, SEARCH])
def test_a_query_is_refused_where_the_body_asks(ann, path):
    assert ann.post(f"{path}?format=xlsx", OCTOBER).status_code == 422


@pytest.mark.parametrize(
    "body",
    [{"columns": ["joy"]}, {"columns": ["chat_id"], "group_by": ["day"]}, {"format": "pdf"},
     {"file_name": "../a"}, {"limit": 3}],
)  # fmt: skip
def test_what_a_report_does_not_have_is_refused(ann, body):
    assert ann.post(EXPORT, OCTOBER | body).status_code == 422


def test_rows_come_page_by_page_and_none_is_missed(ann, bot, monkeypatch):
    monkeypatch.setattr(exports, "_PAGE_ROWS", 2)
    same = datetime(2026, 10, 3, tzinfo=UTC)
    made = {str(make_chat(bot, created_at=same).pk) for _ in range(5)}
    table = rows_of_csv(download(ann, columns=["chat_id"])[0])[1:]
    assert ({row[0] for row in table}, len(table)) == (made, 5)


def test_another_clients_chats_are_not_in_it(cara, bot):
    make_chat(bot, created_at=datetime(2026, 10, 3, tzinfo=UTC))
    assert len(rows_of_csv(download(cara)[0])) == 1
