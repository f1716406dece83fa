"""Paths of bots and their training."""

from django.urls import path

from bots.views.bot import BotViewSet, LanguageViewSet
from bots.views.train import DocumentViewSet, PromptViewSet

prompt = PromptViewSet.as_view({"post": "create", "get": "retrieve"})
documents = DocumentViewSet.as_view({"post": "create", "get": "list"})
document = DocumentViewSet.as_view({"delete": "destroy"})

urlpatterns = [
    # bot
    path("ai/bot", BotViewSet.as_view({"get": "list", "post": "create"})),
    path("ai/bot/<int:bot_id>", BotViewSet.as_view({"get": "retrieve"})),
    path("ai/bot/<int:bot_id>/update-bot", BotViewSet.as_view({"put": "update"})),
    # AI / train
    path("ai/<int:bot_id>/train/prompt", prompt),
    path("ai/<int:bot_id>/train/document", documents),
    path("ai/<int:bot_id>/train/document/<int:document_id>", document),
    # identity
    path("identity/languages", LanguageViewSet.as_view({"get": "retrieve"})),
    path("identity/languages/by-api-key", LanguageViewSet.as_view({"get": "retrieve_by_key"})),
]
