"""A bot's content says how many answers of the last 30 days used it."""

from datetime import timedelta

from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from bots.testing import trained
from chatplatform.ids import first_id
from chats.models import Message
from chats.testing import make_chat
from identity.testing import signed_in


def test_a_row_tells_how_many_answers_used_it(ann, bot):
    site = signed_in(ann.user)
    row = trained(bot, "Parking is behind the house.")
    page = reverse("admin:bots_bot_document", args=[bot.pk, row.pk])
    overview = reverse("admin:bots_bot_content", args=[bot.pk])
    for number, is_preview in enumerate((False, True, False)):
        chat = make_chat(bot, is_preview=is_preview)
        own = {"client": bot.client, "conversation": chat, "content": [], "sender_type": "bot"}
        cited = [{"document_id": row.pk}, {"document_id": row.pk}]
        old = {"id": first_id(timezone.now() - timedelta(days=31))} if number == 2 else {}
        Message.objects.create(**own, **old, seq=1, citations=cited)
    cache.clear()
    assert 'data-used="1"' in site.get(page).content.decode()
    (item,) = site.get(overview).context["items"]
    assert item["used"] == 1


def test_the_pages_tell_when_answers_were_counted(ann, bot):
    site = signed_in(ann.user)
    row = trained(bot, "Parking is behind the house.")
    cache.clear()
    first = site.get(reverse("admin:bots_bot_document", args=[bot.pk, row.pk])).context
    list_page = site.get(reverse("admin:bots_bot_content", args=[bot.pk]))
    assert list_page.context["counted_at"] == first["counted_at"]
    assert "data-counted" in list_page.content.decode()
