"""A company registers, and manages its people, credits and settings."""

import json
import re
import time

from chatplatform.signatures import sign
from drills.story.world import Caller, Json, World, eventually

PASSWORD = "correct-horse-battery"
NEW_PASSWORD = "another-horse-battery"
ANN, BEN, EVE = "ann@story.example", "ben@story.example", "eve@story.example"


def tell(world: World) -> None:
    health(world)
    register(world)
    own_provider(world)
    add_people(world)
    own_account(world)
    forgotten_password(world)
    buy_credits(world)
    audit_log(world)
    settings(world)
    message_overrides(world)
    mails(world)


def health(world: World) -> None:
    names = {part["name"] for part in world.nobody.get("/health")["parts"]}
    assert {"database", "broker"} <= names, names
    assert world.nobody.get("/health/live")["status"] == "ok"


def register(world: World) -> None:
    body = {"company_name": "Story", "full_name": "Ann Lee", "email": ANN, "password": PASSWORD}
    client = world.nobody.post("/identity/register-trial", body)
    world.nobody.post("/identity/resend-registration", {"email": ANN})
    forged = {"token": "x" * 43, "password": PASSWORD}
    world.nobody.refused(400, "POST", "/identity/confirm-registration", forged)
    world.client_id = client["id"]
    world.ann = world.person(ANN, PASSWORD)
    assert world.ann.get("/identity/client")["code"] == client["code"]
    assert world.ann.get("/identity/users/me")["role"] == "owner"
    for path in ("/ai/bot", "/ai/customers", "/ai/chats", "/webhook/events"):
        assert world.ann.get(path)["items"] == [], "a new company is empty"


def own_provider(world: World) -> None:
    """The company lets its people sign in through its own identity provider."""
    path, ann = "/identity/sign-in-provider", world.ann
    provider = {
        "issuer": "https://93.184.215.14", "application_id": "chat", "application_secret": "x",
        "email_domains": ["story.example"],
    }  # fmt: skip
    stored = ann.put(path, provider)
    assert ann.get(path) == stored
    assert "application_secret" not in stored
    ann.delete(path)
    ann.refused(404, "GET", path)


def add_people(world: World) -> None:
    ann = world.ann
    ben = ann.post(
        "/identity/users",
        {"email": BEN, "full_name": "Ben Fox", "role": "viewer", "password": PASSWORD},
    )
    eventually(lambda: world.mails(f"To: {BEN}"), "a welcome by mail")
    world.ben = world.person(BEN, PASSWORD)
    world.ben.refused(
        403, "POST", "/ai/chat/saved-replies", {"shortcut": "a", "texts": {"en": "a"}}
    )
    role = {"role": "agent", "can_train": True}
    assert ann.put(f"/identity/users/{ben['id']}/role", role)["can_train"]
    world.ben.refused(401, "GET", "/identity/users/me")
    world.ben = world.person(BEN, PASSWORD)
    assert world.ben.get("/identity/users/me")["role"] == "agent"
    names = [user["full_name"] for user in ann.get("/identity/users")["items"]]
    assert names == ["Ann Lee", "Ben Fox"]
    disable_and_reset(world)


def disable_and_reset(world: World) -> None:
    """Ann invites Eve, sets her password, disables her and enables her again."""
    ann = world.ann
    eve = ann.post("/identity/users", {"email": EVE, "full_name": "Eve Ray", "role": "agent"})
    eventually(lambda: world.mails(f"To: {EVE}", "#token="), "an invitation by mail")
    path = f"/identity/users/{eve['id']}"
    ann.put(f"{path}/reset-password", {"password": PASSWORD})
    caller = world.person(EVE, PASSWORD)
    ann.put(f"{path}/disable", {"is_disabled": True})
    caller.refused(401, "GET", "/identity/users/me")
    ann.put(f"{path}/disable", {"is_disabled": False})
    assert world.person(EVE, PASSWORD).get("/identity/users/me")["id"] == eve["id"]


