"""AI / chat: summaries, tags, sentiment, feedback; AI / client: suggestions, translation."""

import uuid
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import Deprecated, operation
from chatplatform.api.pagination import page
from chats.schemas import insight as insight_schemas
from chats.services.core import feedback, tags
from chats.services.insight import chat_analysis, language_tasks, summary_runs
from chats.views.base import ChatsViewSet
from identity.auth import (
    ADMIN,
    BEARER,
    BEARER_OR_SECRET_KEY,
    BEARER_OR_VISITOR,
    SECRET_KEY,
)

# For operations that cost credits and need an engine, which may be unavailable.
PAID: dict[int, type[BaseModel] | None] = {402: Error, 503: Error}
OLD_TRANSLATE = Deprecated(
    since=datetime(2026, 11, 1, tzinfo=UTC),
    sunset=datetime(2027, 11, 1, tzinfo=UTC),
    successor="/client/translate",
)


class InsightViewSet(ChatsViewSet):
    @operation(
        "AI / chat",
        "Chat Summary Calculate",
        access=BEARER,
        body_is_optional=True,
        status=202,
        also={404: Error, 409: Error},
    )
    def calculate(
        self, body: insight_schemas.SummaryCalculateRequest
    ) -> insight_schemas.SummaryJob:
        """Start a run that summarizes your company's conversations, or those that the body selects.

        It skips previews, conversations without messages and, unless `force` is true, those whose
        summary is up to date. `GET /ai/chat/summary/calculate/{job_id}` with the returned `id`
        shows the progress. Each summary costs 1 credit, or with a language model its tokens. A
        company has one run at a time: 409 `summary_running` with its `job_id` while one is running.
        """
        return insight_schemas.SummaryJob.copy_from(
            summary_runs.start(self.client, by=self.user, given=body)
        )

    @operation("AI / chat", "Chat Summary Calculate", access=BEARER)
    def calculation(self, job_id: uuid.UUID) -> insight_schemas.SummaryJob:
        """Get the progress of a run that summarizes conversations."""
        return insight_schemas.SummaryJob.copy_from(summary_runs.get(self.client, job_id))

    @operation("AI / chat", "Summarize Chat By Id", access=BEARER, also=PAID, waits=True)
    def summarize(self, chat_id: uuid.UUID) -> insight_schemas.ChatSummary:
        """Get a conversation's summary. A new one is written and charged only if there is none that
        covers all messages: 1 credit, or with a language model its tokens.

        A new one triggers the webhook event `summary.created`. It covers the texts of the customer,
        the bot and agents without internal notes; in a long conversation, the first text and up to
        200 of the latest. Without any text, nothing is charged.
        """
        return insight_schemas.ChatSummary.from_row(chat_analysis.summarize(self._chat(chat_id)))

    @operation("AI / chat", "Get Client Tags", access=BEARER)
    def client_tags(self) -> insight_schemas.ClientTags:
        """List your 1,000 most used tags, each with its number of conversations."""
        return tags.list_for_client(self.client)

    @operation("AI / chat", "Create Client Tag", access=ADMIN, status=201, also={409: Error})
    def create_tag(self, body: insight_schemas.ClientTagRequest) -> insight_schemas.Tag:
        """Add a tag to your list. A tag is also added when it is first given to a conversation.

        409 `tag_exists` if you have a tag of this name.
        """
        return tags.create(self.user, body)

    @operation("AI / chat", "Update Client Tag", access=ADMIN, also={409: Error})
    def update_tag(
        self, tag_id: int, body: insight_schemas.ClientTagRequest
    ) -> insight_schemas.Tag:
        """Rename a tag or change its colour; fields left out keep their value.

        Conversations get the new name in the background, and `count` includes each only then. Each
        triggers the webhook event `tags.updated`. 409 `tag_exists` if another tag has this name:
        merge the two with *Merge Client Tag* instead.
        """
        return tags.update(self.user, tag_id, body)

    @operation("AI / chat", "Merge Client Tag", access=ADMIN)
    def merge_tag(self, tag_id: int, body: insight_schemas.TagMerge) -> insight_schemas.Tag:
        """Replace a tag with the tag `into`, which is returned, and delete it.

        Conversations get the new tag in the background, and `count` includes each only then. Each
        triggers the webhook event `tags.updated`. 422 if no other tag has the name `into`.
        """
        return tags.merge(self.user, tag_id, into=body.into)

    @operation("AI / chat", "Delete Client Tag", access=ADMIN, status=204)
    def delete_tag(self, tag_id: int) -> None:
        """Delete a tag from your list, and in the background from all conversations; each triggers
        the webhook event `tags.updated`."""
        tags.delete(self.user, tag_id)

    @operation("AI / chat", "Create Tags For Chat", access=BEARER)
    def add_tags(self, chat_id: uuid.UUID, body: insight_schemas.Tags) -> insight_schemas.Tags:
        """Add tags to a conversation; the response has all of its tags.

        Names that are not in your list of tags are added to it. 422 if the conversation would have
        more than 20 tags.
        """
        return insight_schemas.Tags.from_rows(tags.add(self._chat(chat_id), names=body.names))

    @operation("AI / chat", "Update Tags For Chat", access=BEARER)
    def replace_tags(self, chat_id: uuid.UUID, body: insight_schemas.Tags) -> insight_schemas.Tags:
        """Replace all tags of a conversation, including those added by AI.

        A tag that stays keeps its `source`. Names that are not in your list of tags are added to
        it. An empty list removes all tags of the conversation.
        """
        return insight_schemas.Tags.from_rows(tags.replace(self._chat(chat_id), names=body.names))

    @operation("AI / chat", "Auto Generate Tag With Ai", access=BEARER, also=PAID, waits=True)
    def auto_tag(self, chat_id: uuid.UUID) -> insight_schemas.Tags:
        """Let AI add the tags that it is confident of; returns all tags of the conversation.

        A language model chooses from your 40 most used tags and up to 3 new ones, and tags with a
        confidence of at least 0.6 are added; its tokens are charged. Without a model, at most one
        of your tags is added, if its name and the conversations that agents tagged with it are
        clearly the most similar; this costs 1 credit. A conversation has at most 20 tags. If the
        customer has not written, nothing is added or charged. Added tags trigger the webhook event
        `tags.updated`.
        """
        return insight_schemas.Tags.from_rows(chat_analysis.auto_tag(self._chat(chat_id)))

    @operation("AI / chat", "Auto Generate Tag With Ai Temp", access=BEARER, also=PAID, waits=True)
    def propose_tags(self, chat_id: uuid.UUID) -> insight_schemas.Tags:
        """Get the tags that AI proposes for the conversation, best first; nothing is stored.

        These include tags that are too uncertain for *Auto Generate Tag With Ai*; the costs are the
        same.
        """
        return insight_schemas.Tags.from_suggested(chat_analysis.propose_tags(self._chat(chat_id)))

    @operation("AI / chat", "Generate Sentiment Manual", access=BEARER, also=PAID, waits=True)
    def analyze_sentiment(self, chat_id: uuid.UUID) -> insight_schemas.ChatSentiment:
        """Judge the customer's sentiment, and store it with the conversation and its messages.

        This costs 1 credit, or with a language model its tokens. If the customer has not written,
        the sentiment is `neutral` and nothing is charged.
        """
        return chat_analysis.analyze_sentiment(self._chat(chat_id))

    @operation("AI / chat", "Rewrite Reply", access=BEARER, also=PAID, waits=True)
    def rewrite(
        self, chat_id: uuid.UUID, body: insight_schemas.RewriteRequest
    ) -> insight_schemas.RewrittenText:
        """Rewrite a reply before you send it: shorter, friendlier, corrected or translated.

        The model's tokens are charged. Needs a model: 503 `engine_not_configured` without one. 503
        `engine_unavailable` if the model fails, or if its text is in another language than yours
        (for `translated`, than the conversation) or has other figures, links or addresses.
        """
        return language_tasks.rewrite(self._chat(chat_id), body)

    @operation("AI / chat", "Create Chat Feed Back", access=BEARER_OR_VISITOR, also={409: Error})
    def rate(
        self, chat_id: uuid.UUID, body: insight_schemas.ChatFeedBackDto
    ) -> insight_schemas.ChatFeedBackDto:
        """Rate a conversation in stars, or one answer in it in stars or by thumb.

        A second rating of the same conversation or answer corrects the first one within the
        `feedback_edit_minutes` of your settings; after that, it gets 409 `feedback_given`. 403
        `customer_blocked` if your team has blocked the customer.
        """
        return insight_schemas.ChatFeedBackDto.from_row(feedback.submit(self._chat(chat_id), body))

    @operation(
        "AI / chat", "Get Chat Feedbacks", access=BEARER, returns=insight_schemas.FeedbacksResponse
    )
    def ratings(self, query: insight_schemas.FeedbacksQuery) -> dict[str, Any]:
        """List your customers' ratings, newest first."""
        rows = feedback.list_for_client(self.client, query)
        return page(rows, query, by="-id", shape=insight_schemas.ChatFeedBackDto.from_row)


