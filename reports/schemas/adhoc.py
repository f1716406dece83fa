"""The schemas of ad-hoc reports: parameters, result tables, exports and filter options."""

import uuid
from datetime import date
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, model_validator

from chatplatform.api.schemas import MAX_ID, Moment, Schema, Text, Uri, example
from identity.schemas.fields import TimeZone

Grouping = Literal[
    "day", "week", "month", "hour", "weekday", "bot", "channel", "agent", "tag", "sentiment",
    "language", "country", "handoff_reason", "price_category",
]  # fmt: skip
Metric = Literal[
    "chats", "messages", "customers", "bot_resolved", "handed_off", "ended", "open",
    "first_response_p50", "first_response_p90", "first_response_mean", "resolution_p50",
    "resolution_p90", "resolution_mean", "rating_mean", "rating_count", "sentiment_positive",
    "sentiment_neutral", "sentiment_negative", "credits_used", "charged_messages", "message_cost",
]  # fmt: skip
METRICS: tuple[Metric, ...] = get_args(Metric)
# The site's page also has metrics that the API does not offer.
PageMetric = Literal[
    Metric, "bot_resolved_share", "person_response_p50", "person_response_p90",
    "person_response_mean",
]  # fmt: skip
PAGE_METRICS: tuple[PageMetric, ...] = get_args(PageMetric)
DEFAULT_METRICS: tuple[Metric, ...] = ("chats", "messages")
# Reports with a row for each conversation can only be sorted by the conversation's creation time.
ROW_SORTS = ("-created_at", "created_at")
_FIRST_DAY, _LAST_DAY = date(2000, 1, 1), date(2100, 12, 31)

Day = Annotated[date, Field(ge=_FIRST_DAY, le=_LAST_DAY)]
_Word = Annotated[Text, Field(max_length=60)]
_Number = Annotated[int, Field(ge=1, le=MAX_ID)]


def _any_of(what: str) -> Any:
    return Field(default_factory=list, max_length=100, description=f"{what}; empty: all.")


class PeriodQuery(Schema):
    """A period of whole days."""

    date_from: Day | None = Field(
        None, description="The first day, such as 2026-11-01; if left out, 29 days before the last."
    )
    date_to: Day | None = Field(None, description="The last day; if left out, today.")
    timezone: TimeZone | None = Field(
        None,
        description="The IANA time zone of the days, such as `Europe/Berlin`; if left out, your"
        " company's.",
    )

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if self.date_from and self.date_to and self.date_from > self.date_to:
            raise ValueError("date_from must not be after date_to")
        return self