def own_account(world: World) -> None:
    eve = world.person(EVE, PASSWORD)
    eve.put("/identity/users/me", {"full_name": "Eve Rayner", "language": "vi"})
    assert eve.get("/identity/users/me")["full_name"] == "Eve Rayner"
    change = {"current_password": PASSWORD, "new_password": NEW_PASSWORD}
    tokens = eve.put("/identity/users/me/password", change)
    eve.refused(401, "GET", "/identity/users/me")
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    fresh = world.nobody.call("POST", "/identity/token2", data=form).json()
    eve = Caller(world, "bearer", {"Authorization": f"Bearer {fresh['access_token']}"})
    assert eve.get("/identity/users/me")["language"] == "vi"
    eve.post("/identity/revoke")
    eve.refused(401, "GET", "/identity/users/me")


def forgotten_password(world: World) -> None:
    assert world.nobody.post("/identity/forgot-password", {"email": EVE}) is None
    mail = eventually(lambda: world.mails(f"To: {EVE}", "#token=")[1:], "a mail with a link")[-1]
    found = re.search(r"#token=(\S+)", mail)
    assert found
    token = {"token": found[1]}
    world.nobody.post("/identity/verify-reset-token", token)
    world.nobody.post("/identity/reset-password", token | {"new_password": PASSWORD})
    world.nobody.refused(400, "POST", "/identity/verify-reset-token", token)
    world.person(EVE, PASSWORD)


def buy_credits(world: World) -> None:
    ann, before = world.ann, world.credits_left()
    wanted = {"amount": 5000, "reference": "INV-1"}
    order = ann.post("/identity/subscription/top-up", wanted)
    assert (order["status"], world.credits_left()) == ("pending", before), "not paid yet"
    assert [row["id"] for row in ann.get("/identity/subscription/orders")["items"]] == [order["id"]]
    pay(world, order)
    pay(world, order)
    assert world.credits_left() == before + 5000, "added once"
    assert ann.get(f"/identity/subscription/orders/{order['id']}")["status"] == "paid"


def pay(world: World, order: Json) -> None:
    """The payment provider reports an order as paid."""
    body = {"order_id": order["id"], "amount": 5000, "reference": "INV-1", "status": "paid"}
    raw, at = json.dumps(body).encode(), int(time.time())
    signature = sign(world.payment_secret, event_id="msg_1", timestamp=at, body=raw)
    headers = {
        "webhook-id": "msg_1", "webhook-timestamp": str(at), "webhook-signature": signature,
        "Content-Type": "application/json",
    }  # fmt: skip
    path = "/identity/subscription/payments"
    world.nobody.call("POST", path, content=raw, headers=headers)


def audit_log(world: World) -> None:
    """The audit log as a list page and as a file, with the same entries."""
    shown = world.ann.get("/identity/audit", action="credits.topped_up")["items"]
    file = world.ann.call("GET", "/identity/audit/export", params={"action": "credits.topped_up"})
    assert shown == [json.loads(line) for line in file.text.splitlines()][::-1]
    assert len(shown) == 1


def settings(world: World) -> None:
    path = f"/config/{world.client_id}/chat"
    before = world.ann.get(path)
    change = {"agent_capacity": 7, "version": before["version"]}
    world.ann.post(path, change)
    after = world.ann.get(path)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"agent_capacity", "version"}
    world.ann.refused(409, "POST", path, change)


def message_overrides(world: World) -> None:
    """Set a message of the client's own, which the chapter on chats expects."""
    path = f"/config/{world.client_id}/words"
    words = [{"name": "thanks", "own": {"en": "You are welcome at Story."}}]
    world.ann.put(path, {"words": words})
    (own,) = [word for word in world.ann.get(path)["words"] if word["own"]]
    assert (own["name"], own["own"]) == ("thanks", words[0]["own"])


def mails(world: World) -> None:
    path = f"/config/{world.client_id}/email-notification"
    wanted = {"recipients": ["desk@story.example"], "on_handoff": True}
    world.ann.post(path, wanted)
    assert wanted.items() <= world.ann.get(path).items()
    assert world.ann.post(f"{path}/test") == {"recipients": ["desk@story.example"]}
    eventually(lambda: world.mails("To: desk@story.example"), "the test by mail")
