"""The page on which a client's people test a bot: a preview, with the reason of each answer."""

import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext

from bots.models import Bot, Document, DocumentStatus, GoldenQuestion, SampleQuestion
from bots.pages.bot import steps
from bots.services import bots, golden_questions
from bots.shapes.golden import GoldenQuestionDto
from chatplatform.admin_base import TenantAdmin, viewer
from chatplatform.api.errors import ApiError
from chatplatform.api.outgoing_call_limits import calls_out
from chatplatform.templatetags.codes import humanize_code
from chats.forms import AnswerForm, AskForm
from chats.models import NO_ANSWER, AssignType, Conversation, Message, SenderType
from chats.pages import answers, transcripts
from chats.services.core import reply_policy
from chats.services.data_exchange import bot_previews
from chats.services.reply import incoming, reply_replay
from chats.shapes.bot_preview import GenerateChatRequest
from chats.shapes.reply_explanation import StoredReceipt

# Sample questions that an empty test offers, and the digits of a document's number.
_SAMPLES, _DIGITS = 5, 18


@dataclass
class Finding:
    """What the page says about an answer and offers to do with it."""

    receipt: StoredReceipt
    question: str
    source: str
    has_no_answer: bool
    is_golden: bool
    may_judge: bool
    form: AnswerForm | None = None
    # The document that corrects the answer, and what the bot says now.
    correction: Document | None = None
    is_learned: bool = False
    today: dict[str, Any] | None = None


class BotTestPages(TenantAdmin):
    """Pages of the conversations' admin on which a bot is tested."""

    def test_paths(self) -> list[URLPattern]:
        """The paths of these pages."""
        return [
            path("try/<int:bot_id>/", self.try_bot, name="chats_try_bot"),
            path("try/<int:bot_id>/<uuid:chat_id>/", self.try_bot, name="chats_tried_bot"),
            path(
                "try/<int:bot_id>/<uuid:chat_id>/good/<uuid:message_id>/",
                self.keep_answer,
                name="chats_keep_answer",
            ),
            path(
                "try/<int:bot_id>/<uuid:chat_id>/now/<uuid:message_id>/",
                self.answer_now,
                name="chats_answer_now",
            ),
        ]

    def try_bot(
        self, request: HttpRequest, bot_id: int, chat_id: uuid.UUID | None = None
    ) -> HttpResponse:
        """A preview with a bot: its answers, what each rests on, and forms to correct them."""
        bot, chat = self._preview(request, bot_id, chat_id)
        by = viewer(request)

        def ask(data: dict[str, Any]) -> HttpResponse:
            lines = [{"role": "user", "content": data["question"]}]
            body = GenerateChatRequest.model_validate({"messages": lines})
            message = (
                bot_previews.continue_chat(chat, body)
                if chat
                else bot_previews.open_preview(by.client, bot_id, body, by=by)
            )
            return redirect("admin:chats_tried_bot", bot_id, message.conversation_id)

        fixes = request.POST.get("fix", "")
        if fixes and chat:
            return self._fix(request, bot, chat, fixes)
        form = AskForm(request.POST or None, initial={"question": request.GET.get("question", "")})
        done = form.carry_out(ask) if form.is_bound else None
        return done or self._show(request, bot, chat, form=form)

    def keep_answer(
        self, request: HttpRequest, bot_id: int, chat_id: uuid.UUID, message_id: uuid.UUID
    ) -> HttpResponse:
        """Make a right answer's question a golden question that expects the same source."""
        bot, chat = self._preview(request, bot_id, chat_id)
        if not self.has_teach_permission(request):
            raise PermissionDenied
        reply = reply_replay.get(chat, message_id)
        if request.method == "POST" and reply.in_reply_to:
            sources = [item["title"][:300] for item in reply.citations]
            body = GoldenQuestionDto(
                question=answers.one_line(reply.in_reply_to.text),
                expected_source=sources[0] if sources else None,
            )
            try:
                golden_questions.create(bot, body=body, by=viewer(request))
            except ApiError as exc:
                messages.error(request, gettext(str(exc)))
        return redirect("admin:chats_tried_bot", bot_id, chat_id)

    @calls_out
    def answer_now(
        self, request: HttpRequest, bot_id: int, chat_id: uuid.UUID, message_id: uuid.UUID
    ) -> HttpResponse:
        """What the bot says today instead of an answer. A model's tokens are charged."""
        bot, chat = self._preview(request, bot_id, chat_id)
        if not self.has_teach_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return redirect("admin:chats_tried_bot", bot_id, chat_id)
        reply = reply_replay.get(chat, message_id)
        try:
            made = reply_replay.made_again(reply, reference=f"replay:{uuid.uuid4()}")
            today = {"text": made.text, "sources": made.sources, "is_answered": made.is_answered}
        except ApiError as exc:
            today = {"error": gettext(str(exc))}
        return self._show(request, bot, chat, form=AskForm(), today={reply.pk: today})

    def has_try_permission(self, request: HttpRequest) -> bool:
        """Everybody except viewers may try a bot."""
        return bool(viewer(request).role != "viewer")

    def _preview(
        self, request: HttpRequest, bot_id: int, chat_id: uuid.UUID | None
    ) -> tuple[Bot, Any]:
        """The bot and its preview; 403 or 404 for who may not see them."""
        by = viewer(request)
        if by.client is None or not self.has_try_permission(request):
            raise PermissionDenied
        bot = bots.get(by.client, bot_id)
        previews = Conversation.objects.for_client(by.client).filter(bot=bot, is_preview=True)
        return bot, get_object_or_404(previews, pk=chat_id) if chat_id else None

    def _fix(
        self, request: HttpRequest, bot: Bot, chat: Conversation, message_id: str
    ) -> HttpResponse:
        """Save the right answer; the page then asks again as soon as the bot has learned it."""
        if not self.has_teach_permission(request):
            raise PermissionDenied
        reply = reply_replay.get(chat, _uuid(message_id) or uuid.UUID(int=0))
        form = AnswerForm(request.POST, prefix=str(reply.pk))

        def act(data: dict[str, Any]) -> HttpResponse:
            asked = reply.in_reply_to or reply
            document = answers.write(bot, data, asked=asked, by=viewer(request))
            place = reverse("admin:chats_tried_bot", args=[bot.pk, chat.pk])
            query = urlencode({"fixed": reply.pk, "document": document.pk})
            return redirect(f"{place}?{query}#answer-{reply.pk}")

        done = form.carry_out(act)
        return done or self._show(request, bot, chat, form=AskForm(), refused={reply.pk: form})

    def _show(
        self,
        request: HttpRequest,
        bot: Bot,
        chat: Conversation | None,
        *,
        form: AskForm,
        refused: dict[Any, AnswerForm] | None = None,
        today: dict[Any, Any] | None = None,
    ) -> HttpResponse:
        context: dict[str, Any] = {"bot": bot, "chat": chat, "form": form}
        context["tabs"] = steps.tabs(self, request, bot, "test")
        if chat:
            may_teach = self.has_teach_permission(request)
            lines = transcripts.part_of(chat).lines
            found = _findings(bot, lines, may_teach=may_teach)
            for pk, finding in found.items():
                finding.form = (refused or {}).get(pk, finding.form)
                finding.today = (today or {}).get(pk)
            fixed, document = _correction(bot, request.GET)
            if document and fixed in found:
                found[fixed].correction = document
                found[fixed].is_learned = is_learned(document)
            context |= _state(chat) | {
                "lines": [(line, found.get(line.row.pk) if line.row else None) for line in lines]
            }
        else:
            samples = SampleQuestion.objects.filter(bot=bot).order_by("position", "id")
            context["samples"] = samples[:_SAMPLES]
        title = f"{bot.bot_name} · {gettext('Test')}"
        return self.page(request, "admin/chats/try_bot.html", title, **context)


