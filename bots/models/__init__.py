"""Bots, their content, and the functions that they may call."""

from bots.models.bot import ALLOWED_HOSTS, Bot, SampleQuestion
from bots.models.document import Chunk, Document, DocumentSource, DocumentStage, DocumentStatus
from bots.models.function import (
    Approval,
    CallStatus,
    Function,
    FunctionCall,
    FunctionCalling,
    McpServer,
)
from bots.models.golden_question import (
    GoldenOrigin,
    GoldenOutcome,
    GoldenQuestion,
    GoldenRun,
    GoldenStatus,
)
from bots.models.language_model import LanguageModel, ModelPurpose
from bots.models.prompt import Prompt
from bots.models.web_page import PageStatus, WebPage
from bots.models.web_url import WebUrl, WebUrlStatus

__all__ = [
    "ALLOWED_HOSTS",
    "Approval",
    "Bot",
    "CallStatus",
    "Chunk",
    "Document",
    "DocumentSource",
    "DocumentStage",
    "DocumentStatus",
    "Function",
    "FunctionCall",
    "FunctionCalling",
    "GoldenOrigin",
    "GoldenOutcome",
    "GoldenQuestion",
    "GoldenRun",
    "GoldenStatus",
    "LanguageModel",
    "McpServer",
    "ModelPurpose",
    "PageStatus",
    "Prompt",
    "SampleQuestion",
    "WebPage",
    "WebUrl",
    "WebUrlStatus",
]
