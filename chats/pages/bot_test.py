"""The page on which a client's users test a bot: a preview that explains each answer."""

import uuid
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from bots.models import (
    Bot,
    Document,
    DocumentStatus,
    GoldenOutcome,
    GoldenQuestion,
    SampleQuestion,
)
from bots.pages.bot import base, states
from bots.schemas.golden import GoldenQuestionDto
from bots.services import bots, functions, golden_questions, publish_gate
from chatplatform.admin_base import TenantAdmin, viewer
from chatplatform.api.errors import ApiError
from chatplatform.api.outgoing_call_limits import calls_out
from chatplatform.templatetags.codes import humanize_code
from chats.models import NO_ANSWER, AssignType, Conversation, Message, SenderType
from chats.pages import transcripts, written_answers
from chats.pages.question_forms import AnswerForm, AskForm
from chats.schemas.bot_preview import GenerateChatRequest
from chats.schemas.reply_explanation import StoredReceipt
from chats.services.core import conversations, reply_policy
from chats.services.reply import incoming, preview_chats, reply_replay

# The maximum number of sample questions that a new test offers.
_MAX_SAMPLES = 5


@dataclass(frozen=True)
class Finding:
    """What the page shows about an answer, and the actions it offers."""

    receipt: StoredReceipt
    question: str
    source: str
    has_no_answer: bool
    golden: GoldenQuestion | None
    may_judge: bool
    # The written answer to the question, if it is newer than this reply.
    written: Document | None = None
    is_newest: bool = False
    form: AnswerForm | None = None
    # The document that corrects the answer, and what the bot answers today.
    correction: Any = None
    today: dict[str, Any] | None = None

    @property
    def is_now_golden(self) -> bool:
        """Whether the question's test expects the source of today's answer."""
        sources = {source.casefold() for source in (self.today or {}).get("sources", ())}
        expected = self.golden.expected_source.casefold() if self.golden else None
        return expected is not None and (not expected or expected in sources)

    @property
    def source_today(self) -> str:
        """The source that a test should expect of today's answer: the written answer, if it is
        among the sources."""
        sources: list[str] = list((self.today or {}).get("sources", ()))
        title = self.written.title if self.written else None
        return title if title in sources else next(iter(sources), "")

    @property
    def is_learned(self) -> bool:
        """Whether the bot can answer from the correction: it is trained and published."""
        document = self.correction
        return (
            document is not None
            and document.status == DocumentStatus.TRAINED
            and not document.pending_review
        )

    @property
    def is_open(self) -> bool:
        """Whether the form is open: it has an error, or this is the newest reply, the bot had no
        answer, and nobody has corrected or regenerated the reply."""
        if self.form is not None and self.form.errors:
            return True
        is_untouched = self.correction is None and self.today is None
        return self.is_newest and self.has_no_answer and is_untouched

    @property
    def will_change(self) -> bool:
        """Whether the correction's state will change by itself: no golden run holds it back."""
        return bool(self.correction.run_outcome != GoldenOutcome.HELD)

    @property
    def held_text(self) -> SafeString | str:
        """Whether a golden run holds the correction back or still tests it, as text with a link to
        the run; empty if there is no run."""
        return states.held_text(self.correction) if self.correction.run_id else ""


