"""The same operations in the style of Django REST framework's tutorial.

Viewsets, ModelSerializers, Django's default settings and middleware, on the platform's models.
"""

from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from chatplatform import settings as platform

OURS = {name: getattr(platform, name) for name in dir(platform) if name.isupper()}
DATABASE = {
    name: value for name, value in platform.DATABASES["default"].items()
    if name in {"NAME", "USER", "PASSWORD", "HOST", "PORT"}
} | {"ENGINE": "django.db.backends.postgresql"}  # fmt: skip
settings.configure(
    **OURS
    | {
        "MIDDLEWARE": [
            "django.middleware.security.SecurityMiddleware",
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            "django.middleware.clickjacking.XFrameOptionsMiddleware",
        ],
        "ROOT_URLCONF": __name__,
        "SESSION_ENGINE": "django.contrib.sessions.backends.signed_cookies",
        "DATABASES": {"default": DATABASE},
        "REST_FRAMEWORK": {
            "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.CursorPagination",
            "PAGE_SIZE": 50,
        },
    }
)
application = get_wsgi_application()

from django.db import transaction  # noqa: E402 - the settings first
from django.db.models.functions import Coalesce  # noqa: E402
from django.http import Http404, HttpResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django.utils import timezone  # noqa: E402
from rest_framework import (  # noqa: E402  # noqa: E402
    authentication,
    exceptions,
    pagination,
    serializers,
    viewsets,
)

from chatplatform.crypto import constant_time_equal, hash_secret  # noqa: E402
from chats.models import Conversation, Customer, Message  # noqa: E402
from identity.models import ApiKey  # noqa: E402
from webhooks.models import Event, UnnumberedEvent  # noqa: E402


class KeyAuthentication(authentication.BaseAuthentication):
    def authenticate(self, request: Any) -> tuple[Any, Any]:
        prefix, _, secret = request.headers.get("API-KEY", "").partition(".")
        key = ApiKey.objects.select_related("client").filter(prefix=prefix, revoked_at=None).first()
        if key is None or not constant_time_equal(key.secret_hash, hash_secret(secret)):
            raise exceptions.AuthenticationFailed
        return key.client, key


class CustomerSerializer(serializers.ModelSerializer[Customer]):
    class Meta:
        model = Customer
        fields = ("external_id", "name", "email", "phone", "avatar_url", "attributes")


class MessageSerializer(serializers.ModelSerializer[Message]):
    class Meta:
        model = Message
        fields = (
            "id", "conversation", "seq", "sender_type", "sender_id", "sender_name", "content",
            "citations", "status", "error", "in_reply_to", "is_note", "client_message_id",
            "provider_message_id", "language", "created_at", "delivered_at", "read_at", "text",
        )  # fmt: skip
        read_only_fields = tuple(name for name in fields if name != "text")


class ChatSerializer(serializers.ModelSerializer[Conversation]):
    customer = CustomerSerializer()
    last_message = MessageSerializer()

    class Meta:
        model = Conversation
        fields = (
            "id", "chat_code", "bot", "channel", "status", "assign_type", "version", "language",
            "tags", "message_count", "unread_count", "customer", "last_message", "last_message_at",
            "created_at",
        )  # fmt: skip


class BySeq(pagination.CursorPagination):
    ordering = "seq"


class ByActivity(pagination.CursorPagination):
    ordering = ("-activity", "-id")


class MessageViewSet(viewsets.ModelViewSet[Message]):
    authentication_classes = (KeyAuthentication,)
    serializer_class = MessageSerializer
    pagination_class = BySeq

    def get_queryset(self) -> Any:
        chat_id, client = self.kwargs["chat_id"], self.request.user
        return Message.objects.filter(client=client, conversation_id=chat_id, is_note=False)

    @transaction.atomic
    def perform_create(self, serializer: Any) -> None:
        chats = Conversation.objects.select_for_update().filter(client=self.request.user)
        chat = chats.filter(pk=self.kwargs["chat_id"]).first()
        if chat is None:
            raise Http404
        chat.last_seq += 1
        chat.last_event_seq += 1
        chat.message_count += 1
        chat.unread_count += 1
        chat.last_message_at = timezone.now()
        text = serializer.validated_data["text"]
        message = serializer.save(
            client=self.request.user, conversation=chat, seq=chat.last_seq, sender_type="customer",
            sender_id=str(chat.customer_id), content=[{"type": "text", "text": text}],
            language="en", created_at=chat.last_message_at,
        )  # fmt: skip
        chat.last_message = message
        chat.save()
        event = Event.objects.create(
            client=self.request.user, type="message.created", conversation_id=chat.pk,
            sequence=chat.last_event_seq, data={"message": message.content},
        )  # fmt: skip
        UnnumberedEvent.objects.create(event_id=event.pk, client=self.request.user)


class ChatViewSet(viewsets.ReadOnlyModelViewSet[Conversation]):
    authentication_classes = (KeyAuthentication,)
    serializer_class = ChatSerializer
    pagination_class = ByActivity

    def get_queryset(self) -> Any:
        rows = Conversation.objects.filter(client=self.request.user, is_preview=False)
        rows = rows.select_related("customer", "last_message")
        return rows.annotate(activity=Coalesce("last_message_at", "created_at"))


urlpatterns = [
    path("post/none/<uuid:chat_id>", MessageViewSet.as_view({"post": "create"})),
    path("list/<uuid:chat_id>", MessageViewSet.as_view({"get": "list"})),
    path("chats", ChatViewSet.as_view({"get": "list"})),
    path("health/live", lambda request: HttpResponse("ok")),
]