class ClientLanguageViewSet(ChatsViewSet):
    @operation(
        "AI / client",
        "Generate intelligent reply suggestions for chat conversation",
        access=BEARER_OR_SECRET_KEY,
        body_is_optional=True,
        also=PAID,
        waits=True,
    )
    def suggest(
        self, chat_id: uuid.UUID, body: insight_schemas.SuggestionRequest
    ) -> insight_schemas.ReplySuggestions:
        """Suggest replies to the customer's open question, for an agent to choose from.

        A model writes them from the bot's documents, and its tokens are charged; without a model,
        they are quotations from the documents and cost 1 credit. If no question is open, there are
        no suggestions and nothing is charged.
        """
        return language_tasks.suggest(self._chat(chat_id), body)

    @operation(
        "AI / client", "Multi-language text translation", access=BEARER_OR_SECRET_KEY,
        also={**PAID, 404: None},
        waits=True,
    )  # fmt: skip
    def translate(
        self, body: insight_schemas.TranslationRequest
    ) -> insight_schemas.TranslationResponse:
        """Translate a text; the model's tokens are charged. Needs a model: 503
        `engine_not_configured` without one."""
        return language_tasks.translate(self.client, body)

    @operation(
        "AI / client",
        "AI translation API",
        access=SECRET_KEY,
        also={**PAID, 404: None},
        deprecated=OLD_TRANSLATE,
        waits=True,
    )
    def translate_old(
        self, body: insight_schemas.TranslationRequest
    ) -> insight_schemas.TranslationResponse:
        """Translate a text. Use POST /client/translate instead, which does the same; both need a
        model: 503 `engine_not_configured` without one."""
        return language_tasks.translate(self.client, body)

    @operation(
        "AI / client",
        "Intelligent content summarization with AI",
        access=SECRET_KEY,
        also=PAID,
        waits=True,
    )
    def summarize(
        self, body: insight_schemas.SummarizeRequest
    ) -> insight_schemas.SummarizeResponse:
        """Summarize a text or messages.

        A model's tokens are charged. Without a model, the summary costs 1 credit and is an extract:
        the first sentences of a text; of messages, the first request, the last two messages and the
        open questions.
        """
        return language_tasks.summarize(self.client, body)
