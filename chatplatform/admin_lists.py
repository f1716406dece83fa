"""The site's lists: active filters as chips, search, allowed lookups, and export as CSV."""

import functools
import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any, ClassVar

from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.filters import EmptyFieldListFilter, RelatedFieldListFilter
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import get_fields_from_path, label_for_field, lookup_field
from django.core.exceptions import FieldDoesNotExist, ObjectDoesNotExist, ValidationError
from django.core.paginator import Paginator
from django.db import DataError
from django.db.models import Q, QuerySet, UUIDField
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.functional import cached_property
from django.utils.html import strip_tags
from django.utils.text import capfirst, format_lazy, smart_split, unescape_string_literal
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from unfold.admin import ModelAdmin
from unfold.paginator import InfinitePaginator
from unfold.views import ChangeList

from chatplatform import csv_files
from chatplatform.api.errors import ApiError
from chatplatform.templatetags.codes import humanize_code, translated_label
from chatplatform.templatetags.row_history import client_id_of

# The query parameter for a column that a list shows; it is repeated for each column.
COLUMNS = "columns"
MAX_EXPORTED = 10_000
# A list counts its rows only up to this number.
MAX_COUNTED = 1000
# The maximum length of a list's query string, and the maximum number of characters and words in a
# search: each word is looked up in every searched column.
MAX_QUERY_CHARS, MAX_SEARCH_CHARS, MAX_SEARCH_WORDS = 4_000, 200, 10
# What lists show for an empty value.
_EMPTY = "–"
_SUBJECT_CODE = re.compile(r"^[a-z_]+(?=:)")
_QUOTED = re.compile(r"""("|').*\1""", re.DOTALL)
# A filter by a related row offers no choices if there would be more than this.
_MAX_CHOICES = 100
# A search passes the ids of up to this many related rows; if more match, it uses a subquery.
_MAX_RELATED = 500
# The lookups that the query string of a list may use. Some other lookups of Django can be chained,
# which would let a reader of the list build SQL statements of any length.
COMPARISONS = frozenset({"exact", "in", "isnull", "gte", "lt"})


class InvalidListFilters(ApiError):
    detail = gettext_noop("This link has filters that don't work here. Open the list again.")


class TooLongSearch(ApiError):
    detail = format_lazy(
        gettext_lazy("Search for up to {words} words and {characters} characters."),
        words=MAX_SEARCH_WORDS,
        characters=MAX_SEARCH_CHARS,
    )


class TooManyRows(ApiError):
    code, status = "too_many_rows", 409

    def __init__(self) -> None:
        text = gettext("You can export up to %(count)s rows. Filter the list first.")
        super().__init__(text % {"count": number_format(MAX_EXPORTED, force_grouping=True)})


@dataclass(frozen=True)
class Chip:
    """An active filter in words, and the query string of the list without it."""

    text: str
    without: str