class BotTestPages(TenantAdmin):
    """Pages of the conversations' admin on which a bot is tested."""

    def test_paths(self) -> list[URLPattern]:
        """The paths of these pages."""
        test, answer = "try/<int:bot_id>/", "try/<int:bot_id>/<uuid:chat_id>/{}/<uuid:message_id>/"
        return [
            path(test, self.try_bot, name="chats_try_bot"),
            path(f"{test}<uuid:chat_id>/", self.try_bot, name="chats_tried_bot"),
            path(answer.format("good"), self.keep_answer, name="chats_keep_answer"),
            path(answer.format("fix"), self.fix_answer, name="chats_fix_answer"),
            path(answer.format("now"), self.answer_now, name="chats_answer_now"),
        ]

    def try_bot(
        self, request: HttpRequest, bot_id: int, chat_id: uuid.UUID | None = None
    ) -> HttpResponse:
        """The page of a preview: the bot's answers with their sources, and forms to correct
        them."""
        by = viewer(request)
        bot, chat = self._preview(request, bot_id, chat_id)

        def ask(data: dict[str, Any]) -> HttpResponse:
            lines = [{"role": "user", "content": data["question"]}]
            body = GenerateChatRequest.model_validate({"messages": lines})
            message = (
                preview_chats.continue_chat(chat, body)
                if chat
                else preview_chats.open_preview(by.client, bot_id, body, by=by)
            )
            return redirect("admin:chats_tried_bot", bot_id, message.conversation_id)

        form = AskForm(request.POST or None, initial={"question": request.GET.get("question", "")})
        done = form.carry_out(ask) if form.is_bound else None
        return done or self._show(request, bot, chat, form=form)

    def keep_answer(
        self, request: HttpRequest, bot_id: int, chat_id: uuid.UUID, message_id: uuid.UUID
    ) -> HttpResponse:
        """Add a correctly answered question as a golden question that expects the source of the
        answer that the person saw: the reply's, or today's. A question that was added before then
        expects this source."""
        bot, _, _, asked = self._answer(request, bot_id, chat_id, message_id)
        if request.method == "POST":
            body = GoldenQuestionDto(
                question=written_answers.one_line(asked.text),
                expected_source=request.POST.get("source", "")[:300] or None,
            )
            added = golden_questions.list_for_bot(bot).filter(question=body.question).first()
            by = viewer(request)
            try:
                if added:
                    golden_questions.update(bot, added.pk, body=body, by=by)
                else:
                    golden_questions.create(bot, body=body, by=by)
            except ApiError as exc:
                messages.error(request, gettext(str(exc)))
        return redirect("admin:chats_tried_bot", bot_id, chat_id)

    def fix_answer(
        self, request: HttpRequest, bot_id: int, chat_id: uuid.UUID, message_id: uuid.UUID
    ) -> HttpResponse:
        """Save the right answer. Once the bot has learned it, the page asks the bot again."""
        bot, chat, reply, asked = self._answer(request, bot_id, chat_id, message_id)
        url = reverse("admin:chats_tried_bot", args=[bot_id, chat_id])

        def act(data: dict[str, Any]) -> HttpResponse:
            document = written_answers.write(bot, data, asked=asked, by=viewer(request))
            written_answers.warn_about_conflicts(request, document)
            query = urlencode({"fixed": reply.pk, "document": document.pk})
            return redirect(f"{url}?{query}#answer-{reply.pk}")

        if request.method != "POST":
            return redirect(url)
        form = _form(bot, asked.text, reply.pk, request.POST)
        done = form.carry_out(act)
        return done or self._show(request, bot, chat, changes={reply.pk: {"form": form}})

    @calls_out
    def answer_now(
        self, request: HttpRequest, bot_id: int, chat_id: uuid.UUID, message_id: uuid.UUID
    ) -> HttpResponse:
        """Show what the bot would answer today next to an earlier answer. Charges the tokens of a
        model."""
        bot, chat, reply, _ = self._answer(request, bot_id, chat_id, message_id)
        if request.method != "POST":
            return redirect("admin:chats_tried_bot", bot_id, chat_id)
        try:
            new = reply_replay.regenerate(reply, reference=f"replay:{uuid.uuid4()}")
            today = {"text": new.text, "sources": new.sources, "is_answered": new.is_answered}
        except ApiError as exc:
            today = {"error": gettext(str(exc))}
        return self._show(request, bot, chat, changes={reply.pk: {"today": today}})

    def _preview(
        self, request: HttpRequest, bot_id: int, chat_id: uuid.UUID | None
    ) -> tuple[Bot, Any]:
        """The bot, and the preview with this id (None if there is no id); 403 for viewers and
        people without a client, 404 if there is no such bot or preview."""
        by = viewer(request)
        if not base.may_test(by):
            raise PermissionDenied
        bot = bots.get(by.client, bot_id)
        rows = Conversation.objects.for_client(by.client).filter(bot=bot, is_preview=True)
        previews = rows.filter(conversations.visible_to_user(by))
        return bot, get_object_or_404(previews, pk=chat_id) if chat_id else None

    def _answer(
        self, request: HttpRequest, bot_id: int, chat_id: uuid.UUID, message_id: uuid.UUID
    ) -> tuple[Bot, Any, Message, Message]:
        """The bot, its preview, an answer in the preview and its question; 403 without the right to
        teach the bot."""
        if not self.has_teach_permission(request):
            raise PermissionDenied
        bot, chat = self._preview(request, bot_id, chat_id)
        reply = reply_replay.get(chat, message_id)
        assert reply.in_reply_to
        return bot, chat, reply, reply.in_reply_to

    def _show(
        self,
        request: HttpRequest,
        bot: Bot,
        chat: Conversation | None,
        *,
        form: AskForm | None = None,
        changes: dict[uuid.UUID, dict[str, Any]] | None = None,
    ) -> HttpResponse:
        """The page. `changes` override fields of findings, by the answer's id."""
        context: dict[str, Any] = {"bot": bot, "chat": chat, "form": form or AskForm()}
        context["tabs"] = base.tabs(self, request, bot, "test")
        context["calls_functions"] = functions.usable(bot).exists()
        if chat:
            # Read before the messages: a page with an unanswered question has to load again.
            context |= _state(chat)
            lines = transcripts.part_of(chat).lines
            found = _findings(bot, lines, may_teach=self.has_teach_permission(request))
            for pk, new_values in (_correction(bot, request.GET) | (changes or {})).items():
                if pk in found:
                    found[pk] = replace(found[pk], **new_values)
            context["lines"] = [
                (line, found.get(line.row.pk) if line.row else None) for line in lines
            ]
        else:
            samples = SampleQuestion.objects.filter(bot=bot).order_by("position", "id")
            context["samples"] = samples[:_MAX_SAMPLES]
        title = f"{bot.bot_name} · {gettext('Test')}"
        return self.page(request, "admin/chats/try_bot.html", title, **context)


