"""AI / chat: summaries and sentiment of conversations."""

import uuid

from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import operation
from chats.schemas import chat_analysis as analysis_schemas
from chats.services.insight import chat_analysis, summary_runs
from chats.views.base import PAID, ChatsViewSet
from identity.auth import BEARER


class ChatAnalysisViewSet(ChatsViewSet):
    @operation(
        "AI / chat",
        "Chat Summary Calculate",
        access=BEARER,
        body_is_optional=True,
        status=202,
        also={404: Error, 409: Error},
    )
    def calculate(
        self, body: analysis_schemas.SummaryCalculateRequest
    ) -> analysis_schemas.SummaryJob:
        """Start a run that summarizes your company's conversations, or only the conversations that
        match the filters in the body.

        The run skips test conversations (previews), conversations without messages and, unless
        `force` is true, conversations whose summary is up to date. `GET
        /ai/chat/summary/calculate/{job_id}` with the returned `id` shows the progress. Each summary
        costs 1 credit or, with a language model, the model's tokens. A company has one run at a
        time: 409 `summary_running` with its `job_id` while one is running.
        """
        return analysis_schemas.SummaryJob.copy_from(
            summary_runs.start(self.client, by=self.user, given=body)
        )

    @operation("AI / chat", "Chat Summary Calculate", access=BEARER)
    def calculation(self, job_id: uuid.UUID) -> analysis_schemas.SummaryJob:
        """Get a run that summarizes conversations, with its `status` and how many conversations are
        done."""
        return analysis_schemas.SummaryJob.copy_from(summary_runs.get(self.client, job_id))

    @operation("AI / chat", "Summarize Chat By Id", access=BEARER, also=PAID, waits=True)
    def summarize(self, chat_id: uuid.UUID) -> analysis_schemas.ChatSummary:
        """Get a conversation's summary. A new summary is written only if none covers all messages;
        it costs 1 credit or, with a language model, the model's tokens.

        A new summary triggers the webhook event `summary.created`. It covers the texts of the
        customer, the bot and agents without internal notes; in a long conversation, the first text
        and up to 200 of the latest. Without any text, nothing is charged.
        """
        return analysis_schemas.ChatSummary.from_row(chat_analysis.summarize(self._chat(chat_id)))

    @operation("AI / chat", "Generate Sentiment Manual", access=BEARER, also=PAID, waits=True)
    def analyze_sentiment(self, chat_id: uuid.UUID) -> analysis_schemas.ChatSentiment:
        """Judge the customer's sentiment in a conversation, and store it with the conversation and
        its messages.

        This costs 1 credit or, with a language model, the model's tokens. If the customer has not
        written, the sentiment is `neutral` and nothing is charged.
        """
        return chat_analysis.analyze_sentiment(self._chat(chat_id))