class BoundedPaginator(InfinitePaginator):
    """Counts a list up to a thousand rows. A longer list has no page numbers: counting a big table
    takes longer than showing one page of it."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        counted: int = rows.order_by()[: MAX_COUNTED + 1].count()
        if counted > MAX_COUNTED:
            return int(super().count)
        # Without Unfold's template, the list shows page numbers.
        self.template_name = ""
        return counted


class AdminChangeList(ChangeList):
    """A list with the filters, search and columns of one request.

    Unfold shows the number of rows next to the title if it differs from `full_result_count`. The
    number is useful only for a search or filter.
    """

    def get_results(self, request: HttpRequest) -> None:
        self.request = request
        super().get_results(request)
        if not self.result_count:  # no row matches: fetching rows would run a slow search again
            self.result_list = self.queryset.none()
        is_searched = self.query or self.has_active_filters
        if not is_searched or self.result_count > MAX_COUNTED:
            self.full_result_count = self.result_count

    def get_filters(self, request: HttpRequest) -> Any:
        """The filters, with titles and fixed choices in the reader's language."""
        result = super().get_filters(request)
        filters: list[Any] = list(result[0])
        for spec in filters:
            title = str(capfirst(spec.title))
            text = translated_label(title)
            spec.title = text if text != title else spec.title
            if getattr(spec, "field", None) is not None and spec.field.choices:
                spec.choices = functools.partial(_translated, spec.choices)
        return result

    def get_filters_params(self, params: Any = None) -> Any:
        """The filters in the query string; the parameter for columns is not a filter."""
        filters = super().get_filters_params(params)
        filters.pop(COLUMNS, None)
        return filters

    @property
    def chips(self) -> list[Chip]:
        """The active filters and the search."""
        unmatched = dict(self.get_filters_params())
        text = gettext("Search: %(words)s") % {"words": self.query}
        chips = [Chip(text, self.without("q"))] if self.query else []
        for spec in self.filter_specs:
            names = [name for name in spec.expected_parameters() if name in unmatched]
            if names:
                text = f"{capfirst(str(spec.title))}: {self._chosen(spec)}"
                chips.append(Chip(text, self.without(*names)))
                for name in names:
                    del unmatched[name]
        for name, values in unmatched.items():
            text = ", ".join(self._named(name, str(value)) for value in values)
            column = humanize_code(name.split("__")[0])
            chips.append(Chip(f"{column}: {text}", self.without(name)))
        return chips

    def _chosen(self, spec: Any) -> str:
        """The selected choice of a filter, in words."""
        words = [str(choice["display"]) for choice in spec.choices(self) if choice.get("selected")]
        if not words:  # a value that the filter does not offer
            for values in spec.used_parameters.values():
                words += map(str, values if isinstance(values, list) else [values])
        return ", ".join(words)

    def _named(self, parameter: str, value: str) -> str:
        """A filter's value in words: for a related row that the viewer may see, the row's name."""
        field: Any = self.opts.get_field(parameter.split("__")[0])
        site: Any = self.model_admin.admin_site
        if not field.is_relation or not site.is_registered(field.related_model):
            # A subject of the audit log, such as `web_url:5`, begins with a code.
            return _SUBJECT_CODE.sub(lambda noun: noun[0].replace("_", " "), value, count=1)
        try:
            rows = site.get_model_admin(field.related_model).get_queryset(self.request)
            return str(rows.filter(pk=value).first() or value)
        except (ValueError, ValidationError):
            return value

    @property
    def is_of_bot(self) -> bool:
        """Whether a bot is the only filter, as in the links from the bot's pages."""
        return not self.query and set(self.get_filters_params()) == {"bot__id__exact"}

    @property
    def when_empty(self) -> str:
        """The text that the list shows if it has no rows and no filters."""
        model_admin: Any = self.model_admin
        text: str = model_admin.when_empty_for(self.request)
        return text

    @property
    def without_filters(self) -> str:
        """The query string of the list without filters and search; columns and order stay."""
        return self.without("q", *map(str, self.get_filters_params()))

    def without(self, *names: str | None) -> str:
        """The query string of the list without these parameters."""
        return self.get_query_string({name: None for name in names if name})


def _translated(choices: Callable[[Any], Iterator[Any]], changes: Any) -> Iterator[Any]:
    for choice in choices(changes):
        yield choice | {"display": translated_label(str(choice["display"]))}


class TenantRelatedFilter(RelatedFieldListFilter):
    """A filter by a related row. It offers the rows that the viewer may see, or none if there are
    more than 100."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> Any:
        related = model_admin.admin_site.get_model_admin(field.remote_field.model)
        rows = list(related.get_queryset(request)[: _MAX_CHOICES + 1])
        return [(row.pk, str(row)) for row in rows] if len(rows) <= _MAX_CHOICES else []


class LookupsMixin(ModelAdmin):
    """Limits the lookups in a list's query string to its filters, its foreign keys, its primary key
    and `linked_by`."""

    # More columns that links to the list may filter by.
    linked_by: ClassVar[frozenset[str]] = frozenset()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        return AdminChangeList

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """The list for a query string; 400 if the string is too long, or a filter or the page is
        invalid."""
        if len(request.META["QUERY_STRING"]) > MAX_QUERY_CHARS:
            raise InvalidListFilters
        try:
            return super().get_changelist_instance(request)
        except (DisallowedModelAdminLookup, IncorrectLookupParameters, DataError) as exc:
            raise InvalidListFilters from exc

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        columns, parameters = self._lookups
        path, _, comparison = lookup.rpartition("__")
        return lookup in parameters | columns or (comparison in COMPARISONS and path in columns)

    @cached_property
    def _lookups(self) -> tuple[set[str], set[str]]:
        """The columns and the filter parameters that a list's query string may use."""
        meta = self.model._meta
        relations = {field.name for field in meta.concrete_fields if field.is_relation}
        columns, parameters = {meta.pk.name, *self.linked_by, *relations}, set()
        for item in self.list_filter:
            column: Any
            column, kind = item if isinstance(item, tuple) else (item, None)
            if kind is EmptyFieldListFilter:
                parameters.add(f"{column}__isempty")
            if isinstance(column, str):
                columns.add(column)
            else:
                parameters.add(column.parameter_name)
        for column in tuple(columns):
            field: Any = get_fields_from_path(self.model, column)[-1]
            if field.is_relation:
                columns |= {f"{column}_id", f"{column}__{field.related_model._meta.pk.name}"}
        return columns, parameters


