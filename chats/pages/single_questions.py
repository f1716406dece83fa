"""The site's pages for ungrouped unanswered questions: the list, and the form for an answer."""

import uuid
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext

from chatplatform import navigation
from chatplatform.admin_base import TenantAdmin, viewer
from chats.models import Message
from chats.pages import written_answers
from chats.pages.question_forms import AnswerForm
from chats.services.insight import question_groups


class SingleQuestionPages(TenantAdmin):
    """Pages of the conversations' admin about single unanswered questions."""

    def question_paths(self) -> list[URLPattern]:
        """The paths of these pages."""
        return [
            path("unanswered/", self.unanswered, name="chats_unanswered"),
            path("unanswered/<uuid:message_id>/", self.answer, name="chats_answer"),
        ]

    def unanswered(self, request: HttpRequest) -> HttpResponse:
        """The single unanswered questions, newest first."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        rows = question_groups.replies_without_answer(self._messages(request)).order_by("-id")
        with suppress(ValueError):
            rows = rows.filter(pk__lt=uuid.UUID(request.GET.get("before", "")))
        rows = rows.select_related("in_reply_to", "conversation__bot", "conversation__customer")
        found = list(rows[: self.list_per_page + 1])
        return self.page(
            request, "admin/chats/unanswered.html", gettext("Unanswered questions"),
            found=found[: self.list_per_page],
            older=found[self.list_per_page - 1].pk if len(found) > self.list_per_page else None,
            may_answer=self.has_train_permission(request),
        )  # fmt: skip

    def answer(self, request: HttpRequest, message_id: uuid.UUID) -> HttpResponse:
        """The form for the right answer to a question. Saving it redirects the client's people to
        the bot's test page, platform staff to the list."""
        if not self.has_train_permission(request):
            raise PermissionDenied
        rows = self._messages(request).filter(receipt__isnull=False)
        rows = rows.select_related("conversation__bot", "in_reply_to")
        message: Message = get_object_or_404(rows, pk=message_id)
        bot, asked = message.conversation.bot, message.question
        if asked is None:
            raise Http404

        def act(data: dict[str, Any]) -> HttpResponse:
            document = written_answers.write(bot, data, asked=asked, by=viewer(request))
            messages.success(request, gettext("Saved. Ask the bot again in a moment."))
            written_answers.warn_about_conflicts(request, document)
            if viewer(request).client_id != bot.client_id:
                return redirect("admin:chats_unanswered")
            query = urlencode({"question": data["question"]})
            return redirect(f"{reverse('admin:chats_try_bot', args=[bot.pk])}?{query}")

        initial = written_answers.initial(bot, asked.text)
        is_known = "edits" in initial
        return self.form_page(
            request, AnswerForm(request.POST or None, initial=initial), act,
            title=gettext("Fix answer") if is_known else gettext("Write answer"),
            button=gettext("Save answer"),
            intro=gettext("There's already an answer to this question. Edit it here.")
            if is_known else "",
        )  # fmt: skip

    def _messages(self, request: HttpRequest) -> QuerySet[Message]:
        """The messages that the person may see: those of their client. Platform staff see those of
        the chosen client or, if none is chosen, of all clients."""
        by = viewer(request)
        if by.is_superuser:
            chosen = navigation.chosen_client(request)
            return Message.objects.filter(client_id=chosen) if chosen else Message.objects.all()
        return Message.objects.for_client(by.client)