class AdhocQuestion(PeriodQuery):
    """Which conversations a report covers, and what it shows."""

    model_config = example(
        date_from="2026-11-01", date_to="2026-11-30", timezone="Europe/Berlin",
        group_by=["day", "channel"], metrics=["chats", "bot_resolved"],
    )  # fmt: skip

    bot_ids: list[_Number] = _any_of("Only conversations of these bots")
    channels: list[_Word] = _any_of(
        "Only conversations on these channels: `web`, `api` or a messaging channel, such as"
        " `chatapp`"
    )
    statuses: list[Literal["open", "snoozed", "ended"]] = _any_of(
        "Only conversations with these statuses"
    )
    assignee_ids: list[_Number] = _any_of(
        "Only conversations that these agents have or, if ended, had at the end"
    )
    tags: list[_Word] = _any_of("Only conversations with one of these tags")
    sentiments: list[Literal["positive", "neutral", "negative"]] = _any_of(
        "Only conversations with these sentiments"
    )
    languages: list[_Word] = _any_of("Only conversations in these languages, as BCP 47 codes")
    ended_by: list[_Word] = _any_of(
        "Only conversations ended by one of these: `customer`, `agent`, `bot`, `inactivity`,"
        " `api` or `merged`"
    )
    countries: list[_Word] = _any_of(
        "Only conversations of customers in these countries, as"
        " `GET /report/adhoc/filter-options` lists them"
    )
    handed_off: bool | None = Field(
        None,
        description="true: only conversations that were ever handed over; false: only the others.",
    )
    bot_resolved: bool | None = Field(
        None,
        description="true: only conversations that ended without a handover and without an answer"
        " from a person; false: only the others.",
    )
    has_feedback: bool | None = Field(
        None,
        description="true: only conversations rated by their customer; false: only the others.",
    )
    rating_min: int | None = Field(
        None, ge=1, le=5, description="Only conversations rated with at least this many stars."
    )
    rating_max: int | None = Field(
        None, ge=1, le=5, description="Only conversations rated with at most this many stars."
    )
    q: Text | None = Field(
        None, min_length=1, max_length=200,
        description="Only conversations with all of these words in one message, with this text in"
        " the customer's name, email address, phone number or external id, or whose code begins"
        " with it.",
    )  # fmt: skip
    group_by: list[Grouping] = Field(
        default_factory=list,
        max_length=3,
        description="What the report groups by: it has a row for each combination of values."
        " `week` is its Monday, `month` its first day, `hour` 0..23, `weekday` 1 for Monday to 7"
        " for Sunday (business hours count from 0). A conversation with several tags counts for"
        " each tag, and one with messages of several price categories (in which a messaging"
        " provider charges for messages) for each of these. Empty: a row for each conversation.",
    )
    metrics: list[Metric] = Field(
        default_factory=lambda: list(DEFAULT_METRICS),
        min_length=1,
        max_length=len(METRICS),
        description="The figures of each group and of the totals; without groups, only of the"
        " totals; if left out, `chats` and `messages`. `chats`: conversations. `messages`: messages"
        " of customers, bots and agents, without notes, welcomes and automatic messages."
        " `customers`: different customers. `bot_resolved`: conversations that ended without a"
        " handover and without an answer from a person. `handed_off`: conversations that were"
        " ever handed over. `ended`, `open`: conversations that have ended by now, and the"
        " others. `first_response_…`: seconds from the start to the first answer, by the bot"
        " or a person; `resolution_…`: seconds from the start to the end, of ended"
        " conversations; each as median (`p50`), 90th percentile (`p90`) and `mean`."
        " `rating_mean` (in stars), `rating_count`: the customers' ratings of whole"
        " conversations. `sentiment_…`: conversations with this sentiment. `credits_used`:"
        " credits charged for the bot's replies. `charged_messages`: messages that a messaging"
        " provider charges for. `message_cost`: what these cost by your `message_prices` at"
        " that time, in the currency of your account at the provider; null without prices.",
    )
    sort: Text | None = Field(
        None,
        max_length=60,
        description="The column to sort groups by, with `-` in front for largest first; if left"
        " out, they are in the order of their values. Without groups: `-created_at` (the default)"
        " or `created_at`.",
    )

    @model_validator(mode="after")
    def _has_known_names(self) -> Self:
        for name in ("group_by", "metrics"):
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                raise ValueError(f"{name} must not contain a name twice")
        known = self.sorts
        if self.sort is not None and self.sort not in known:
            raise ValueError(f"sort must be one of {', '.join(known)}")
        return self

    @property
    def sorts(self) -> tuple[str, ...]:
        """The allowed values of `sort`."""
        if not self.group_by:
            return ROW_SORTS
        names = [*self.group_by, *self.metrics]
        return (*names, *(f"-{name}" for name in names))


class SearchAdhocReportParam(AdhocQuestion):
    """The parameters of an ad-hoc report, and which page of it to return."""

    cursor: Text | None = Field(
        None,
        max_length=500,
        description="`next_cursor` of the previous page; send it with the same body. Leave it out"
        " for the first page.",
    )
    limit: int = Field(50, ge=1, le=100, description="Rows per page, 1..100.")


class ExportAdhocReportParam(AdhocQuestion):
    """The parameters of an ad-hoc report, and those of the file."""

    model_config = example(
        date_from="2026-11-01", date_to="2026-11-30", format="csv", columns=["chat_id", "rating"]
    )

    format: Literal["csv", "xlsx"] = Field(
        "csv", description="The format of the file: `csv` (text) or `xlsx` (a spreadsheet)."
    )
    columns: list[_Word] = Field(
        default_factory=list,
        max_length=60,
        description="The names of the columns to export, in this order, as in `columns` of the"
        " search with the same groups and metrics; empty: all.",
    )
    file_name: Text | None = Field(
        None,
        min_length=1,
        max_length=100,
        pattern=r'^[^/\\:*?"<>|\x00-\x1f\x7f]+$',
        description="The name of the file without its extension, and without any of"
        ' `/\\:*?"<>|`; `report` if left out.',
    )


class PageReport(SearchAdhocReportParam, ExportAdhocReportParam):
    """The parameters of a report on the site, which is shown as a page and exported as a file."""

    metrics: list[PageMetric] = list(DEFAULT_METRICS)  # type: ignore[assignment]


class NoQuery(Schema):
    """A query without parameters."""


class ExportLinkQuery(Schema):
    """The credential in the link of an export."""

    signature: Text | None = Field(
        None,
        max_length=200,
        description="The signature in the export's `url`, which replaces a token.",
    )