def _state(chat: Conversation) -> dict[str, Any]:
    """Whether an answer is still being made, and whether the bot answers any more."""
    last = Message.objects.filter(conversation=chat).order_by("-seq").first()
    asked = last if last and last.sender_type == SenderType.CUSTOMER else None
    return {
        "is_busy": asked is not None and incoming.outcome(asked)["status"] == "pending",
        "may_ask": reply_policy.bot_may_reply(chat) is not None,
        "handed_over": chat.assign_type != AssignType.BOT and humanize_code(chat.handoff_reason),
    }


def _findings(
    bot: Bot, lines: list[transcripts.Line], *, may_teach: bool
) -> dict[uuid.UUID, Finding]:
    """What the page says about each answer to a question."""
    rows = [line.row for line in lines if line.row is not None]
    texts = {row.pk: row.text for row in rows}
    asked = {answers.one_line(text) for text in texts.values()}
    golden = GoldenQuestion.objects.filter(bot=bot, question__in=asked)
    kept = set(golden.values_list("question", flat=True))
    found = {}
    for row in rows:
        question = answers.one_line(texts.get(row.in_reply_to_id, ""))
        if row.receipt is None or not question:
            continue
        receipt = StoredReceipt.from_row(row)
        may_judge = may_teach and receipt.decision in reply_replay.ASKED_ENGINE
        found[row.pk] = Finding(
            receipt=receipt,
            question=question,
            source=row.citations[0]["title"] if row.citations else "",
            has_no_answer=receipt.decision in NO_ANSWER,
            is_golden=question in kept,
            may_judge=may_judge,
            form=AnswerForm(initial=answers.initial(bot, question), prefix=str(row.pk))
            if may_judge
            else None,
        )
    return found


def _correction(bot: Bot, query: Any) -> tuple[uuid.UUID | None, Document | None]:
    """The answer that was just corrected, and the document that says it right."""
    pk, fixed = query.get("document", ""), _uuid(query.get("fixed", ""))
    if not pk.isdecimal() or len(pk) > _DIGITS:
        return fixed, None
    return fixed, Document.objects.filter(bot=bot, pk=pk).first()


def _uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def is_learned(document: Document) -> bool:
    """Whether the bot answers from the document now."""
    return document.status == DocumentStatus.TRAINED and not document.pending_review
