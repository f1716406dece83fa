"""What the tests of chatapp say often."""

from typing import Any

WABA, NUMBER, OTHER_NUMBER, THIRD_NUMBER = (
    "102290129340398", "1122334455667", "1122334455668", "1122334455669",
)  # fmt: skip
AN = "84901234567"


def connect(chatapp: Any, number_id: str = NUMBER, bot: Any = None, **phone: Any) -> Any:
    path = chatapp.path(f"connect/{(bot or chatapp.bot).pk}")
    return chatapp.ann.post(path, {"phone": {"phone_number_id": number_id, **phone}})


def message(**changes: Any) -> dict[str, Any]:
    """A customer's message as it stands in a callback."""
    row = {
        "from": AN, "id": "wamid.1", "timestamp": "1795226399", "type": "text",
        "text": {"body": "hello"}, **changes,
    }  # fmt: skip
    return {name: value for name, value in row.items() if value is not None}


def status(message_id: str, name: str, **more: Any) -> dict[str, Any]:
    return {
        "id": message_id, "status": name, "timestamp": "1795226401", "recipient_id": AN, **more,
    }  # fmt: skip


def of_chatapp(number_id: str = NUMBER, **value: Any) -> dict[str, Any]:
    """A callback with one change of a number."""
    metadata = {"display_phone_number": "842855550001", "phone_number_id": number_id}
    change = {
        "field": "messages",
        "value": {"messaging_product": "whatsapp", "metadata": metadata, **value},
    }
    return {
        "object": "whatsapp_business_account",
        "entry": [{"id": WABA, "changes": [change]}],
    }
