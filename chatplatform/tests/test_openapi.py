"""The served OpenAPI document: valid, complete, and the same as in docs/."""

import gzip
import json
import re

import pytest
from drf_spectacular.plumbing import ComponentRegistry
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from pydantic import create_model

from chatplatform import signatures
from chatplatform.api.error_schemas import codes_with_status
from chatplatform.api.openapi import OperationSchema
from chatplatform.api.openapi_postprocessing import collect_names, resolved
from chatplatform.api.operation import Form, routes
from chatplatform.api.schemas import Schema
from chatplatform.templatetags.action_words import AUDITED
from chatplatform.testing import documented
from reports.schemas.adhoc import SearchAdhocReportParam
from reports.services.adhoc import columns_of

METHODS = {"get", "post", "put", "patch", "delete"}


@pytest.fixture
def document():
    """The document in docs/, which one test compares with what the code declares."""
    return documented.document()


@pytest.fixture
def operations(document):
    return [
        (f"{method.upper()} {path}", path, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    ]


def plain(schema):
    """A schema without titles and descriptions."""
    if isinstance(schema, list):
        return [plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: plain(part)
        for key, part in schema.items()
        if not (key in {"title", "description"} and isinstance(part, str))
    }


@pytest.mark.full
def test_served_document_is_valid_openapi_3_1(nobody, document):
    reply = nobody.get("/openapi.json")
    assert reply.status_code == 200
    assert reply.json() == document
    assert document["openapi"].startswith("3.1.")
    validate(document, cls=OpenAPIV31SpecValidator)


def test_the_document_is_compressed_for_whoever_takes_that(nobody, document):
    plain = nobody.get("/openapi.json")
    zipped = nobody.get("/openapi.json", **{"Accept-Encoding": "br, gzip"})
    assert "Content-Encoding" not in plain
    assert zipped["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in plain["Vary"]
    assert "Accept-Encoding" in zipped["Vary"]
    assert json.loads(gzip.decompress(zipped.content)) == document
    assert len(zipped.content) < len(plain.content) / 5


def test_an_unchanged_document_is_not_sent_again(nobody):
    first = nobody.get("/openapi.json", {"group": "bot"})
    again = nobody.get("/openapi.json", {"group": "bot"}, **{"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    other = nobody.get("/openapi.json", {"group": "report"}, **{"If-None-Match": first["ETag"]})
    assert other.status_code == 200
    assert nobody.get("/openapi.json")["ETag"] != first["ETag"]


@pytest.mark.full
def test_document_in_docs_is_what_the_code_declares(document):
    from chatplatform.web.health import document as declared  # noqa: PLC0415 - it builds the URLs

    assert json.loads(json.dumps(declared())) == document, "run make openapi"


def test_every_served_operation_is_documented_and_no_other(operations):
    assert operations
    served = {
        f"{method} " + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", path) + declared.path_suffix
        for method, path, declared in routes()
    }
    assert {name for name, _, _ in operations} == served


def test_every_body_is_described_by_its_own_schema(document):
    for method, path, declared in routes():
        if declared.body is None:
            continue
        schema = declared.body.schema if isinstance(declared.body, Form) else declared.body
        served = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", path) + declared.path_suffix
        (content, *_) = document["paths"][served][method.lower()]["requestBody"]["content"].values()
        described = content["schema"]
        if "$ref" in described:
            described = document["components"]["schemas"][described["$ref"].rpartition("/")[2]]
        own = schema.model_json_schema()
        assert described["description"] == own["description"], served
        assert set(described["properties"]) == set(own["properties"]), served
        # Of a schema that is a reply too, what only the server sets is required: it is `readOnly`.
        needed = {
            name
            for name in described.get("required", ())
            if not described["properties"][name].get("readOnly")
        }
        assert needed == set(own.get("required", ())), served


def test_two_schemas_of_one_name_are_refused():
    one, other = (create_model("Option", __base__=Schema, value=(kind, ...)) for kind in (str, int))
    holder = create_model("Holder", __base__=Schema, options=(other, ...))
    schema = OperationSchema()
    schema.registry = ComponentRegistry()
    schema._ref(one, "validation")
    schema._ref(one, "serialization")
    with pytest.raises(TypeError, match="Two schemas have one name"):
        schema._ref(holder, "serialization")


def test_every_field_is_described(document):
    components = document["components"]["schemas"]
    fields = {
        f"{name}.{field}": part
        for name, schema in components.items()
        for field, part in schema.get("properties", {}).items()
    }
    assert len(fields) > 50
    assert not [name for name, part in fields.items() if not part.get("description")]
    assert not [name for name, schema in components.items() if not schema.get("description")]
    # A description says more than a name does.
    single = re.compile(r"\w+\.?")
    assert not [name for name, part in fields.items() if single.fullmatch(part["description"])]


def test_each_webhook_says_how_to_verify_its_signature(document):
    for item in document["webhooks"].values():
        headers = {part["name"]: part["description"] for part in item["post"]["parameters"]}
        assert f"{signatures.TOLERANCE // 60} minutes" in headers["webhook-timestamp"]
        for part in (signatures.SECRET_PREFIX, "HMAC-SHA256", "base64", "`v1,`", "separated by"):
            assert part in headers["webhook-signature"]
        signed = "`<webhook-id>.<webhook-timestamp>.<body>`"
        assert signed in headers["webhook-signature"]


def test_the_actions_of_the_audit_log_are_listed(document):
    said = document["components"]["schemas"]["AuditEvent"]["properties"]["action"]["description"]
    assert [name for name in AUDITED if f"`{name}`" not in said] == []


BODIES = {
    declared.body.__name__: declared.body
    for _, _, declared in routes()
    if isinstance(declared.body, type)
}


@pytest.mark.parametrize("name", BODIES)
def test_every_json_body_has_an_example_and_each_fits(name):
    schema = BODIES[name].model_json_schema()
    parts = [schema, *schema["properties"].values()]
    assert any("examples" in part for part in parts), "show what such a body may hold"
    for whole in schema.get("examples", []):
        BODIES[name].model_validate(whole)


def test_every_parameter_is_described(operations):
    parameters = {
        f"{name}: {parameter['name']}": parameter
        for name, _, operation in operations
        for parameter in operation.get("parameters", ())
    }
    assert any(parameter["in"] == "query" for parameter in parameters.values())
    assert any(parameter["in"] == "path" for parameter in parameters.values())
    assert not [name for name, parameter in parameters.items() if not parameter["description"]]


def test_every_operation_says_what_it_is(operations):
    assert operations
    for name, _, operation in operations:
        assert len(operation["tags"]) == 1, name
        assert operation["summary"], name
        assert operation["description"], name
    ids = [operation["operationId"] for _, _, operation in operations]
    assert len(set(ids)) == len(ids)
    assert [name for name in ids if not re.fullmatch(r"[a-z]+[A-Z][A-Za-z]+", name)] == []
    assert max(map(len, ids)) <= 35


def test_every_refusal_is_documented(operations):
    assert any("requestBody" in operation for _, _, operation in operations)
    for name, path, operation in operations:
        answers = set(operation["responses"])
        takes_input = "requestBody" in operation or any(
            parameter["in"] == "query" for parameter in operation.get("parameters", ())
        )
        assert not operation.get("security") or "401" in answers, name
        assert not takes_input or "422" in answers, name
        assert "requestBody" not in operation or {"413", "415"} <= answers, name
        assert "{" not in path or "404" in answers, name


def test_an_error_has_the_further_fields_of_its_code(document):
    error = document["components"]["schemas"]["Error"]
    assert error["required"] == ["detail", "code", "request_id"]
    known, newer = error["properties"]["code"]["anyOf"]
    assert len(known["enum"]) > 100
    assert newer == {"type": "string"}
    assert {"version", "assignee", "setting", "balance", "required", "field"} <= set(
        error["properties"]
    )
    assert (
        "`insufficient_credits`, `subscription_inactive`"
        in (error["properties"]["balance"]["description"])
    )


def test_every_conflict_names_its_codes(document, operations):
    code = document["components"]["schemas"]["Error"]["properties"]["code"]
    known = set(code["anyOf"][0]["enum"])
    conflicts = {
        name: set(
            re.findall(r"`(\w+)`", resolved(operation["responses"]["409"], document)["description"])
        )
        for name, _, operation in operations
        if "409" in operation["responses"]
    }
    assert len(conflicts) > 100
    assert {name for name, codes in conflicts.items() if not codes or not codes <= known} == set()


def test_an_operation_that_declares_a_conflict_says_which():
    """Any POST may answer `request_in_flight`; a declared 409 follows from a rule of its own."""
    declared = [operation for _, _, operation in routes() if 409 in operation.also]
    assert len(declared) > 50
    silent = {
        operation.name
        for operation in declared
        if codes_with_status(409).isdisjoint(re.findall(r"`(\w+)`", operation.description))
    }
    assert silent == set()


def test_a_reply_does_not_say_what_only_concerns_requests(document):
    schemas = document["components"]["schemas"]
    for name, field, words in (
        ("Bot", "bot_name", "Required to create a bot."),
        ("Bot", "url_setup", "Set it to null to make it automatic again."),
        ("ClientConfig", "holidays", "A request replaces the whole list."),
        ("WebUrl", "url", "422 if the host does not exist"),
    ):
        request, reply = (
            schemas[f"{name}{kind}"]["properties"][field]["description"]
            for kind in ("Input", "Dto")
        )
        assert words in request
        assert words not in reply
        assert len(reply) > 20


def test_a_nullable_field_of_a_reply_says_when_it_is_null(document):
    components = document["components"]["schemas"]
    sent: set[str] = set()
    for item in document["paths"].values():
        collect_names([operation["responses"] for operation in item.values()], components, sent)
    assert len(sent) > 100
    silent = {
        f"{name}.{field}"
        for name in sent
        if not says_when_null(components[name])
        for field, part in components[name].get("properties", {}).items()
        if {"type": "null"} in part.get("anyOf", ()) and not says_when_null(part)
    }
    assert silent == set()


def says_when_null(part):
    """Whether the description of a schema or field tells when a value is null."""
    return re.search(r"\b[Nn]ull\b", part.get("description", "")) is not None


def test_requests_are_closed_and_replies_are_open(document):
    schemas = document["components"]["schemas"]
    assert schemas["ChatCreation"]["additionalProperties"] is False
    assert "additionalProperties" not in schemas["Conversation"]
    assert "additionalProperties" not in schemas["BotDto"]
    assert {"id", "client_id", "created_at"} <= set(schemas["BotDto"]["required"])
    assert "required" not in schemas["BotInput"]
    assert schemas["BotInput"]["properties"]["id"]["readOnly"] is True
    assert set(schemas["Conversation"]["required"]) == set(schemas["Conversation"]["properties"])
    assert '"default": null' not in json.dumps(document)


def test_the_objects_of_requests_are_closed_and_need_nothing_that_they_ignore(document):
    """Callbacks of providers and the body of OAuth may have fields that we do not know."""
    own = {declared.body for _, _, declared in routes() if isinstance(declared.body, type)}
    schemas, closed = document["components"]["schemas"], 0
    for name in sent_names(document):
        parts = schemas[name].get("properties", {})
        needed = [part for part in schemas[name].get("required", ()) if parts[part].get("readOnly")]
        assert needed == [], name
        if parts and not is_tolerant(name):
            closed += 1
            assert schemas[name]["additionalProperties"] is False, name
    assert closed > len(own) / 2


def sent_names(document):
    """The names of the components that bodies of requests contain, except in ignored fields."""
    waiting = [
        operation.get("requestBody", {})
        for item in document["paths"].values()
        for operation in item.values()
    ]
    found = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict) and not node.get("readOnly"):
            name = str(node.get("$ref", "")).rpartition("/")[2]
            if name and name not in found:
                found.add(name)
                waiting.append(document["components"]["schemas"][name])
            waiting += node.values()
    return found


def is_tolerant(name):
    classes = [Schema]
    for item in classes:
        classes += item.__subclasses__()
    (known, *_) = [
        item for item in classes if name in {item.__name__, f"{item.__name__}Input"}
    ] or [Schema]
    return known.model_config["extra"] != "forbid"


def test_fields_that_keep_their_value_have_no_default_and_a_new_object_needs_its_name(document):
    at, schemas = document["paths"], document["components"]["schemas"]
    for name in ("BotInput", "WebhookConfigRequest", "ClientConfigInput"):
        parts = schemas[name]["properties"].values()
        assert not [part for part in parts if "default" in part], name
    for path, field in (("/ai/bot", "bot_name"), ("/webhook/config", "url")):
        body = at[path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert body["required"] == [field]


def test_headers_are_documented_where_they_are_sent(document):
    created = document["paths"]["/ai/bot"]["post"]["responses"]
    assert {"X-Request-ID", "Idempotent-Replayed"} <= set(created["201"]["headers"])
    for status in ("409", "429", "503"):
        assert "Retry-After" in resolved(created[status], document)["headers"]
    health = document["paths"]["/health"]["get"]["responses"]["503"]
    assert "headers" not in health
    assert "`unavailable`" not in health["description"]


def test_the_columns_of_a_report_on_conversations_are_described(document):
    described = document["components"]["schemas"]["AdhocReport"]["properties"]["columns"]
    columns = [column.name for column in columns_of(SearchAdhocReportParam())]
    assert re.findall(r"`(\w+)`", described["description"]) == columns


def test_times_and_known_sets_have_their_type(document):
    schemas = document["components"]["schemas"]
    times = {
        f"{name}.{field}": json.dumps(part)
        for name, schema in schemas.items()
        for field, part in schema.get("properties", {}).items()
        if field.endswith("_at") and "seconds" not in part.get("description", "")
    }
    assert len(times) > 100
    assert {name for name, part in times.items() if '"date-time"' not in part} == set()
    assert "enum" in schemas["WebhookConfigRequest"]["properties"]["event_types"]["items"]


@pytest.mark.full
def test_a_group_has_its_operations_and_what_they_need(nobody, document):
    whole = len(nobody.get("/openapi.json").content)
    names = [tag["name"] for tag in document["tags"]]
    groups = {name: nobody.get("/openapi.json", {"group": name}) for name in names}
    found = 0
    for reply in groups.values():
        part = reply.json()
        found += sum(len(item) for item in part["paths"].values())
        assert len(reply.content) < whole / 2
        for kind, name in re.findall(r'"#/components/(\w+)/([^"]+)"', reply.content.decode()):
            assert part["components"][kind][name] == document["components"][kind][name]
    assert found == sum(len(item) for item in document["paths"].values())
    # All are cut out of the document in the same way, whose own test takes care of the rest.
    middle = sorted(groups.values(), key=lambda reply: len(reply.content))[len(groups) // 2]
    validate(middle.json(), cls=OpenAPIV31SpecValidator)


def test_422_is_what_fastapi_clients_know(document, operations):
    components = document["components"]["schemas"]
    assert plain(components["ValidationError"]["properties"]) == {
        "loc": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
        "msg": {"type": "string"},
        "type": {"type": "string"},
    }
    assert sorted(components["ValidationError"]["required"]) == ["loc", "msg", "type"]
    assert plain(components["HTTPValidationError"]["properties"]) == {
        "detail": {"type": "array", "items": {"$ref": "#/components/schemas/ValidationError"}}
    }
    for name in ("ValidationError", "HTTPValidationError"):
        assert components[name]["type"] == "object"
        assert components[name]["title"] == name
    shown = {
        ref["$ref"].rsplit("/")[-1]
        for _, _, operation in operations
        for status, answer in operation["responses"].items()
        if status == "422"
        for part in resolved(answer, document)["content"].values()
        for ref in part["schema"].get("anyOf", [part["schema"]])
    }
    # An Idempotency-Key that came with another body is an Error.
    assert shown == {"HTTPValidationError", "Error"}


def start_of_docs(nobody):
    """Swagger's start, a script of its own: the page holds none."""
    assert '<script src="/docs?script="></script>' in nobody.get("/docs").content.decode()
    reply = nobody.get("/docs?script=")
    assert reply.status_code == 200
    assert reply["Content-Type"].startswith("application/javascript")
    return reply.content.decode()


def test_the_page_of_the_document_lists_the_operations_of_its_group(nobody):
    assert re.search(r'"docExpansion":\s*"list"', start_of_docs(nobody))


@pytest.mark.parametrize("path", ["/docs", "/redoc"])
def test_pages_of_the_document_load_nothing_from_elsewhere(nobody, path):
    reply = nobody.get(path)
    page = reply.content.decode()
    assert reply.status_code == 200
    assert reply["Content-Type"].startswith("text/html")
    if path == "/docs":
        page += start_of_docs(nobody)
    loaded = re.findall(r"""(?:src|href|url|spec-url)\s*[=:(]\s*["']?([^"'\s>)]+)""", page)
    assert any("/static/" in address for address in loaded)
    assert "/openapi.json" in page
    assert not re.findall(r"(?:https?:)?//[\w-]+\.[\w.-]+", page)


def test_schemas_have_the_names_of_the_specification(document):
    schemas = document["components"]["schemas"]
    assert set(schemas["WebhookConfigRequest"]["properties"]) >= {"url", "event_types"}
    body = document["paths"]["/webhook/config"]["post"]["requestBody"]["content"]
    assert body["application/json"]["schema"]["$ref"].endswith("/WebhookConfigRequest")
    for path in ("/ai/translate", "/client/translate"):
        assert "404" in document["paths"][path]["post"]["responses"]
    (kind, nothing) = schemas["ChatappMessage"]["properties"]["timestamp"]["anyOf"]
    assert (kind["type"], nothing) == ("string", {"type": "null"})
