"""The demo server: it takes what a company's own server would, and shows it."""

from simulator.tests.calls import caller


def test_webhooks_and_calls_of_functions_are_shown():
    with caller() as at:
        event = {"type": "message.created", "data": {"text": "<b>hello</b>"}}
        taken = at.call("POST", "/server/webhooks", event, Webhook_Id="msg_1")
        order = at.call("GET", "/server/orders/1001")
        cancelled = at.call("DELETE", "/server/orders/1001", token="very-secret")
        page = at.call("GET", "/server/").body.decode()
        logged = [call for call in at.sim.calls() if call["base"] == "server"]
    assert (taken.status, order.status, cancelled.status) == (200, 200, 200)
    assert order.json["order_id"] == "1001"
    assert order.json["status"] != cancelled.json["status"] == "cancelled"
    assert [call["method"] for call in logged] == ["POST", "GET", "DELETE"]
    assert page.index("DELETE /orders/1001") < page.index("POST /webhooks")
    assert "very-secret" not in page
    assert "&lt;b&gt;hello" in page


def test_an_order_that_is_not_there_or_has_gone():
    with caller() as at:
        assert at.call("GET", "/server/orders/9").status == 404
        assert at.call("DELETE", "/server/orders/1003").status == 409
        assert at.call("GET", "/server/orders").json["orders"] == ["1001", "1002", "1003"]
