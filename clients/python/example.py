"""A shop's server: customers ask in the shop's own app, agents are called, chats become a table.

python example.py http://127.0.0.1:8000 "$KEY" customer-17 "When does the shop open?"
"""

import csv
import sys
from collections.abc import Iterator, Mapping
from typing import TextIO

from chatplatform_client import ApiError, Client, types, verify_webhook


def ask(shop: Client, customer: str, question: str) -> str:
    """The bot's answer; empty if an agent has to answer."""
    chat = shop.create_chat({"customer": {"external_id": customer}})
    turn = shop.send_message(chat["id"], {"text": question, "reply": "wait"})
    reply = turn["reply"]
    if reply is None:
        return ""
    return " ".join(piece.get("text") or "" for piece in reply["content"])


def ended_chats(shop: Client, since: str) -> Iterator[types.Conversation]:
    """The conversations that were opened since then and have ended, page by page."""
    yield from shop.each(shop.list_chats, status="ended", created_from=since)


def write_table(chats: Iterator[types.Conversation], file: TextIO) -> None:
    """One row for each conversation."""
    rows = csv.writer(file)
    rows.writerow(["code", "customer", "channel", "handed over because", "ended by"])
    for chat in chats:
        name = chat["customer"]["name"] or chat["customer"]["external_id"] or ""
        reason, ended_by = chat["handoff_reason"] or "", chat["ended_by"] or ""
        rows.writerow([chat["chat_code"], name, chat["channel"], reason, ended_by])


def waiting_chat(body: bytes, headers: Mapping[str, str], secret: str) -> str | None:
    """The conversation that waits for an agent, if the webhook says so; ValueError if forged."""
    event = verify_webhook(body, headers, secret)
    if event["type"] != "conversation.handed_off":
        return None
    chat: str = event["conversation_id"]
    return chat


def main(server: str, key: str, customer: str, question: str) -> None:
    """Ask one question, then print the table of the conversations since the start of 2026."""
    shop = Client(server, key=key)
    try:
        print(ask(shop, customer, question) or "An agent will answer.")
        write_table(ended_chats(shop, "2026-01-01T00:00:00Z"), sys.stdout)
    except ApiError as error:
        sys.exit(f"{error.status} {error.code}: {error.body.get('detail', '')}")


if __name__ == "__main__":
    main(*sys.argv[1:])
