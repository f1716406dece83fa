"""AI / chat: what the client's people do with a conversation."""

import uuid
from typing import Any

from rest_framework.request import Request

from chatplatform.api import TenantViewSet, operation
from chatplatform.openapi import Error
from chatplatform.pagination import page
from chats.models import Conversation
from chats.serializers import insight as i
from chats.services import conversations, feedback, insights, summaries, tags
from identity.auth import BEARER, BEARER_OR_API_KEY


class InsightViewSet(TenantViewSet):
    @operation(
        "AI / chat", "Chat Summary Calculate", access=BEARER, body=i.SummaryCalculateRequest,
        body_is_optional=True, returns=i.SummaryJob, status=202, also={409: Error},
    )  # fmt: skip
    def calculate(self, request: Request, body: i.SummaryCalculateRequest) -> i.SummaryJob:
        """Summarise every matching chat that has no current summary, by workers.

        One run a client at a time: 409 `summary_running` with its `job_id` while one is not over.
        """
        return i.SummaryJob.of(summaries.start(self.client, by=self.user, given=body))

    @operation("AI / chat", "Chat Summary Calculate", access=BEARER, returns=i.SummaryJob)
    def calculation(self, request: Request, job_id: uuid.UUID) -> i.SummaryJob:
        """How far a run is."""
        return i.SummaryJob.of(summaries.get(self.client, job_id))

    @operation(
        "AI / chat", "Summarize Chat By Id", access=BEARER, returns=i.ChatSummary,
        also={402: Error, 503: Error},
    )  # fmt: skip
    def summarize(self, request: Request, chat_id: uuid.UUID) -> i.ChatSummary:
        """The summary of a chat; made, stored and charged only where the last is not current."""
        return i.ChatSummary.of(insights.summarise(self._chat(chat_id)))

    @operation("AI / chat", "Get Client Tags", access=BEARER, returns=i.Tags)
    def client_tags(self, request: Request) -> i.Tags:
        """Your tags with the number of chats of each; the 1,000 most used."""
        return tags.list_(self.client)

    @operation(
        "AI / chat", "Create Tags For Chat", access=BEARER, body=i.Tags, returns=i.Tags
    )  # fmt: skip
    def add_tags(self, request: Request, chat_id: uuid.UUID, body: i.Tags) -> i.Tags:
        """Give a chat more tags; the answer holds all that it has then."""
        return i.Tags.of(tags.add(self._chat(chat_id), names=body.names))

    @operation(
        "AI / chat", "Update Tags For Chat", access=BEARER, body=i.Tags, returns=i.Tags
    )  # fmt: skip
    def replace_tags(self, request: Request, chat_id: uuid.UUID, body: i.Tags) -> i.Tags:
        """Give a chat these tags in place of all others, whoever gave them."""
        return i.Tags.of(tags.replace(self._chat(chat_id), names=body.names))

    @operation(
        "AI / chat", "Auto Generate Tag With Ai", access=BEARER, returns=i.Tags,
        also={402: Error, 503: Error},
    )  # fmt: skip
    def auto_tag(self, request: Request, chat_id: uuid.UUID) -> i.Tags:
        """Have an engine give a chat the tags that it is sure of; the answer holds all tags."""
        return i.Tags.of(insights.auto_tag(self._chat(chat_id)))

    @operation(
        "AI / chat", "Auto Generate Tag With Ai Temp", access=BEARER, returns=i.Tags,
        also={402: Error, 503: Error},
    )  # fmt: skip
    def propose_tags(self, request: Request, chat_id: uuid.UUID) -> i.Tags:
        """Tags that would fit and that the chat does not have; nothing is stored."""
        return i.Tags.proposed(insights.propose_tags(self._chat(chat_id)))

    @operation(
        "AI / chat", "Generate Sentiment Manual", access=BEARER, returns=i.ChatSentiment,
        also={402: Error, 503: Error},
    )  # fmt: skip
    def judge(self, request: Request, chat_id: uuid.UUID) -> i.ChatSentiment:
        """Judge how the customer feels, and store it on the chat."""
        judged = insights.judge(self._chat(chat_id))
        return i.ChatSentiment(
            chat_id=chat_id,
            sentiment=judged.feeling.sentiment,
            score=judged.feeling.score,
            engine=judged.engine,
            created_at=judged.at,
        )

    @operation(
        "AI / chat", "Create Chat Feed Back", access=BEARER_OR_API_KEY, body=i.ChatFeedBackDto,
        returns=i.ChatFeedBackDto, also={409: Error},
    )  # fmt: skip
    def rate(
        self, request: Request, chat_id: uuid.UUID, body: i.ChatFeedBackDto
    ) -> i.ChatFeedBackDto:
        """A customer's rating of a chat, or of one answer in it; each once."""
        assert self.principal
        chat = conversations.of_caller(self.principal, chat_id)
        return i.ChatFeedBackDto.of(feedback.create(chat, body))

    @operation(
        "AI / chat", "Get Chat Feedbacks", access=BEARER, query=i.FeedbacksQuery,
        returns=i.FeedbacksResponse,
    )  # fmt: skip
    def ratings(self, request: Request, query: i.FeedbacksQuery) -> dict[str, Any]:
        """Your customers' ratings, newest first."""
        rows = feedback.list_(self.client, query)
        return page(rows, query, by="-id", shape=i.ChatFeedBackDto.of)

    def _chat(self, chat_id: uuid.UUID) -> Conversation:
        return conversations.of_client(self.client, chat_id)
