"""Documents are uploaded, read and asked about, and the right words of them are quoted."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from bots.models import Chunk
from bots.services import retrieval
from bots.tests.test_extract import WORD, docx_with_part
from bots.tests.test_hidden_and_misplaced_text import PLAIN, run
from bots.tests.test_office_files import words, xlsx_bytes
from bots.tests.test_pdf_pages import FORM, LAYER, OFF, SERVICES, drawn, form, pdf, text
from chatplatform.testing import run_jobs
from chats.models import Conversation

pytestmark = pytest.mark.django_db(transaction=True)

INTRO = text(60, 800, "The workshop in Mill Street writes a bill for each of its works.")
SAUNA = text(60, 760, "The sauna is heated every evening from six to nine.")
CODE = "The code of the staff door is PINE50."
HOUSE = "The sauna of the house is heated every evening from six to nine."


@pytest.fixture(autouse=True)
def _own_files(tmp_path: Any, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path
    retrieval.clear_cache()


def upload(person: Any, bot: Any, name: str, data: bytes) -> dict[str, Any]:
    files = [SimpleUploadedFile(name, data)]
    reply = person.upload(f"/ai/{bot.pk}/train/document", files=files)
    assert reply.status_code == 202, reply.content
    run_jobs()
    document_id = reply.json()["items"][0]["id"]
    document: dict[str, Any] = person.get(f"/ai/{bot.pk}/train/document/{document_id}").json()
    return document


def ask(person: Any, bot: Any, question: str) -> str:
    """The reply of the bot; "" if it hands over."""
    body = {"messages": [{"role": "user", "content": question}]}
    reply = person.post(f"/ai/{bot.pk}/generate-chat", body)
    assert reply.status_code == 200, reply.content
    run_jobs()
    chat = Conversation.objects.latest("created_at")
    generated = person.post(f"/ai/chat/{chat.pk}/generate", None).json()
    is_answered = generated["status"] == "answered"
    return generated["message"]["content"][0]["text"] if is_answered else ""


STAFF = text(60, 600, CODE)
WHITE = '<w:color w:val="FFFFFF"/>'
WORD_FILE = docx_with_part(
    WORD
    + f"<w:p>{run(HOUSE)}</w:p><w:p>{run(CODE, '<w:vanish/>')}</w:p>"
    f"<w:p>{run(CODE, WHITE)}</w:p></w:body></w:document>".encode()
)
SHEET = xlsx_bytes(
    '</sheetData><cols><col min="3" max="3" width="0"/></cols><sheetData>'
    + words("Place", "Heated", "Code") + words("Sauna", "from six to nine", CODE),
    words("Code", "Door") + words(CODE, "staff"),
    hidden=1,
)  # fmt: skip
PAGE = (
    f"<html><body><main><h1>House</h1><p>{HOUSE}</p><p>{PLAIN}</p>"
    f'<p style="font-size:0">{CODE}</p><p style="opacity:0">{CODE}</p>'
    f'<p style="position:absolute;left:-9999px">{CODE}</p><!-- {CODE} --></main></body></html>'
)


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("white.pdf", pdf(f"{INTRO} {SAUNA} q 1 g {STAFF} Q")),
        ("covered.pdf", pdf(f"{INTRO} {SAUNA} {STAFF} 1 g 0 590 595 40 re f")),
        ("invisible.pdf", pdf(f"{INTRO} {SAUNA} {STAFF.replace('BT', 'BT 3 Tr')}")),
        (
            "layer.pdf",
            pdf(
                f"{INTRO} {SAUNA} /X Do",
                resources=FORM,
                catalog=OFF,
                more=[LAYER, form(STAFF, "/OC 100 0 R")],
            ),
        ),
        ("hidden.docx", WORD_FILE),
        ("hidden.xlsx", SHEET),
        ("hidden.html", PAGE.encode()),
        ("hidden.md", f"# House\n\n{HOUSE}\n\n{PLAIN}\n\n<!-- {CODE} -->\n".encode()),
    ],
)
def test_what_is_hidden_is_told_to_nobody(ann, bot, name, data):
    document = upload(ann, bot, name, data)
    assert document["status"] == "trained"
    assert not Chunk.objects.filter(text__contains="PINE50").exists()
    assert "PINE50" not in ask(ann, bot, "What is the code of the staff door?")
    assert "six to nine" in ask(ann, bot, "When is the sauna heated?")


@pytest.mark.full
@pytest.mark.parametrize("rules", ["", "boxes"])
@pytest.mark.parametrize("place", [0, 0.5, 1])
def test_prices_stand_beside_their_names(ann, bot, place, rules):
    upload(
        ann,
        bot,
        "prices.pdf",
        pdf(f"{INTRO} {drawn(SERVICES, (60, 180), place=place, rules=rules)}"),
    )
    for size, name, price, other in (
        ("small", "Small inspection with oil change", "49 euros", "89 euros"),
        ("large", "Large inspection with oil and all of the filters", "89 euros", "49 euros"),
    ):
        answer = ask(ann, bot, f"What does the {size} inspection cost?")
        (row,) = [line for line in answer.splitlines() if name in line]
        assert price in row
        assert other not in row


@pytest.mark.full
def test_losses_are_named(ann, bot):
    scans = upload(ann, bot, "a.pdf", pdf(f"{INTRO} {SAUNA}", *[""] * 9))
    assert (scans["status"], "(9/10)" in scans["warning"]) == ("trained", True)
    assert "(1/2)" in upload(ann, bot, "a.xlsx", SHEET)["warning"]


def test_words_without_spaces_are_not_trained(ann, bot):
    glued = text(60, 700, "Theferryleavesatseven.Ticketscost12eurosforadultsand6forchildren.")
    document = upload(ann, bot, "a.pdf", pdf(glued))
    assert (document["status"], document["error"]["code"]) == ("failed", "unreadable")
    assert not Chunk.objects.exists()
