"""The installable inbox, and the choice of devices that call an agent."""

import json

import pytest
from playwright.sync_api import expect

from chatplatform.testing.browser import violations
from chatplatform.tests.served import PUSH
from chats.models import PushSubscription
from chats.tests.test_desk import enter
from identity.models import SiteSession

# A push service that this browser reaches: there is none on a machine without a network.
REACHABLE = """(given) => {
    let known = null;
    const made = (options) => ({
        options, toJSON: () => given, unsubscribe: async () => { known = null; return true; },
    });
    PushManager.prototype.subscribe = async (options) => (known = made(options));
    PushManager.prototype.getSubscription = async () => known;
    Object.defineProperty(Notification, "permission", { get: () => "granted" });
    Notification.requestPermission = async () => "granted";
}"""


@pytest.fixture
def devices(screen, ben):
    """The dialog of the devices, in a browser that can be called."""
    screen.add_init_script(f"({REACHABLE})({json.dumps(PUSH)})")
    enter(screen, ben)
    screen.get_by_role("button", name="Settings").click()
    dialog = screen.get_by_role("dialog")
    dialog.get_by_role("button", name="Notifications on your devices").click()
    return dialog


def test_a_device_is_added_renewed_and_removed(screen, devices, ben):
    devices.get_by_role("button", name="Notify this device").click()
    device = devices.locator("[data-device]")
    expect(device).to_contain_text("This device")
    assert violations(screen) == []
    stored = PushSubscription.objects.get()
    family = SiteSession.objects.get(user=ben.user).token_family
    assert (stored.user, stored.endpoint, stored.sign_in) == (ben.user, PUSH["endpoint"], family)
    PushSubscription.objects.all().delete()
    with screen.expect_response("**/ai/chat/push-subscriptions"):
        screen.reload()
    assert PushSubscription.objects.get().sign_in == family
    screen.get_by_role("button", name="Settings").click()
    screen.get_by_role("button", name="Notifications on your devices").click()
    device.get_by_role("button").click()
    expect(devices.get_by_role("button", name="Notify this device")).to_be_enabled()
    assert not PushSubscription.objects.exists()


def test_the_inbox_can_be_installed(screen, ben, web_port):
    enter(screen, ben)
    manifest = screen.evaluate(
        "fetch(document.querySelector('link[rel=manifest]').href).then((reply) => reply.json())"
    )
    assert manifest["start_url"] == manifest["scope"] == "/admin/desk/"
    for icon in manifest["icons"]:
        size = screen.evaluate(
            """async (src) => {
                const image = new Image();
                image.src = src;
                await image.decode();
                return `${image.naturalWidth}x${image.naturalHeight}`;
            }""",
            icon["src"],
        )
        assert size == icon["sizes"]
    worker = screen.evaluate(
        "navigator.serviceWorker.ready.then(({ scope, active }) => [scope, active.scriptURL])"
    )
    origin = f"http://127.0.0.1:{web_port}"
    assert worker == [f"{origin}/admin/desk/", f"{origin}/admin/desk/worker.js"]
