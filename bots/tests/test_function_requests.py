"""Requests of functions: templates filled with arguments, and the check of arguments."""

import json

import pytest

from bots.engine import argument_schemas, request_templates

SITE = "https://shop.example"


@pytest.mark.parametrize(
    ("template", "values", "filled"),
    [
        ("/orders/{id}", {"id": "12 3"}, "/orders/12%203"),
        ("/orders/{id}", {"id": "a/b"}, "/orders/a%2Fb"),
        ("/orders/{id}", {"id": "a?x=1#y&z"}, "/orders/a%3Fx%3D1%23y%26z"),
        ("/orders/{id}", {"id": "%2e%2e"}, "/orders/%252e%252e"),
        ("/orders/{id}", {"id": 7}, "/orders/7"),
        ("/o?a={a}&b={b}", {"a": "x&b=2", "b": True}, "/o?a=x%26b%3D2&b=true"),
        ("/o?a={a}", {}, "/o?a="),
        ("/{customer.external_id}/x", {"customer.external_id": "c-1"}, "/c-1/x"),
        ("/{id}.json", {"id": "Đơn"}, "/%C4%90%C6%A1n.json"),
    ],
)
def test_arguments_stay_in_their_place(template, values, filled):
    assert request_templates.url(SITE + template, values) == SITE + filled


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("/orders/{id}", ".."),
        ("/orders/{id}/x", "."),
        ("/orders/{id}", "1/../../admin"),
        ("/orders/{id}", "..\\admin"),
        ("/orders/.{id}", "."),
        ("/orders/{id}", ""),
        ("/orders/{id}", None),
        ("/orders/{id}", ["a"]),
        ("/orders/{id}", {"a": 1}),
        ("/orders/{id}", "a\nb"),
        ("/orders?id={id}", "\x00"),
        ("/orders?id={id}", "x" * 5000),
    ],
)
def test_arguments_that_change_the_path_are_refused(template, value):
    with pytest.raises(request_templates.InvalidArgument):
        request_templates.url(SITE + template, {"id": value})


HOSTILE = '", "admin": true, "x": "\\ \n {{b}} \u2028'


@pytest.mark.parametrize(
    ("template", "values", "filled"),
    [
        ('{"a": {{a}}}', {"a": 5}, {"a": 5}),
        ('{"a": {{ a }}}', {"a": {"b": [1, None]}}, {"a": {"b": [1, None]}}),
        ('{"a": "{{a}}"}', {"a": 5}, {"a": "5"}),
        ('{"a": {{a}}, "b": "no {{a}}!"}', {"a": HOSTILE}, {"a": HOSTILE, "b": f"no {HOSTILE}!"}),
        ('{"a": {{a}}, "b": "-{{b}}-"}', {}, {"a": None, "b": "--"}),
        ('[{{a}}, "\\"{{a}}\\""]', {"a": "x"}, ["x", '"x"']),
        ('{"a": "{{chat.id}}"}', {"chat.id": "c"}, {"a": "c"}),
    ],
)
def test_a_body_is_json_whatever_is_put_in(template, values, filled):
    assert (
        json.loads(request_templates.body(request_templates.read_body(template), values)) == filled
    )


@pytest.mark.parametrize(
    "template", ["", "{", '{"a": {{a}', "{{{a}}}", '{"{{a}}": 1}', "{{{a}}: 1}", "NaN", "[\ue000]"]
)
def test_wrong_templates(template):
    with pytest.raises(request_templates.InvalidTemplate):
        request_templates.read_body(template)


ORDER = {
    "type": "object",
    "properties": {"id": {"type": "string", "maxLength": 5}, "n": {"$ref": "#/$defs/count"}},
    "required": ["id"],
    "additionalProperties": False,
    "$defs": {"count": {"type": "integer", "minimum": 1}},
}


def test_arguments_that_fit():
    argument_schemas.check_schema(ORDER)
    assert argument_schemas.parse('{"id": "a", "n": 2}', ORDER) == {"id": "a", "n": 2}


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "5", "null", "{}", '{"id": 5}', '{"id": "toolong"}', '{"id": "a", "x": 1}',
        '{"id": "a", "n": 0}', '{"id": NaN}', '{"id": "\\u0000"}', '{"id": "\\ud800"}',
        '{"id": "' + "x" * 30_000 + '"}', "[" * 100_000, '{"id":' * 50_000,
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit(text):
    with pytest.raises(argument_schemas.WrongArguments):
        argument_schemas.parse(text, ORDER)


def doubled(levels):
    """Each level contains the next one twice: a short schema, but endless to check."""
    defs = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(levels)}
    return {"type": "object", "$ref": "#/$defs/l0", "$defs": {**defs, f"l{levels}": {}}}


@pytest.mark.parametrize(
    "schema",
    [
        doubled(30),
        {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}},
        {"type": "object", "$defs": {"a": {"$ref": "#/$defs/missing"}}},
        {"type": "object", "$ref": "other.json"},
        {"type": "object", "$id": "https://x.example/"},
        {"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"},
        {"type": "object", "patternProperties": {"(a+)+$": {}}},
        {"type": "object", "properties": {f"p{n}": {"enum": ["x" * 200]} for n in range(100)}},
        {"type": "object", "properties": {"a": {"minimum": float("inf")}}},
    ],
)
def test_refused_schemas(schema):
    with pytest.raises(argument_schemas.WrongSchema):
        argument_schemas.check_schema(schema)


def test_a_property_may_have_the_name_of_a_keyword():
    named: dict[str, object] = {"pattern": {}, "$ref": {}}
    argument_schemas.check_schema({"type": "object", "properties": named})
    # As keywords the same words are refused.
    with pytest.raises(argument_schemas.WrongSchema):
        argument_schemas.check_schema({"type": "object", "properties": {"a": {"pattern": "x"}}})