class AdhocExport(Schema):
    """A large export, which a worker writes: repeat `GET /report/adhoc/export/{export_id}` until it
    returns the file."""

    model_config = example(
        id="01997f4e-6a3c-7b57-9d5b-6c7a2f1e0d3b", status="running", progress=40, rows=200000,
        url="https://chat.example.com/report/adhoc/export/01997f4e-6a3c-7b57-9d5b-6c7a2f1e0d3b?signature=7:1tXa:9Qf3",
        expires_at="2026-11-22T09:00:00.000Z",
    )  # fmt: skip

    id: uuid.UUID = Field(description="The `export_id` for `GET /report/adhoc/export/{export_id}`.")
    status: Literal["queued", "running", "done"] = Field(
        description="`queued`: nothing is written yet. `running`: the file is being written. Once"
        " it is `done`, the response is the file instead of this."
    )
    progress: int = Field(description="How much of the file is written, in percent.")
    rows: int = Field(description="The number of rows when the export was requested.")
    url: Uri = Field(
        description="A link that opens the file on your behalf and without a token, until"
        " `expires_at`. Whoever has the link can open it."
    )
    expires_at: Moment = Field(description="When the file is deleted.")


class ReportColumn(Schema):
    """A column of a report."""

    name: str = Field(description="The column's name in the rows.")
    label: str = Field(description="The column's heading in English.")
    type: Literal["text", "number", "boolean", "date", "moment", "texts"] = Field(
        description="The type of the column's values: `text`, `number`, `boolean`, `date` (such as"
        " `2026-11-21`), `moment` (a time) or `texts` (a list of texts)."
    )
    unit: Literal["seconds", "credits", "stars"] | None = Field(
        None,
        description="The unit of the column's numbers (`seconds`, `credits` or `stars`); null for"
        " plain numbers and other types.",
    )


Value = str | int | float | bool | list[str] | None


class AdhocReport(Schema):
    """A table of figures or of conversations."""

    columns: list[ReportColumn] = Field(
        description="The columns, in order: the groups, each bot and agent also with its name, and"
        " the metrics. Without groups: `chat_id`, `chat_code`, `created_at`, `bot`, `bot_name`,"
        " `channel`, `status`, `agent`, `agent_name`, `language`, `tags`, `sentiment`, `country`,"
        " `messages`, `handed_off`, `bot_resolved`, `first_response`, `resolution`, `ended_at`,"
        " `ended_by`, `rating`, `credits_used`."
    )
    rows: list[dict[str, Value]] = Field(
        description="The rows of this page: values by column name; null if a conversation has no"
        " such value, such as no agent or tag."
    )
    totals: dict[str, Value] = Field(
        description="The metrics over all conversations of the report, each counted once."
    )
    next_cursor: str | None = Field(
        None, description="Cursor of the next page; null on the last page."
    )


class FilterOption(Schema):
    """A value to filter conversations by."""

    value: str = Field(description="The value to use in the filter.")
    label: str = Field(description="The value for people to read.")
    chats: int = Field(description="How many conversations of the period have this value.")


class NumberedOption(Schema):
    """A bot or person to filter conversations by."""

    id: int = Field(description="The value to use in the filter.")
    name: str = Field(description="The name of the bot or person.")
    chats: int = Field(
        description="How many conversations of the period are of this bot or person."
    )


class AdhocFilterOptions(Schema):
    """The filter values that occur in a period's conversations, most frequent first."""

    bots: list[NumberedOption] = Field(description="Bots, for `bot_ids`.")
    channels: list[FilterOption] = Field(
        description="Channels: `web`, `api`, and messaging channels such as `chatapp`."
    )
    statuses: list[FilterOption] = Field(description="`open`, `snoozed`, `ended`.")
    assignees: list[NumberedOption] = Field(
        description="The 200 agents with the most conversations, for `assignee_ids`."
    )
    tags: list[FilterOption] = Field(description="The 200 most frequent tags.")
    sentiments: list[FilterOption] = Field(description="`positive`, `neutral`, `negative`.")
    languages: list[FilterOption] = Field(description="Languages as BCP 47 codes.")
    ended_by: list[FilterOption] = Field(
        description="Who or what ended conversations: `customer`, `agent`, `bot`, `inactivity`,"
        " `api` or `merged`."
    )
    countries: list[FilterOption] = Field(
        description="The 200 most frequent countries, as stored with the customers: two-letter"
        " codes (ISO 3166-1) or names."
    )