class SearchMixin(ModelAdmin):
    """Searches related rows in separate queries, because a join would read whole tables."""

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """The rows in which each word matches at least one of the `search_fields`: the field
        contains the word, or equals it if the field's name begins with `=`.

        The second value is False: no row occurs twice.
        """
        for word in words_of(search_term):
            condition = Q(pk__in=[])
            for name in self.get_search_fields(request):
                condition |= self._contains_word(request, name, word)
            queryset = queryset.filter(condition)
        return queryset, False

    def _contains_word(self, request: HttpRequest, name: str, word: str) -> Q:
        path = name.removeprefix("=")
        like: tuple[str, Any] = ("icontains", word)
        if name != path:
            like = ("in", _spellings(get_fields_from_path(self.model, path)[-1], word))
        relation, _, column = path.partition("__")
        if not column:
            return Q(**{f"{path}__{like[0]}": like[1]})
        related: Any = self.get_field_queryset(None, self.model._meta.get_field(relation), request)
        rows = related.filter(**{f"{column}__{like[0]}": like[1]}).order_by().values_list("pk")
        related_ids = [pk for (pk,) in rows[: _MAX_RELATED + 1]]
        return Q(**{f"{relation}__in": related_ids if len(related_ids) <= _MAX_RELATED else rows})


def words_of(search: str) -> list[str]:
    """The words of a search; quoted words count as one word. 400 if there are too many words or
    characters."""
    words = list(smart_split(search)) if len(search) <= MAX_SEARCH_CHARS else []
    if len(search) > MAX_SEARCH_CHARS or len(words) > MAX_SEARCH_WORDS:
        raise TooLongSearch
    return [unescape_string_literal(word) if _QUOTED.fullmatch(word) else word for word in words]


def _spellings(field: Any, word: str) -> list[Any]:
    """The values of a column that count as equal to this word: the word as written, in lower case
    and in upper case. For a UUID column the UUID; empty if the word is not a UUID."""
    if not isinstance(field, UUIDField):
        return [word, word.lower(), word.upper()]
    try:
        return [uuid.UUID(word)]
    except ValueError:
        return []


def write(changes: AdminChangeList, *, record: Callable[[Counter[int | None]], None]) -> IO[bytes]:
    """A CSV file of a list's filtered rows and visible columns; 409 if there are too many rows.

    `record` is called with the number of rows written per client; if it raises, no file is
    returned.
    """
    rows: Any = changes.queryset
    if rows.order_by()[: MAX_EXPORTED + 1].count() > MAX_EXPORTED:
        raise TooManyRows
    page: Any = changes.model_admin
    columns = [item for item in changes.list_display if item != "action_checkbox"]
    titles = [humanize_code(str(label_for_field(item, page.model, page))) for item in columns]
    written = Counter[int | None]()

    def lines() -> Iterator[list[str]]:
        for chunk in Paginator(rows, 500):
            for row in chunk.object_list:
                yield [_cell(column, row, page) for column in columns]
                written[client_id_of(row)] += 1

    with csv_files.temporary_file() as file:
        csv_files.write(file, titles, lines())
        record(written)
    return file


def _cell(column: Any, row: Any, page: Any) -> str:
    """A cell as the list shows it, without markup; times as ISO 8601."""
    try:
        field, attribute, value = lookup_field(column, row, page)
    except (ObjectDoesNotExist, FieldDoesNotExist):
        return ""
    if field is not None and field.choices:
        value = dict(field.flatchoices).get(value, value)
    if getattr(attribute, "label", None) and isinstance(value, tuple):
        value = value[-1]
    if moment := getattr(column, "moment_of", None):
        value = getattr(row, moment)
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    text = "" if value is None else strip_tags(str(value)).strip()
    return "" if text == _EMPTY else text
