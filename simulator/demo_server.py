"""The demo server, in place of a company's own: it receives webhooks, and serves
orders to bots' functions."""

from typing import TYPE_CHECKING

from simulator import html_pages
from simulator.call_subject import segments
from simulator.http import Request, Response, html, ok

if TYPE_CHECKING:
    from simulator.state import Simulator

BASE = "server"
_SHOWN = 100
_ORDERS = {
    "1001": {"items": "2 × jasmine tea", "status": "on its way", "arrives": "tomorrow"},
    "1002": {"items": "1 × teapot", "status": "being packed", "arrives": "in three days"},
    "1003": {"items": "3 × green tea", "status": "delivered", "arrives": "yesterday"},
}


def orders() -> dict[str, dict[str, str]]:
    """The orders that a server starts with."""
    return {number: dict(order) for number, order in _ORDERS.items()}


def is_page(request: Request) -> bool:
    """Whether a person opens the list of received calls, which is not logged as a call."""
    return request.method == "GET" and not segments(request.path)


def page(sim: "Simulator") -> Response:
    """The received calls, latest first."""
    calls = [call for call in sim.calls if call.base == BASE][-_SHOWN:]
    return html(html_pages.demo_server(sim.origin, calls[::-1], sim.orders))


def answer(sim: "Simulator", request: Request) -> Response:
    """The response to a call: orders, or an acknowledgment of anything else."""
    parts = segments(request.path)
    if parts[:1] != ["orders"]:
        return ok({"received": True})
    if len(parts) == 1:
        return ok({"orders": sorted(sim.orders)})
    order = sim.orders.get(parts[1])
    if order is None:
        return ok({"error": f"There is no order {parts[1][:40]}."}, 404)
    if request.method != "GET":
        if order["status"] == "delivered":
            return ok({"error": "This order has been delivered already."}, 409)
        order["status"] = "cancelled"
    return ok({"order_id": parts[1], **order})
