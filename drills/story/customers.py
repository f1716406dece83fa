"""Customers' records: list, read and change them, and merge two."""

from drills.story.world import Caller, World, eventually


def tell(world: World) -> None:
    for caller, name in ((world.ben, "Pia"), (world.server, "Qui")):
        change(world, caller, name)
        merge(world, caller, name)
    erase(world)


def change(world: World, caller: Caller, name: str) -> None:
    chat = world.open_chat(customer={"name": name, "external_id": f"id-{name}"})
    (found,) = caller.get("/ai/customers", q=f"id-{name}")["items"]
    assert found["id"] == chat["customer_id"]
    path = f"/ai/customers/{found['id']}"
    caller.put(path, {"phone": "+49 30 1", "attributes": {"plan": "gold"}})
    shown = caller.get(path)
    assert (shown["name"], shown["attributes"]) == (name, {"plan": "gold"})
    customer = world.ann.get(f"/ai/chat/{chat['id']}")["customer"]
    assert customer["phone"] == "+49 30 1", "the chat shows it"


def merge(world: World, caller: Caller, name: str) -> None:
    first = world.open_chat(customer={"name": name, "external_id": f"one-{name}"})
    second = world.open_chat(customer={"email": f"{name}@shop.example"})
    one, two = first["customer_id"], second["customer_id"]
    caller.post(f"/ai/customers/{one}/merge/{two}")
    caller.refused(404, "GET", f"/ai/customers/{two}")
    assert caller.get(f"/ai/customers/{one}")["email"] == f"{name}@shop.example"
    chats = world.ann.get(f"/ai/chat/history/customer/{one}")["items"]
    assert {chat["id"] for chat in chats} == {first["id"], second["id"]}
    assert world.events("customer.merged")[0]["data"]["merged_id"] == two


def erase(world: World) -> None:
    chat = world.open_chat(customer={"name": "Rue", "external_id": "id-Rue"})
    path = f"/ai/customers/{chat['customer_id']}"
    archive = world.ann.call("GET", f"{path}/export")
    assert archive.content.startswith(b"PK")
    erasure = world.ann.post(f"{path}/erasure")
    shown = f"/ai/customers/erasures/{erasure['id']}"
    eventually(lambda: world.ann.get(shown)["status"] == "done", "an erased customer")
    world.ann.refused(404, "GET", path)
    world.ann.refused(404, "GET", f"/ai/chat/{chat['id']}")
