"""The forms for a bot's languages, sample questions, availability and instructions, and for
checking changes before they go live."""

from typing import Any

from django import forms
from django.conf.locale import LANG_INFO
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from bots.forms import BotForm, languages_of, zone_of
from bots.language import phrasebook
from bots.models import Prompt, SampleQuestion
from bots.schemas.prompt import PromptDto
from bots.schemas.widget import MAX_QUESTIONS, SampleQuestionDto, SampleQuestions
from bots.services import prompt_versions, welcome
from chatplatform.form_fields import TextsField, language_choices, language_name
from chatplatform.forms import Setting
from chatplatform.templatetags.dates import full_time
from identity.models import User

_VERSIONS_SHOWN = 20


class LanguagesForm(BotForm):
    heading = gettext_lazy("Languages")
    languages = forms.MultipleChoiceField(
        label=gettext_lazy("Bot languages"),
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text=gettext_lazy("Leave empty to answer in the customer's language."),
    )
    another = forms.ChoiceField(label=gettext_lazy("Add a language"), required=False)
    default_language = forms.ChoiceField(
        label=gettext_lazy("Default language"),
        help_text=gettext_lazy("Used when the customer's language is unknown."),
    )

    def stored(self) -> dict[str, Any]:
        bot = self.bot
        languages = bot.languages or bot.client.languages
        return {"languages": languages, "default_language": bot.default_language}

    def add_fields(self) -> None:
        bot = self.bot
        in_use = {*bot.languages, *bot.client.languages, bot.default_language}
        offered = sorted({*phrasebook.all_books(), *in_use}, key=language_name)
        all_codes = sorted(LANG_INFO, key=language_name)
        others = [code for code in all_codes if code not in offered and "-" not in code]
        self.offer("languages", language_choices(offered))
        self.offer("another", [("", "–"), *language_choices(others)])
        self.offer("default_language", language_choices([*offered, *others]))

    def submit(self, data: dict[str, Any], by: User) -> Any:
        languages = [*data["languages"], *filter(None, [data["another"]])]
        # A list of languages must include the default language.
        if languages and data["default_language"] not in languages:
            languages.append(data["default_language"])
        chosen = {"languages": languages, "default_language": data["default_language"]}
        return self.change(chosen, by)


class QuestionsForm(BotForm):
    heading = gettext_lazy("Sample questions")
    intro = gettext_lazy(
        "Shown when the chat opens, one per line. Leave empty to suggest questions from your"
        " content."
    )
    questions = TextsField(label=gettext_lazy("Questions"), max_length=8_000, lines=4)

    def stored(self) -> dict[str, Any]:
        lines: dict[str, list[str]] = {}
        for row in SampleQuestion.objects.filter(bot=self.bot).order_by("position", "pk"):
            lines.setdefault(row.language, []).append(row.question)
        return {"questions": {code: "\n".join(questions) for code, questions in lines.items()}}

    def submit(self, data: dict[str, Any], by: User) -> list[SampleQuestionDto]:
        questions = [
            SampleQuestionDto(question=line.strip(), language=code)
            for code, text in data["questions"].items()
            for line in text.splitlines()
            if line.strip()
        ]
        if len(questions) > MAX_QUESTIONS:
            message = gettext("Enter up to %(count)s questions.") % {"count": MAX_QUESTIONS}
            raise forms.ValidationError(message)
        return welcome.replace_questions(self.bot, body=SampleQuestions(questions=questions), by=by)


class AnsweringForm(BotForm):
    heading = gettext_lazy("Availability")
    settings = (
        Setting(
            "description", gettext_lazy("Description"),
            gettext_lazy("Only your team sees this."),
        ),
        Setting("agent_reply", gettext_lazy("Your team answers instead of the bot")),
        Setting(
            "mail_answers", gettext_lazy("Email your team's replies"),
            gettext_lazy("To customers who left an email address and have closed the page."),
        ),
        Setting("allow_preview", gettext_lazy("Your team can test the bot")),
        Setting("delete_available", gettext_lazy("The bot can be deleted")),
    )  # fmt: skip


class InstructionsForm(BotForm):
    heading = gettext_lazy("Instructions")
    intro = gettext_lazy(
        "How the bot should sound and the rules it should follow. Only used with a"
        " language model. Earlier versions are kept."
    )
    right = "train"
    schemas = (PromptDto,)
    settings = (
        Setting("content", gettext_lazy("Instructions"), lines=6),
        Setting("tone", gettext_lazy("Tone"), attrs={"placeholder": gettext_lazy("Friendly")}),
        Setting("language", gettext_lazy("Instructions language"), choices=()),
        Setting(
            "model", gettext_lazy("Model"), gettext_lazy("Leave empty to use the connected model."),
        ),
        Setting(
            "temperature", gettext_lazy("Temperature"),
            gettext_lazy(
                "From 0 (consistent wording) to 2 (most varied). Leave empty for the model's"
                " default."
            ),
        ),
    )  # fmt: skip

    def stored(self) -> dict[str, Any]:
        prompt = prompt_versions.find_current(self.bot.pk)
        return {item.name: getattr(prompt, item.name) for item in self.settings} if prompt else {}

    def add_fields(self) -> None:
        codes = languages_of(self.bot, filter(None, [self.initial.get("language")]))
        self.offer("language", [("", "–"), *language_choices(codes)])

    def submit(self, data: dict[str, Any], by: User) -> Prompt | None:
        if not self.has_changed():
            return prompt_versions.find_current(self.bot.pk)
        values = {name: None if value == "" else value for name, value in data.items()}
        return prompt_versions.create(self.bot, body=PromptDto(**values), by=by)

    def saved_message(self, result: Prompt) -> str:
        if result.is_current:
            return super().saved_message(result)
        return gettext("Saved. It goes live once your test questions have run.")


class VersionsForm(BotForm):
    heading = gettext_lazy("Earlier versions")
    button = gettext_lazy("Restore version")
    variant = "default"
    right = "train"
    version = forms.TypedChoiceField(label=gettext_lazy("Version"), coerce=int)

    def add_fields(self) -> None:
        rows = prompt_versions.list_for_bot(self.bot).select_related("created_by")
        # The latest versions except the current one, including held-back versions.
        self.earlier = list(rows.exclude(is_current=True).order_by("-version")[:_VERSIONS_SHOWN])
        self.offer("version", [(row.version, self._version_label(row)) for row in self.earlier])

    @property
    def is_needed(self) -> bool:
        return bool(self.earlier)

    def _version_label(self, row: Prompt) -> str:
        at = full_time(row.created_at.astimezone(zone_of(self.bot)))
        author = row.created_by.full_name if row.created_by else "–"
        text = gettext("Version %(number)s · %(at)s · %(who)s")
        return text % {"number": row.version, "at": at, "who": author}

    def submit(self, data: dict[str, Any], by: User) -> Prompt:
        return prompt_versions.restore(self.bot, version=data["version"], by=by)


class ReviewForm(BotForm):
    heading = gettext_lazy("Check changes before they go live")
    settings = (
        Setting(
            "hold_back_worse", heading,
            gettext_lazy(
                "Changes to content or instructions are checked against your test questions first."
                " If an answer gets worse, you decide whether to publish. Requires test questions."
            ),
        ),
    )  # fmt: skip
