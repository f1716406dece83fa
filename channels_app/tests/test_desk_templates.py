"""At the desk an agent chooses a template, fills it in and sends it after the reply window."""

from datetime import timedelta

import pytest
from django.utils import timezone

from channels_app.tests.chatapp import WABA
from chatplatform.testing import run_jobs
from chatplatform.testing.browser import violations
from chatplatform.testing.web_process import free_port, web
from chats.models import Conversation
from identity.testing import enter_site

pytestmark = pytest.mark.django_db(transaction=True)


def test_in_the_browser_a_template_is_filled_in_and_sent(browser, chatapp, number, quiet, ben):
    buttons = [{"type": "URL", "text": "Track", "url": "https://shop.example/t/{{1}}"}]
    chatapp.sim.simulator.world.templates_of(WABA).append({
        "id": "2", "name": "parcel", "language": "en_US", "status": "APPROVED",
        "category": "UTILITY", "components": [
            {"type": "HEADER", "format": "IMAGE"}, {"type": "BODY", "text": "Hello {{1}}"},
            {"type": "BUTTONS", "buttons": buttons},
        ],
    })  # fmt: skip
    chatapp.write("Is anybody there?")
    run_jobs()
    Conversation.objects.update(reply_window_expires_at=timezone.now() - timedelta(hours=1))
    chatapp.sim.advance(86_400 + 60)
    port = free_port()
    public = f"http://127.0.0.1:{port}"
    environment = {
        **chatapp.sim.environment, "PUBLIC_URL": public, "EGRESS_ALLOW": chatapp.sim.host_port,
        "DJANGO_SETTINGS_MODULE": "chatplatform.tests.cached_site",
    }  # fmt: skip
    with web(port=port, **environment):
        context = browser.new_context(base_url=public)
        screen = context.new_page()
        enter_site(screen, ben.user)
        screen.goto(f"/admin/desk/#{Conversation.objects.get().pk}")
        screen.get_by_role("button", name="Template", exact=True).click()
        dialog = screen.get_by_role("dialog")
        dialog.get_by_role("combobox").select_option("1")
        picture = f"{chatapp.sim.origin}/media/sample-image/p.jpg"
        dialog.get_by_label("Link to the image").fill(picture)
        dialog.get_by_label("Value for 1").fill("An")
        dialog.get_by_label("Value for Track").fill("A-17")
        assert violations(screen) == []
        dialog.get_by_role("button", name="Send").click()
        dialog.wait_for(state="detached")
        screen.get_by_text("Hello An", exact=True).wait_for()
        context.close()
    run_jobs()
    assert chatapp.replies() == ["Hello An"]
    (sent,) = [call["body"]["template"] for call in chatapp.sim.calls(what="sends")
               if "template" in call["body"]]  # fmt: skip
    assert [row["type"] for row in sent["components"]] == ["header", "body", "button"]
