"""Paths of the messaging channels."""

from typing import Any

from django.contrib import admin
from django.urls import path

from channels_app.models import ChannelConnection
from channels_app.views.chatapp import ChatappCallbackViewSet, ChatappViewSet
from channels_app.views.localapp import LocalappCallbackViewSet, LocalappViewSet
from channels_app.views.photoapp import PhotoappCallbackViewSet, PhotoappViewSet
from channels_app.views.socialnet import SocialnetCallbackViewSet, SocialnetViewSet
from channels_app.views.telegram import TelegramCallbackViewSet, TelegramViewSet

webhook: dict[str, Any] = {"get": "verify_subscription", "post": "receive"}
messages: dict[str, Any] = {"get": "messages", "post": "send"}
socialnet = SocialnetViewSet.as_view
photoapp = PhotoappViewSet.as_view
localapp = LocalappViewSet.as_view
chatapp = ChatappViewSet.as_view
telegram = TelegramViewSet.as_view
telegram_webhook = TelegramCallbackViewSet.as_view({"post": "receive_for"})
page = admin.site.admin_view
pages: Any = admin.site.get_model_admin(ChannelConnection)
consents: dict[str, Any] = {"get": "end_consent", "post": "receive"}

urlpatterns = [
    # socialnet-services
    path("socialnet/webhook", SocialnetCallbackViewSet.as_view(webhook)),
    path("socialnet/<int:client_id>/messages/<int:bot_id>", socialnet(messages)),
    path("socialnet/<int:client_id>/pages/<int:bot_id>", socialnet({"get": "list_accounts"})),
    path("socialnet/<int:client_id>/user-token", socialnet({"post": "store_token"})),
    path("socialnet/<int:client_id>/connect_page/<int:bot_id>", socialnet({"post": "connect"})),
    path("socialnet/<int:client_id>/connect/<int:bot_id>", socialnet({"post": "sign_in"})),
    path("socialnet/<int:client_id>/connection/<int:bot_id>", socialnet({"get": "connection"})),
    path(
        "socialnet/<int:client_id>/disconnect_page/<int:bot_id>",
        socialnet({"put": "disconnect_page"}),
    ),
    path("socialnet/<int:client_id>/reconnect_page/<int:bot_id>", socialnet({"put": "reconnect"})),
    # photoapp-services
    path("photoapp/webhook", PhotoappCallbackViewSet.as_view(webhook)),
    path("photoapp/<int:client_id>/messages/<int:bot_id>", photoapp(messages)),
    path("photoapp/<int:client_id>/accounts/<int:bot_id>", photoapp({"get": "list_accounts"})),
    path("photoapp/<int:client_id>/user-token", photoapp({"post": "store_token"})),
    path("photoapp/<int:client_id>/connect_page/<int:bot_id>", photoapp({"post": "connect"})),
    path("photoapp/<int:client_id>/connect/<int:bot_id>", photoapp({"post": "sign_in"})),
    path("photoapp/<int:client_id>/connection", photoapp({"get": "list_connections"})),
    path("photoapp/<int:client_id>/disconnect/<int:bot_id>", photoapp({"put": "disconnect"})),
    # localapp-services
    path("localapp/callback", LocalappCallbackViewSet.as_view(consents)),
    path("localapp/<int:client_id>/connect/<int:bot_id>", localapp({"post": "sign_in"})),
    path("localapp/<int:client_id>/disconnect_page/<int:bot_id>", localapp({"put": "disconnect"})),
    path("localapp/<int:client_id>/connection/<int:bot_id>", localapp({"get": "connection"})),
    path("localapp/<int:client_id>/messages/<int:bot_id>", localapp(messages)),
    # chatapp-services
    path("chatapp/webhook", ChatappCallbackViewSet.as_view(webhook)),
    path("chatapp/<int:client_id>/user-token", chatapp({"post": "store_token"})),
    path("chatapp/<int:client_id>/accounts/<int:bot_id>", chatapp({"get": "list_accounts"})),
    path("chatapp/<int:client_id>/connect/<int:bot_id>", chatapp({"post": "connect"})),
    path("chatapp/<int:client_id>/disconnect/<int:bot_id>", chatapp({"put": "disconnect"})),
    path("chatapp/<int:client_id>/connection/<int:bot_id>", chatapp({"get": "connection"})),
    path("chatapp/<int:client_id>/messages/<int:bot_id>", chatapp(messages)),
    path(
        "chatapp/<int:client_id>/templates/<int:bot_id>",
        chatapp({"get": "list_templates", "post": "send_template"}),
    ),
    # telegram-services
    path("telegram/webhook/<int:account_id>", telegram_webhook),
    path("telegram/<int:client_id>/connect/<int:bot_id>", telegram({"post": "connect"})),
    path("telegram/<int:client_id>/connection/<int:bot_id>", telegram({"get": "connection"})),
    path("telegram/<int:client_id>/disconnect/<int:bot_id>", telegram({"put": "disconnect"})),
    path("telegram/<int:client_id>/messages/<int:bot_id>", telegram(messages)),
    # The site's own pages
    path("admin/channels/", page(pages.overview), name="channels"),
    path("admin/channels/<slug:channel>/connect/", page(pages.connect), name="channel_connect"),
    path("admin/channels/<slug:channel>/back/", page(pages.callback), name="channel_back"),
    path(
        "admin/channels/<slug:channel>/back/direct/",
        page(pages.callback),
        name="channel_back_direct",
    ),
    path(
        "admin/channels/<slug:channel>/<int:bot_id>/accounts/",
        page(pages.accounts),
        name="channel_accounts",
    ),
    path(
        "admin/channels/<slug:channel>/<int:bot_id>/",
        page(pages.account),
        name="channel_account",
    ),
]
