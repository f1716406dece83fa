"""Measure the agents' desk in a browser, for a client with a million messages.

    python -m local.datastores exec -- python bench/desk.py

Prints a table for docs/benchmarks.md. DESK_CHATS (20,000, of fifty messages each) sets the size.
"""

import os
import statistics
import sys
import time
from typing import Any

from feed import web
from load_generator import database, free_port

CHATS = int(os.environ.get("DESK_CHATS", "20000"))
MESSAGES = 50
OPEN = 200  # chats that wait; the others have ended
LOADS, CHANGES = 15, 45
PASSWORD = "correct-horse-battery"
CHAT_ID = "('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid"
MESSAGE_ID = "('00000000-0001-7000-8000-' || lpad(to_hex({}), 12, '0'))::uuid"
# Notes when the desk is ready: its list is drawn and its keys work.
NOTE_READY = """new MutationObserver(() => {
    if (document.body?.dataset.ready && document.querySelector("button.chat"))
        window.readyAfter ??= performance.now();
}).observe(document, { subtree: true, childList: true, attributes: true });"""
# Milliseconds until the transcript is drawn, for each of `count` changes of the chat.
CHANGE = """async ([count, how]) => {
    const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const drawn = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const rows = [...document.querySelectorAll("button.chat")].reverse();
    const taken = [];
    for (let number = 0; number < count; number += 1) {
        const before = location.hash;
        const began = performance.now();
        const key = new KeyboardEvent("keydown", { key: "j", bubbles: true });
        if (how === "key") document.body.dispatchEvent(key);
        else rows[(number * 7) % rows.length].click();
        const place = () => `chat ${parseInt(location.hash.slice(-12), 16)} `;
        const shown = () => document.querySelector(".log")?.textContent.includes(place());
        while (location.hash === before || !shown()) await drawn();
        taken.push(performance.now() - began);
        await pause(300);
    }
    return taken;
}"""


def copies(model: Any, template: Any, source: str, **columns: str) -> None:
    """Copy a row once per row of `source`, with other values in some columns."""
    from django.db import connection  # noqa: PLC0415

    table = model._meta.db_table
    names = [field.column for field in model._meta.concrete_fields]
    values = ", ".join(columns.get(name, f't."{name}"') for name in names)
    quoted = ", ".join(f'"{name}"' for name in names)
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(
            f"INSERT INTO {table} ({quoted}) SELECT {values} FROM {table} t, {source}"
            " WHERE t.id = %s",
            [template.pk],
        )


def fill() -> Any:
    """A client with its chats, and the agent who works there."""
    from django.contrib.auth.hashers import make_password  # noqa: PLC0415
    from django.db import connection  # noqa: PLC0415

    from bots.testing import make_bot  # noqa: PLC0415
    from chats.models import Conversation, Message, text_content  # noqa: PLC0415
    from chats.testing import make_chat  # noqa: PLC0415
    from identity.auth import Argon2  # noqa: PLC0415
    from identity.testing import make_client, make_person  # noqa: PLC0415

    client = make_client("Bench")
    agent = make_person(client, "agent", "Ben").user
    assert agent
    agent.password = make_password(PASSWORD, hasher=Argon2())
    agent.save()
    chat = make_chat(make_bot(client), last_seq=MESSAGES, message_count=MESSAGES)
    is_open = f"n <= {OPEN}"
    copies(
        Conversation, chat, f"generate_series(1, {CHATS}) n",
        id=CHAT_ID, chat_code="'BENCH' || n",
        status=f"CASE WHEN {is_open} THEN 'open' ELSE 'ended' END",
        assign_type=f"CASE WHEN {is_open} THEN 'queue' ELSE 'bot' END",
        waiting_since=f"CASE WHEN {is_open} THEN now() - n * interval '1 minute' END",
        last_message_at="now() - n * interval '1 minute'",
        last_message_id=MESSAGE_ID.format(f"n * 100 + {MESSAGES}"),
    )  # fmt: skip
    message = Message.objects.create(
        client=client, conversation=chat, seq=1, sender_type="customer", content=text_content("-")
    )
    words = "'Message ' || m || ' of chat ' || n || ' says what was said here, in some words.'"
    copies(
        Message, message, f"generate_series(1, {CHATS}) n, generate_series(1, {MESSAGES}) m",
        id=MESSAGE_ID.format("n * 100 + m"), conversation_id=CHAT_ID, seq="m", text=words,
        content=f"jsonb_build_array(jsonb_build_object('type', 'text', 'text', {words}))",
        sender_type="CASE WHEN m %% 2 = 0 THEN 'bot' ELSE 'customer' END",
    )  # fmt: skip
    chat.delete()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return agent


def p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def row(name: str, values: list[float]) -> str:
    return f"| {name} | {statistics.median(values):.0f} ms | {p95(values):.0f} ms |"


def measure(origin: str, agent: Any) -> list[str]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    from local.chromium import find_chromium  # noqa: PLC0415

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        screen = browser.new_page(base_url=origin)
        screen.add_init_script(NOTE_READY)
        screen.goto("/admin/login/")
        screen.get_by_label("Email").fill(agent.email)
        screen.get_by_label("Password").fill(PASSWORD)
        screen.get_by_role("button", name="Sign in").click()
        screen.wait_for_url("**/admin/desk/")
        screen.get_by_role("button", name="Unassigned").click()
        screen.locator("button.chat").first.wait_for()
        ready = []
        for _ in range(LOADS):
            screen.goto("/admin/desk/")
            screen.locator("body[data-ready] button.chat").first.wait_for()
            ready.append(screen.evaluate("window.readyAfter"))
        by_key = screen.evaluate(CHANGE, [CHANGES, "key"])
        screen.goto("/admin/desk/")  # forgets the transcripts
        screen.locator("body[data-ready] button.chat").first.wait_for()
        by_click = screen.evaluate(CHANGE, [CHANGES, "click"])
        browser.close()
    return [
        row("the desk is ready, from the request of its page on", ready),
        row("change to the next chat by key, until its transcript is drawn", by_key),
        row("change to another chat by a click", by_click),
    ]


def main() -> None:
    with database():
        began = time.monotonic()
        agent = fill()
        print(f"{CHATS * MESSAGES:,} messages in {time.monotonic() - began:.0f} s", file=sys.stderr)
        load = os.getloadavg()[0]
        port = free_port()
        with web(port):
            rows = measure(f"http://127.0.0.1:{port}", agent)
    print(f"load average at the start: {load:.1f}\n\n| what | p50 | p95 |\n| --- | ---: | ---: |")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
