"""Paths of bots, their training, languages, language models and functions."""

from django.urls import path

from bots.views.bot import BotViewSet, LanguageViewSet
from bots.views.document import DocumentViewSet
from bots.views.function_calling import (
    FunctionCallingViewSet,
    FunctionCallViewSet,
    McpServerViewSet,
)
from bots.views.golden import GoldenQuestionViewSet, GoldenRunViewSet
from bots.views.language_model import LanguageModelViewSet
from bots.views.procedure import ProcedureViewSet
from bots.views.prompt import PromptViewSet
from bots.views.public_pictures import serve_picture
from bots.views.search import ContentSearchViewSet
from bots.views.web_url import WebUrlViewSet
from bots.views.widget import BannerViewSet, CustomerInfoViewSet, WelcomeViewSet
from bots.views.written import QuestionAnswerViewSet, TextViewSet

prompt = PromptViewSet.as_view({"post": "create", "get": "retrieve"})
prompt_versions = PromptViewSet.as_view({"get": "list"})
restore_prompt = PromptViewSet.as_view({"post": "restore"})
documents = DocumentViewSet.as_view({"post": "create", "get": "list"})
reupload = DocumentViewSet.as_view({"post": "reupload"})
document = DocumentViewSet.as_view({"get": "retrieve", "delete": "destroy"})
original = DocumentViewSet.as_view({"get": "download"})
discard_change = DocumentViewSet.as_view({"post": "discard"})
texts = TextViewSet.as_view({"post": "create", "get": "list"})
text = TextViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"})
question_answers = QuestionAnswerViewSet.as_view({"post": "create", "get": "list"})
question_answer = QuestionAnswerViewSet.as_view(
    {"get": "retrieve", "put": "update", "delete": "destroy"}
)
web_urls = WebUrlViewSet.as_view({"post": "create", "get": "list"})
web_url = WebUrlViewSet.as_view({"put": "update", "delete": "destroy"})
important = DocumentViewSet.as_view({"put": "set_important"})
customer_info = CustomerInfoViewSet.as_view({"put": "update", "get": "retrieve"})
procedures = ProcedureViewSet.as_view({"put": "update", "get": "retrieve"})
welcome = WelcomeViewSet.as_view({"put": "update", "get": "retrieve"})
banner = BannerViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"})
questions = BotViewSet.as_view({"get": "sample_questions", "put": "replace_questions"})
golden_questions = GoldenQuestionViewSet.as_view({"get": "list", "post": "create"})
golden_question = GoldenQuestionViewSet.as_view({"put": "update", "delete": "destroy"})
golden_runs = GoldenRunViewSet.as_view({"get": "list", "post": "create"})
golden_run = GoldenRunViewSet.as_view({"get": "retrieve"})
publish_held = GoldenRunViewSet.as_view({"post": "publish"})
discard_held = GoldenRunViewSet.as_view({"post": "discard"})
language_model = LanguageModelViewSet.as_view({"get": "list", "put": "store", "delete": "destroy"})
function_calling = FunctionCallingViewSet.as_view({"get": "retrieve", "post": "upsert"})
function_calls = FunctionCallViewSet.as_view({"get": "list"})
function_call = FunctionCallViewSet.as_view({"post": "decide"})
mcp_servers = McpServerViewSet.as_view({"get": "list", "post": "create"})
mcp_server = McpServerViewSet.as_view({"put": "update", "delete": "destroy"})
refresh_mcp_server = McpServerViewSet.as_view({"post": "refresh"})

urlpatterns = [
    # AI / train
    path("ai/<int:bot_id>/search", ContentSearchViewSet.as_view({"get": "search"})),
    path("ai/<int:bot_id>/train/prompt", prompt),
    path("ai/<int:bot_id>/train/prompt/versions", prompt_versions),
    path("ai/<int:bot_id>/train/prompt/versions/<int:version>/restore", restore_prompt),
    path("ai/<int:bot_id>/train/document", documents),
    path("ai/<int:bot_id>/train/document/reupload", reupload),
    path("ai/<int:bot_id>/train/document/<int:document_id>", document),
    path("ai/<int:bot_id>/train/document/<int:document_id>/original", original),
    path("ai/<int:bot_id>/train/document/<int:document_id>/discard", discard_change),
    path("ai/<int:bot_id>/train/text", texts),
    path("ai/<int:bot_id>/train/text/<int:text_id>", text),
    path("ai/<int:bot_id>/train/question-answer", question_answers),
    path("ai/<int:bot_id>/train/question-answer/<int:question_answer_id>", question_answer),
    path("ai/<int:bot_id>/train/web-url", web_urls),
    path("ai/<int:bot_id>/train/web-url/<int:web_url_id>", web_url),
    path("ai/<int:bot_id>/train/document/<int:document_id>/important", important),
    path("ai/<int:bot_id>/golden-questions", golden_questions),
    path("ai/<int:bot_id>/golden-questions/<int:golden_question_id>", golden_question),
    path("ai/<int:bot_id>/golden-runs", golden_runs),
    path("ai/<int:bot_id>/golden-runs/<uuid:run_id>", golden_run),
    path("ai/<int:bot_id>/golden-runs/<uuid:run_id>/publish", publish_held),
    path("ai/<int:bot_id>/golden-runs/<uuid:run_id>/discard", discard_held),
    path("ai/model", language_model),
    path("ai/model/test", LanguageModelViewSet.as_view({"post": "test"})),
    path("ai/<int:bot_id>/customer-info-field", customer_info),
    path("ai/<int:bot_id>/procedures", procedures),
    path("ai/<int:bot_id>/welcome-message", welcome),
    path("ai/<int:bot_id>/upload-banner-image", BannerViewSet.as_view({"post": "upload"})),
    path("ai/<int:bot_id>/banner", banner),
    path("ai/banner", BannerViewSet.as_view({"get": "retrieve_by_key"})),
    # bot
    path("ai/bot/config", BotViewSet.as_view({"get": "config"})),
    path("ai/bot", BotViewSet.as_view({"get": "list", "post": "create"})),
    path("ai/bot/<int:bot_id>", BotViewSet.as_view({"get": "retrieve", "delete": "destroy"})),
    path("ai/bot/<int:bot_id>/update-bot", BotViewSet.as_view({"put": "update"})),
    path("ai/bot/<int:bot_id>/toggle-disable", BotViewSet.as_view({"put": "toggle_disable"})),
    path(
        "ai/bot/<int:bot_id>/identity-secret",
        BotViewSet.as_view({"post": "replace_identity_secret"}),
    ),
    path("ai/bot/<int:bot_id>/sample-questions", questions),
    # Public pictures; not an operation of the API.
    path("media/banners/<str:name>", serve_picture),
    # identity
    path("identity/languages", LanguageViewSet.as_view({"get": "retrieve", "put": "update"})),
    path("identity/languages/by-api-key", LanguageViewSet.as_view({"get": "retrieve_by_key"})),
    # function-calling
    path("function-calling/<int:bot_id>", function_calling),
    path("function-calling/<int:bot_id>/mcp-servers", mcp_servers),
    path("function-calling/<int:bot_id>/mcp-servers/<uuid:mcp_server_id>", mcp_server),
    path(
        "function-calling/<int:bot_id>/mcp-servers/<uuid:mcp_server_id>/refresh",
        refresh_mcp_server,
    ),
    path("function-calling/<int:bot_id>/events", function_calls),
    path("function-calling/<int:bot_id>/events/<uuid:call_id>/decision", function_call),
]
