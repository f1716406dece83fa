"""Paths whose answers the API's document does not describe; settings of a web process with them."""

from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import path

from chatplatform.settings import *  # noqa: F403

ROOT_URLCONF = __name__
STREAM = (b'event: delta\ndata: {"text": "Nine"}\n\n', b'event: dance\ndata: {"text": "Nine"}\n\n')


def wrong_status(request):
    return JsonResponse({"status": "ok"}, status=418)


def wrong_type(request):
    return HttpResponse("All is well.")


def wrong_body(request):
    return JsonResponse({"items": [], "total": 0, "bots": "none"})


def no_json(request):
    return HttpResponse("{", content_type="application/json")


def wrong_event(request, chat_id):
    return StreamingHttpResponse(STREAM, content_type="text/event-stream")


urlpatterns = [
    path("health/live", wrong_status),
    path("health", wrong_type),
    path("ai/bot", wrong_body),
    path("ai/chats", no_json),
    path("ai/client/chat/<uuid:chat_id>", wrong_event),
]
