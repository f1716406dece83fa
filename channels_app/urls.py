"""Paths of the messaging channels."""

from typing import Any

from django.urls import path

from channels_app.views.chatapp import ChatappCallbackViewSet, ChatappViewSet
from channels_app.views.localapp import LocalappCallbackViewSet, LocalappViewSet
from channels_app.views.photoapp import PhotoappCallbackViewSet, PhotoappViewSet
from channels_app.views.socialnet import SocialnetCallbackViewSet, SocialnetViewSet

# Operations of a provider, and of people.
webhook: dict[str, Any] = {"get": "verify_subscription", "post": "receive"}
messages: dict[str, Any] = {"get": "messages", "post": "send"}

photoapp = PhotoappViewSet.as_view
photoapp_webhook = PhotoappCallbackViewSet.as_view(
    {"get": "verify_subscription", "post": "receive"}
)
photoapp_messages = photoapp(messages)
socialnet = SocialnetViewSet.as_view
socialnet_webhook = SocialnetCallbackViewSet.as_view(
    {"get": "verify_subscription", "post": "receive"}
)
socialnet_messages = socialnet(messages)
socialnet_disconnect = socialnet({"put": "disconnect_page"})
socialnet_reconnect = socialnet({"put": "reconnect"})
localapp = LocalappViewSet.as_view
localapp_callback = LocalappCallbackViewSet.as_view({"get": "end_consent", "post": "receive"})
localapp_messages = localapp(messages)
localapp_disconnect = localapp({"put": "disconnect"})

chatapp = ChatappViewSet.as_view
chatapp_webhook = ChatappCallbackViewSet.as_view(webhook)
chatapp_messages = chatapp(messages)
chatapp_templates = chatapp({"get": "list_templates", "post": "send_template"})

urlpatterns = [
    # socialnet-services
    path("socialnet/webhook", socialnet_webhook),
    path("socialnet/<int:client_id>/messages/<int:bot_id>", socialnet_messages),
    path("socialnet/<int:client_id>/pages/<int:bot_id>", socialnet({"get": "list_accounts"})),
    path("socialnet/<int:client_id>/user-token", socialnet({"post": "store_token"})),
    path("socialnet/<int:client_id>/connect_page/<int:bot_id>", socialnet({"post": "connect"})),
    path("socialnet/<int:client_id>/connect/<int:bot_id>", socialnet({"post": "sign_in"})),
    path("socialnet/<int:client_id>/connection/<int:bot_id>", socialnet({"get": "connection"})),
    path("socialnet/<int:client_id>/disconnect_page/<int:bot_id>", socialnet_disconnect),
    path("socialnet/<int:client_id>/reconnect_page/<int:bot_id>", socialnet_reconnect),
    # photoapp-services
    path("photoapp/webhook", photoapp_webhook),
    path("photoapp/<int:client_id>/messages/<int:bot_id>", photoapp_messages),
    path("photoapp/<int:client_id>/accounts/<int:bot_id>", photoapp({"get": "list_accounts"})),
    path("photoapp/<int:client_id>/user-token", photoapp({"post": "store_token"})),
    path("photoapp/<int:client_id>/connect_page/<int:bot_id>", photoapp({"post": "connect"})),
    path("photoapp/<int:client_id>/connect/<int:bot_id>", photoapp({"post": "sign_in"})),
    path("photoapp/<int:client_id>/connection", photoapp({"get": "list_connections"})),
    path("photoapp/<int:client_id>/disconnect/<int:bot_id>", photoapp({"put": "disconnect"})),
    # localapp-services
    path("localapp/callback", localapp_callback),
    path("localapp/<int:client_id>/connect/<int:bot_id>", localapp({"post": "sign_in"})),
    path("localapp/<int:client_id>/disconnect_page/<int:bot_id>", localapp_disconnect),
    path("localapp/<int:client_id>/connection/<int:bot_id>", localapp({"get": "connection"})),
    path("localapp/<int:client_id>/messages/<int:bot_id>", localapp_messages),
    # chatapp-services
    path("chatapp/webhook", chatapp_webhook),
    path("chatapp/<int:client_id>/user-token", chatapp({"post": "store_token"})),
    path("chatapp/<int:client_id>/accounts/<int:bot_id>", chatapp({"get": "list_accounts"})),
    path("chatapp/<int:client_id>/connect/<int:bot_id>", chatapp({"post": "connect"})),
    path("chatapp/<int:client_id>/disconnect/<int:bot_id>", chatapp({"put": "disconnect"})),
    path("chatapp/<int:client_id>/connection/<int:bot_id>", chatapp({"get": "connection"})),
    path("chatapp/<int:client_id>/messages/<int:bot_id>", chatapp_messages),
    path("chatapp/<int:client_id>/templates/<int:bot_id>", chatapp_templates),
]
