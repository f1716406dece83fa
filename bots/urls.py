"""Paths of bots and their training."""

from django.urls import path

from bots.views.bot import BotViewSet
from bots.views.train import DocumentViewSet, PromptViewSet, WebUrlViewSet

prompt = PromptViewSet.as_view({"post": "create", "get": "retrieve"})
documents = DocumentViewSet.as_view({"post": "create", "get": "list"})
document = DocumentViewSet.as_view({"delete": "destroy"})
web_urls = WebUrlViewSet.as_view({"post": "create", "get": "list"})
web_url = WebUrlViewSet.as_view({"put": "update", "delete": "destroy"})

urlpatterns = [
    # bot
    path("ai/bot", BotViewSet.as_view({"get": "list", "post": "create"})),
    path("ai/bot/<int:bot_id>", BotViewSet.as_view({"get": "retrieve"})),
    path("ai/bot/<int:bot_id>/update-bot", BotViewSet.as_view({"put": "update"})),
    # AI / train
    path("ai/<int:bot_id>/train/prompt", prompt),
    path("ai/<int:bot_id>/train/document", documents),
    path("ai/<int:bot_id>/train/document/<int:document_id>", document),
    path("ai/<int:bot_id>/train/web-url", web_urls),
    path("ai/<int:bot_id>/train/web-url/<int:web_url_id>", web_url),
]
