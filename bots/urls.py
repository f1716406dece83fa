"""Paths of bots and their training."""

from django.urls import path

from bots.views.bot import BotViewSet
from bots.views.function_calling import FunctionCallingViewSet, FunctionCallViewSet
from bots.views.train import DocumentViewSet, PromptViewSet

prompt = PromptViewSet.as_view({"post": "create", "get": "retrieve"})
documents = DocumentViewSet.as_view({"post": "create", "get": "list"})
document = DocumentViewSet.as_view({"delete": "destroy"})
function_calling = FunctionCallingViewSet.as_view({"get": "retrieve", "post": "upsert"})
function_calls = FunctionCallViewSet.as_view({"get": "list"})
function_call = FunctionCallViewSet.as_view({"post": "decide"})

urlpatterns = [
    # bot
    path("ai/bot", BotViewSet.as_view({"get": "list", "post": "create"})),
    path("ai/bot/<int:bot_id>", BotViewSet.as_view({"get": "retrieve"})),
    path("ai/bot/<int:bot_id>/update-bot", BotViewSet.as_view({"put": "update"})),
    # AI / train
    path("ai/<int:bot_id>/train/prompt", prompt),
    path("ai/<int:bot_id>/train/document", documents),
    path("ai/<int:bot_id>/train/document/<int:document_id>", document),
    # function-calling
    path("function-calling/<int:bot_id>", function_calling),
    path("function-calling/<int:bot_id>/events", function_calls),
    path("function-calling/<int:bot_id>/events/<uuid:call_id>/decision", function_call),
]
