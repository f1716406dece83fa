"""The schemas of the platform's own messages to customers."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self, get_args

from django.utils.translation import gettext
from pydantic import Field, model_validator

from chatplatform.api.schemas import Language, Schema, Text, example, read_only

MAX_TEXT = 2_000
MessageName = Literal[
    "greeting", "thanks", "goodbye", "about_bot", "person_possible", "unknown",
    "nearest", "person_button", "part_unknown", "found", "found_foreign", "handover",
    "handover_no_answer", "closed", "no_person", "approval_needed", "confirm", "done", "declined",
    "call_failed", "agent_declined", "before_person", "ask_info", "info_noted", "info_declined",
    "not_email", "not_phone", "not_number", "not_date", "not_option", "survey_question",
    "survey_note", "survey_button",
]  # fmt: skip
NAMES: tuple[MessageName, ...] = get_args(MessageName)
# When customers get each sentence.
MESSAGE_OCCASIONS: Mapping[MessageName, str] = {
    "greeting": "In reply to a greeting, if the bot has no welcome message or has already sent it.",
    "thanks": "In reply to thanks.",
    "goodbye": "In reply to a goodbye.",
    "about_bot": "If the customer asks what the bot is; `{company}` is your company's name.",
    "person_possible": "After `about_bot` or `unknown`, if `handoff_on_request` is on.",
    "unknown": "If the bot has no answer, and asks the customer to rephrase or"
    " `handoff_on_no_answer` is off.",
    "nearest": "After `unknown`, above headings of your documents.",
    "person_button": "The button below `unknown` with which the customer asks for a person: at most"
    " 200 characters.",
    "part_unknown": "In an answer to several questions, for one without an answer: `{question}`.",
    "found": "Above a quotation in which a model found no answer.",
    "found_foreign": "Above a quotation in a language other than the customer's.",
    "handover": "If a person will answer. The same texts as the config's `handoff_message`.",
    "handover_no_answer": "If a person will answer because the bot has no answer; by default your"
    " `handover`.",
    "closed": "Instead of `handover` outside business hours; if you have a text of your own, also"
    " to customers who wait for an agent. The same texts as the config's `out_of_hours_message`.",
    "no_person": "If the customer asks for a person, and `handoff_on_request` is off.",
    "approval_needed": "If an agent must approve a function call.",
    "confirm": "If the customer must confirm a function call; `{action}` says which.",
    "done": "After an agent approved a function call and it was made.",
    "declined": "After the customer declined a function call.",
    "call_failed": "Before a procedure hands over because a function call failed.",
    "agent_declined": "After an agent declined a function call.",
    "before_person": "Above the first question for a field with `ask_before_person`.",
    "ask_info": "To ask for a customer-info field; `{label}` is the field's label.",
    "info_noted": "After the customer gave the value of a customer-info field.",
    "info_declined": "If the customer declines to give the value, or gives a wrong one twice.",
    "not_email": "If the value is not an email address; the bot asks once more.",
    "not_phone": "If the value is not a telephone number; the bot asks once more.",
    "not_number": "If the value is not a number; the bot asks once more.",
    "not_date": "If the value is not a date; the bot asks once more.",
    "not_option": "If the value is not one of the options; the bot asks once more.",
    "survey_question": "The title of a survey after a chat: at most 65 characters, no URL.",
    "survey_note": "Below the title of the survey: at most 80 characters, no URL.",
    "survey_button": "The button of the survey: at most 20 characters, no URL.",
}
# The channels' limits, in characters.
_MAX_CHARS: Mapping[str, int] = {
    "survey_question": 65, "survey_note": 80, "survey_button": 20, "person_button": 200
}  # fmt: skip
# The placeholder that each of these sentences must contain.
_PLACEHOLDERS: Mapping[str, str] = {
    "confirm": "{action}", "ask_info": "{label}", "about_bot": "{company}",
    "part_unknown": "{question}",
}  # fmt: skip
_URL = re.compile(r"https?://|www\.", re.IGNORECASE)

OwnTexts = dict[Language, Annotated[Text, Field(max_length=MAX_TEXT)]]


class PlatformWord(Schema):
    """One sentence of the platform in all languages."""

    name: MessageName = Field(
        description="The sentence's name, such as `greeting`; *Get Platform Words* says when each"
        " is sent (`said_when`)."
    )
    said_when: str = read_only("When customers get this sentence, in English.")
    default: dict[str, str] = read_only("The platform's text, by language.")
    own: OwnTexts = Field(
        default_factory=dict,
        max_length=50,
        description=f"Your text by language, at most {MAX_TEXT:,} characters each. Lower limits and"
        " no URLs: `person_button` (200), `survey_question` (65), `survey_note` (80) and"
        " `survey_button` (20). If a language has no text of yours, customers get the platform's"
        " text or, if there is none, the text in the bot's default language. Required placeholders:"
        " `{action}` in `confirm`, `{label}` in `ask_info`, `{company}` in `about_bot`,"
        " `{question}` in `part_unknown`.",
    )

    @model_validator(mode="after")
    def _check_texts(self) -> Self:
        limit = _MAX_CHARS.get(self.name, MAX_TEXT)
        for language, text in self.own.items():
            if len(text) > limit:
                message = gettext("%(field)s must have at most %(limit)s characters")
                raise ValueError(message % {"field": f"own.{language}", "limit": limit})
            if self.name in _MAX_CHARS and _URL.search(text):
                message = gettext("%(field)s must not contain a URL")
                raise ValueError(message % {"field": f"own.{language}"})
            placeholder = _PLACEHOLDERS.get(self.name)
            if placeholder and text.strip() and placeholder not in text:
                message = gettext("%(field)s must contain %(placeholder)s")
                raise ValueError(message % {"field": f"own.{language}", "placeholder": placeholder})
        return self


class PlatformWords(Schema):
    """The platform's own messages to customers."""

    model_config = example(words=[{"name": "greeting", "own": {"de": "Moin! Was darf es sein?"}}])

    words: list[PlatformWord] = Field(
        max_length=len(NAMES),
        description="The sentences, each at most once.",
    )

    @model_validator(mode="after")
    def _check_names_unique(self) -> Self:
        names = [word.name for word in self.words]
        if len({*names}) < len(names):
            raise ValueError("words must not contain a name twice")
        return self
