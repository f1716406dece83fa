"""Send messages at a steady rate, using little processor time since the platform shares it.

Reads its plan from the standard input: port, requests, seconds, body, and senders with path and
headers. Each sender keeps one connection open. Prints one JSON line per answer with the status,
and for a refusal its headers and code. The last line has the cost of the sending itself.
"""

import asyncio
import json
import os
import sys
import time
from typing import Any

TOLD = ("retry-after", "ratelimit", "ratelimit-policy")


class Sender:
    """One visitor's connection, which sends its requests one after the other."""

    def __init__(self, port: int, body: bytes, sender: dict[str, Any]) -> None:
        self.port, self.lock = port, asyncio.Lock()
        lines = [f"POST {sender['path']} HTTP/1.1", "Host: 127.0.0.1"]
        lines += [f"{name}: {value}" for name, value in sender["headers"].items()]
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}", "", ""]
        self.request = "\r\n".join(lines).encode() + body
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self) -> dict[str, Any]:
        async with self.lock:
            if self.streams is None:
                self.streams = await asyncio.open_connection("127.0.0.1", self.port)
            reader, writer = self.streams
            writer.write(self.request)
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {
                name.lower(): value
                for name, _, value in (line.partition(": ") for line in head[1:])
            }
            body = await reader.readexactly(int(headers["content-length"]))
        status = int(head[0].split()[1])
        if status != 429:
            return {"status": status}
        code = json.loads(body)["code"]
        return {"status": status, "code": code} | {name: headers[name] for name in TOLD}


async def main() -> None:
    plan = json.load(sys.stdin)
    body = json.dumps(plan["body"]).encode()
    senders = [Sender(plan["port"], body, item) for item in plan["senders"]]
    began, tasks = time.monotonic(), []
    for number in range(plan["requests"]):
        due = began + number * plan["seconds"] / plan["requests"]
        if (wait := due - time.monotonic()) > 0:
            await asyncio.sleep(wait)
        tasks.append(asyncio.create_task(senders[number % len(senders)].send()))
    for answer in await asyncio.gather(*tasks):
        print(json.dumps(answer))
    used = os.times()
    print(json.dumps({"cpu_seconds": used.user + used.system, "took": time.monotonic() - began}))


if __name__ == "__main__":
    asyncio.run(main())