def _state(chat: Conversation) -> dict[str, Any]:
    """Whether a reply is coming, whether the bot may still answer, and why the chat was handed
    over."""
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
    """The finding about each reply to a question, by the reply's id."""
    rows = [line.row for line in lines if line.row is not None]
    texts = {row.pk: row.text for row in rows}
    questions = {written_answers.one_line(text) for text in texts.values()}
    rows_of_golden = GoldenQuestion.objects.filter(bot=bot, question__in=questions)
    golden = {row.question: row for row in rows_of_golden}
    answers = written_answers.existing_for(bot, questions)
    found = {}
    for row in rows:
        question = written_answers.one_line(texts.get(row.in_reply_to_id, ""))
        if row.receipt is None or not question:
            continue
        receipt = StoredReceipt.from_row(row)
        may_judge = may_teach and receipt.decision in reply_replay.ENGINE_DECISIONS
        found[row.pk] = Finding(
            receipt=receipt,
            question=question,
            source=row.citations[0]["title"] if row.citations else "",
            has_no_answer=receipt.decision in NO_ANSWER,
            golden=golden.get(question),
            written=_newer(answers.get(question.casefold()), row),
            may_judge=may_judge,
            form=_form(bot, question, row.pk) if may_judge else None,
        )
    if found and rows[-1].sender_type != SenderType.CUSTOMER:
        newest = next(reversed(found))
        found[newest] = replace(found[newest], is_newest=True)
    return found


def _newer(written: Document | None, reply: Message) -> Document | None:
    """The written answer, if the reply neither says it nor rests on it as it is now."""
    if written is None or written.content in reply.text:
        return None
    is_cited = written.title in {citation["title"] for citation in reply.citations}
    return None if is_cited and written.updated_at <= reply.created_at else written


def _form(bot: Bot, question: str, pk: uuid.UUID, data: Any = None) -> AnswerForm:
    """The form for the right answer, without `autofocus`: the next question's field has it."""
    form = AnswerForm(data, initial=written_answers.initial(bot, question), prefix=str(pk))
    del form.fields["answer"].widget.attrs["autofocus"]
    return form


def _correction(bot: Bot, query: Any) -> dict[uuid.UUID, dict[str, Any]]:
    """The document that corrects an answer, by the answer's id; empty unless the query string
    contains both ids."""
    try:
        fixed, pk = uuid.UUID(query.get("fixed", "")), int(query.get("document", ""))
    except ValueError:
        return {}
    rows = publish_gate.with_run(Document.objects.filter(bot=bot), document="pk")
    return {fixed: {"correction": rows.filter(pk=pk).first()}}
