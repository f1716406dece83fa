"""Route a request: find the host that it is for, log it, and apply the fault that affects it."""

from dataclasses import asdict

from simulator import (
    calls,
    control,
    demo_server,
    faults,
    graph,
    localapp,
    oauth,
    sample_files,
    telegram,
)
from simulator.call_subject import Subject, subject_of
from simulator.calls import Call
from simulator.http import ProviderError, Request, Response
from simulator.state import Simulator


def handle(sim: Simulator, request: Request) -> Response:
    base, path = _split(sim, request.path)
    if not base:
        return control.handle(sim, request)
    request.base, request.path = base, path
    if base == "media":
        return graph.serve_media(sim, request)
    if base == demo_server.BASE:
        with sim.world.lock:
            if demo_server.is_page(request):
                return demo_server.page(sim)
            return _call(sim, base, request)
    if request.method == "POST":
        # Fetch outside the lock, since a URL may be on this server.
        found = sample_files.addresses(request.params)
        request.fetched = {address: sample_files.fetch(address) for address in found}
    with sim.world.lock:
        return _call(sim, base, request)


def _split(sim: Simulator, path: str) -> tuple[str, str]:
    """The name of the base with which a path begins, and the rest of the path; ("", path) if it
    begins with no base."""
    for name, prefix in asdict(sim.settings.bases).items():
        if path.startswith(f"{prefix}/"):
            return name, path[len(prefix) :]
    return "", path


def _call(sim: Simulator, base: str, request: Request) -> Response:
    is_demo = base == demo_server.BASE
    subject = Subject("", "", "") if is_demo else subject_of(sim.world, base, request)
    call = calls.record(next(sim.numbers), sim.world.now, base, request)
    call.channel, call.account, call.what = subject.channel, subject.account, subject.what
    sim.calls.append(call)
    del sim.calls[: -calls.KEPT]
    if is_demo:
        response = demo_server.answer(sim, request)
    else:
        response = _answer(sim, base, request, subject, call)
    calls.finish(call, response)
    return response


def _answer(sim: Simulator, base: str, request: Request, subject: Subject, call: Call) -> Response:
    fault = faults.first_met(sim.faults, subject)
    if fault is None:
        return _handled(sim, base, request)
    call.fault = fault.kind
    request.fails_later = fault.code if fault.kind == "fails_later" else 0
    return faults.answer(fault, subject.channel, lambda: _handled(sim, base, request))


def _handled(sim: Simulator, base: str, request: Request) -> Response:
    try:
        if base in {"dialog", "direct_auth", "localapp_oauth"}:
            return oauth.handle(sim, base, request)
        if base == "localapp":
            return localapp.handle(sim, request)
        if base == "telegram":
            return telegram.handle(sim, request)
        return graph.handle(sim, base, request)
    except ProviderError as error:
        return error.response
