"""The forms that decide in which languages and how a bot answers, and what it asks for."""

from typing import Any

from django import forms
from django.conf import settings
from django.conf.locale import LANG_INFO
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from bots.forms import BotForm, language_name, languages_of, zone_of
from bots.models import Prompt, SampleQuestion
from bots.pages.bot.look_forms import BotSettingsForm
from bots.services import bots, prompt_versions, welcome
from bots.shapes.bot import BotDto
from bots.shapes.train import PromptDto
from bots.shapes.widget import MAX_QUESTIONS, SampleQuestionDto, SampleQuestions
from identity.models import User

_VERSIONS_SHOWN = 20


class LanguagesForm(BotForm):
    heading = gettext_lazy("Languages")
    languages = forms.MultipleChoiceField(
        label=gettext_lazy("Languages of the bot"),
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text=gettext_lazy("Leave empty to answer in whatever language the customer writes."),
    )
    another = forms.ChoiceField(label=gettext_lazy("Another language"), required=False)
    default_language = forms.ChoiceField(
        label=gettext_lazy("Default language"),
        help_text=gettext_lazy("Used if a customer's language is unknown."),
    )

    def stored(self) -> dict[str, Any]:
        return {"languages": self.bot.languages, "default_language": self.bot.default_language}

    def add_fields(self) -> None:
        bot = self.bot
        near = [*bot.languages, *bot.client.languages, *dict(settings.LANGUAGES)]
        offered = list(dict.fromkeys([*near, bot.default_language]))
        everywhere = sorted(LANG_INFO, key=language_name)
        others = [code for code in everywhere if code not in offered and "-" not in code]
        self.offer("languages", _named(offered))
        self.offer("another", [("", "–"), *_named(others)])
        self.offer("default_language", _named([*offered, *others]))

    def submit(self, data: dict[str, Any], by: User) -> BotDto:
        languages = [*data["languages"], *filter(None, [data["another"]])]
        # Whoever chooses a default language wants it to be one of the bot's.
        if languages and data["default_language"] not in languages:
            languages.append(data["default_language"])
        body = BotDto(languages=languages, default_language=data["default_language"])
        return bots.update(self.bot, body=body, by=by)


def _named(codes: list[str]) -> list[tuple[Any, str]]:
    return [(code, language_name(code)) for code in codes]


class QuestionsForm(BotForm):
    heading = gettext_lazy("Sample questions")
    intro = gettext_lazy(
        "Questions offered when the chat opens, one per line. Leave empty to offer questions that"
        " the content answers."
    )

    def add_fields(self) -> None:
        rows = SampleQuestion.objects.filter(bot=self.bot).order_by("position", "pk")
        texts: dict[str, str] = {}
        for language, question in rows.values_list("language", "question"):
            texts[language] = f"{texts[language]}\n{question}" if language in texts else question
        self.add_texts("questions", gettext_lazy("Questions"), texts, most=8_000, rows=4)

    def submit(self, data: dict[str, Any], by: User) -> list[SampleQuestionDto]:
        questions = [
            SampleQuestionDto(question=line.strip(), language=code)
            for code, text in self.texts(data, "questions").items()
            for line in text.splitlines()
            if line.strip()
        ]
        if len(questions) > MAX_QUESTIONS:
            words = gettext("At most %(count)s questions.") % {"count": MAX_QUESTIONS}
            raise forms.ValidationError(words)
        return welcome.replace_questions(self.bot, body=SampleQuestions(questions=questions), by=by)


class AnsweringForm(BotSettingsForm):
    heading = gettext_lazy("Who answers")
    description = forms.CharField(
        label=gettext_lazy("What the bot is for"),
        max_length=500,
        required=False,
        help_text=gettext_lazy("A note for your team."),
    )
    agent_reply = forms.BooleanField(
        label=gettext_lazy("Your team answers instead of the bot"), required=False
    )
    allow_preview = forms.BooleanField(
        label=gettext_lazy("Your team can test the bot"), required=False
    )
    delete_available = forms.BooleanField(
        label=gettext_lazy("The bot can be deleted"), required=False
    )


class InstructionsForm(BotForm):
    heading = gettext_lazy("Instructions")
    intro = gettext_lazy(
        "How the bot speaks and what it keeps to, for a language model. Earlier versions are kept."
    )
    right = "train"
    content = forms.CharField(
        label=gettext_lazy("Instructions"),
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 6}),
    )
    tone = forms.CharField(
        label=gettext_lazy("Tone"),
        max_length=50,
        required=False,
        widget=forms.TextInput(attrs={"placeholder": gettext_lazy("Friendly")}),
    )
    language = forms.ChoiceField(label=gettext_lazy("Written in"), required=False)
    model = forms.CharField(
        label=gettext_lazy("Model"),
        max_length=100,
        required=False,
        help_text=gettext_lazy("Leave empty to use the connected model."),
    )
    temperature = forms.FloatField(
        label=gettext_lazy("Temperature"),
        min_value=0,
        max_value=2,
        required=False,
        help_text=gettext_lazy(
            "From 0 (always the same words) to 2. Leave empty for the model's default."
        ),
    )

    def stored(self) -> dict[str, Any]:
        prompt = prompt_versions.find_current(self.bot.pk)
        if prompt is None:
            return {}
        return {name: getattr(prompt, name) for name in self.base_fields}

    def add_fields(self) -> None:
        codes = languages_of(self.bot, filter(None, [self.initial.get("language")]))
        self.offer("language", [("", "–"), *_named(codes)])

    def submit(self, data: dict[str, Any], by: User) -> Prompt | None:
        if not self.has_changed():
            return prompt_versions.find_current(self.bot.pk)
        values = {name: None if value == "" else value for name, value in data.items()}
        return prompt_versions.create(self.bot, body=PromptDto(**values), by=by)

    def told(self, result: Prompt) -> str:
        if result.is_current:
            return super().told(result)
        return gettext("Saved. It goes live once the golden questions have been asked with it.")


class VersionsForm(BotForm):
    heading = gettext_lazy("Earlier versions")
    button = gettext_lazy("Restore version")
    right = "train"
    version = forms.TypedChoiceField(label=gettext_lazy("Version"), coerce=int)

    def add_fields(self) -> None:
        rows = prompt_versions.list_for_bot(self.bot).select_related("created_by")
        # A version that is held back is no earlier one, but its golden run decides about it.
        self.earlier = list(rows.exclude(is_current=True).order_by("-version")[:_VERSIONS_SHOWN])
        self.offer("version", [(row.version, self._words(row)) for row in self.earlier])

    @property
    def is_needed(self) -> bool:
        return bool(self.earlier)

    def _words(self, row: Prompt) -> str:
        at = date_format(row.created_at.astimezone(zone_of(self.bot)), "j M Y H:i")
        who = row.created_by.full_name if row.created_by else "–"
        return gettext("Version %(number)s · %(at)s · %(who)s") % {
            "number": row.version, "at": at, "who": who,
        }  # fmt: skip

    def submit(self, data: dict[str, Any], by: User) -> Prompt:
        return prompt_versions.restore(self.bot, version=data["version"], by=by)


class ReviewForm(BotSettingsForm):
    heading = gettext_lazy("Check changes before they go live")
    hold_back_worse = forms.BooleanField(
        label=gettext_lazy("Check changes before they go live"),
        required=False,
        help_text=gettext_lazy(
            "New content and, with a language model, new instructions wait until the golden"
            " questions have been asked with them. If one fails that passed before, you decide."
            " Without golden questions this changes nothing."
        ),
    )
