"""Pages of a PDF that could not be read: the document says which, in the API and on the site."""

import zlib

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils.html import escape

from bots.ingest.extraction.document import MAX_ROWS
from bots.models import Chunk
from bots.tests.test_extract import page, pdf_bytes
from chatplatform.testing import run_jobs
from identity.testing import signed_in

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]

LINES = [f"{word} keeps for {n} days in a tin." for n, word in enumerate(("Rye", "Tea", "Oats"))]
PAGES = [page(*(f"Page {n}, {line}" for line in LINES)) for n in (1, 2, 3)]
GLUED = page("Theprojectnameispronouncedlikethebird" * 2)
PARTLY_GLUED = page(*LINES * 9, *["Ryekeepsfor12days,inatin.Oatskeepforever,intheshade."] * 3)


def packed(middle: bytes) -> bytes:
    """A PDF whose second page draws these packed bytes."""
    first, _, third = map(zlib.compress, PAGES)
    return pdf_bytes(first, middle, third, is_packed=True)


def upload(person, bot, data, name="manual.pdf"):
    files = [SimpleUploadedFile(name, data)]
    reply = person.upload(f"/ai/{bot.pk}/train/document", files=files)
    run_jobs()
    return person.get(f"/ai/{bot.pk}/train/document/{reply.json()['items'][0]['id']}").json()


def shown_in_german(user, bot):
    user.language = "de"
    user.save()
    return signed_in(user).get(reverse("admin:bots_bot_content", args=[bot.pk])).content.decode()


def test_the_limit_that_a_file_exceeds_is_shown_behind_words_in_the_readers_language(ann, bot):
    document = upload(ann, bot, b"Tea\n" * (MAX_ROWS + 1), "prices.csv")
    assert document["error"]["code"] == "too_large"
    words, limit = document["error"]["message"].split(": ")
    assert limit == f"{MAX_ROWS:,}."
    shown = shown_in_german(ann.user, bot)
    assert (words in shown, f": {limit}" in shown) == (False, True)


WHOLE = zlib.compress(PAGES[1])
DAMAGED = WHOLE[:60] + b"?" * (len(WHOLE) - 60)
# The object of the second page is none.
LOST = pdf_bytes(*PAGES).replace(b"6 0 obj\n<< /Type /Page", b"6 0 obj\n<< /Tipe /Page")


@pytest.mark.full
@pytest.mark.parametrize(
    ("data", "cause", "told", "read"),
    [
        (packed(WHOLE), None, None, [1, 2, 3]),
        (packed(DAMAGED), "in full", ": 2 (1/3).", [1, 3]),
        (packed(WHOLE[: len(WHOLE) // 2]), "in full", ": 2 (1/3).", [1, 3]),
        (LOST, "in full", ": 2 (1/3).", [1, 3]),
        (pdf_bytes(PAGES[0], GLUED, PAGES[2]), "skipped", ": 2 (1/3).", [1, 3]),
        (pdf_bytes(PAGES[0], PARTLY_GLUED, PAGES[2]), "skipped", ": 2 (1/3).", [1, 3]),
        (pdf_bytes(PAGES[0], *[b""] * 9), "without text", ": 2-10 (9/10).", [1]),
    ],
    ids=["whole", "damaged", "cut", "lost", "glued", "partly glued", "scans"],
)
def test_a_document_says_what_of_it_was_not_read(ann, bot, *, data, cause, told, read):
    document = upload(ann, bot, data)
    assert document["status"] == "trained"
    text = " ".join(Chunk.objects.values_list("text", flat=True))
    assert [number for number in (1, 2, 3) if f"Page {number}," in text] == read
    ann.browser.force_login(ann.user)
    pages = [
        reverse("admin:bots_document_change", args=[document["id"]]),
        reverse("admin:bots_document_changelist"),
        reverse("admin:bots_bot_content", args=[bot.pk]),
    ]
    warning = document["warning"]
    if told is None:
        assert warning is None
    else:
        assert told in warning
        assert cause in warning
        for path in pages:
            assert escape(warning) in ann.browser.get(path).content.decode(), path
        shown = shown_in_german(ann.user, bot)
        assert (escape(warning) in shown, told in shown) == (False, True)
