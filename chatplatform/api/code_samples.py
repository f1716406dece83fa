"""Adds code samples for the operations that integrators need first to the OpenAPI document."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_SERVER = "https://chat.example.com"
SAMPLED = {
    "signIn", "registerTrial", "getMe", "createUser", "createApiKey", "getSubscription",
    "createBot", "listBots", "getBot", "updateBot", "createPrompt", "uploadDocuments",
    "listDocuments", "createText", "createQuestionAnswer", "addWebUrl", "startPreview",
    "createChat", "sendMessage", "getChatMessages", "listChats", "generateReply", "getChats",
    "replyAsAgent", "assignChat", "streamEvents", "createWebhookConfig", "getWebhookEvents",
    "searchReport", "getOverview",
}  # fmt: skip
_HEADERS = {"key": "API-KEY: $KEY", "token": "Authorization: Bearer $TOKEN"}
_PATH_VALUES = {"bot_id": 3, "chat_id": "019aa4c1-7c1e-7000-8000-5f0a4b1c2d3e"}


def add(document: dict[str, Any]) -> None:
    """Add `x-codeSamples` to the operations in `SAMPLED`."""
    for path, method, operation in operations(document):
        if operation["operationId"] in SAMPLED:
            operation["x-codeSamples"] = _samples(path, method, operation)


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the path, method and description of each operation in the document."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def _samples(path: str, method: str, operation: dict[str, Any]) -> list[dict[str, str]]:
    content = operation.get("requestBody", {}).get("content", {})
    media_type, body = next(
        ((name, part.get("example")) for name, part in content.items()), ("", None)
    )
    values = {name: _PATH_VALUES.get(name, 1) for name in re.findall(r"{(\w+)}", path)}
    schemes = [*next(iter(operation["security"]), {})]
    credential = {"api_key": "key", "bearer": "token"}[schemes[0]] if schemes else ""
    response_content = operation["responses"].get("200", {}).get("content", {})
    is_stream = [*response_content] == ["text/event-stream"]
    call = _Call(operation["operationId"], values, media_type, body, credential, is_stream)
    return [
        {"lang": "Shell", "label": "curl", "source": _curl(path.format(**values), method, call)},
        {"lang": "Python", "label": "Python", "source": _python(call)},
        {"lang": "TypeScript", "label": "TypeScript", "source": _typescript(call)},
    ]


@dataclass(frozen=True)
class _Call:
    """The call that an operation's samples show."""

    name: str
    path: Mapping[str, Any]
    media_type: str
    body: Any
    # The client's argument for the credential; empty for a public operation.
    credential: str
    is_stream: bool

    @property
    def has_files(self) -> bool:
        return self.media_type == "multipart/form-data"


def _curl(path: str, method: str, call: _Call) -> str:
    lines = [f'curl "{_SERVER}{path}"']
    if method != "get":
        lines[0] += f" -X {method.upper()}"
    if call.credential:
        lines.append(f'-H "{_HEADERS[call.credential]}"')
    if call.has_files:
        lines.append("-F files=@handbook.pdf")
    elif call.media_type == "application/x-www-form-urlencoded":
        lines += [f"-d {name}={json.dumps(value)}" for name, value in call.body.items()]
    elif call.media_type:
        lines.append('-H "Content-Type: application/json"')
        text = json.dumps(call.body, ensure_ascii=False).replace("'", "'\\''")
        lines.append(f"-d '{text}'")
    return " \\\n  ".join(lines)


def snake_case(name: str) -> str:
    """Convert to snake case: `getMCPServers` becomes `get_mcp_servers`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _python(call: _Call) -> str:
    arguments = [repr(value) for value in call.path.values()]
    if call.has_files:
        arguments.append('{"files": [("handbook.pdf", open("handbook.pdf", "rb").read())]}')
    elif call.media_type:
        arguments.append(repr(call.body))
    credential = call.credential and f", {call.credential}={call.credential.upper()}"
    invocation = f"api.{snake_case(call.name)}({', '.join(arguments)})"
    use = f"print({invocation})"
    if call.is_stream:
        use = f"for event in {invocation}:\n    print(event)"
    return f'from chatplatform_client import Client\n\napi = Client("{_SERVER}"{credential})\n{use}'


def _typescript(call: _Call) -> str:
    arguments = [json.dumps(value) for value in call.path.values()]
    if call.has_files:
        arguments.append("{ files: [file] }")
    elif call.media_type:
        arguments.append(json.dumps(call.body, ensure_ascii=False))
    credential = call.credential and f", {{ {call.credential} }}"
    invocation = f"api.{call.name}({', '.join(arguments)})"
    use = (
        f"for await (const event of {invocation}) console.log(event);"
        if call.is_stream
        else f"console.log(await {invocation});"
    )
    return (
        'import { Client } from "chatplatform-client";\n\n'
        f'const api = new Client("{_SERVER}"{credential});\n{use}'
    )
