"""The site's lists: filters as chips, columns to choose, export as CSV, and columns in words."""

import csv
import functools
import io
import tempfile
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any

from django.contrib.admin.filters import EmptyFieldListFilter
from django.contrib.admin.utils import (
    display_for_field,
    get_fields_from_path,
    label_for_field,
    lookup_field,
)
from django.core.exceptions import FieldDoesNotExist, ObjectDoesNotExist, ValidationError
from django.core.paginator import Paginator
from django.db.models import BooleanField, JSONField, Model, UUIDField
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.html import strip_tags
from django.utils.text import smart_split
from unfold.decorators import display
from unfold.paginator import InfinitePaginator
from unfold.utils import prettify_json
from unfold.views import ChangeList

from chatplatform.api.errors import ApiError
from chatplatform.formula_injection import escape_formula
from chatplatform.row_history import client_id_of
from chatplatform.templatetags.codes import humanize_code

# The query parameter that names the columns of a list; it is repeated for each column.
COLUMNS = "columns"
MOST_EXPORTED = 10_000
# A list counts its rows up to this number.
MOST_COUNTED = 1000
# The most characters of a list's query string, characters of a search, and words of a search. Each
# word is looked for in every searched column.
MOST_ADDRESS, MOST_SEARCHED, MOST_WORDS = 4_000, 200, 10


# The lookups that the address of a list may use. Django's other lookups and transforms can be
# chained: a reader of the list could build statements of any length from them.
COMPARISONS = frozenset({"exact", "in", "isnull", "gte", "lt"})


class NoSuchList(ApiError):
    detail = "The list has no such filter, order or page, or too many at once: open the list anew."


class TooLongSearch(ApiError):
    detail = f"Search for at most {MOST_WORDS} words, of {MOST_SEARCHED} characters in all."


class TooManyRows(ApiError):
    code, status = "too_many_rows", 409
    detail = f"A file has at most {MOST_EXPORTED:,} rows: filter the list first."


@dataclass(frozen=True)
class Chip:
    """An active filter in words, and the query string of the list without it."""

    words: str
    without: str


class BoundedPaginator(InfinitePaginator):
    """Counts a list up to a thousand rows. A longer list has no page numbers: counting a big table
    takes longer than showing a part of it."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        found: int = rows.order_by()[: MOST_COUNTED + 1].count()
        if found > MOST_COUNTED:
            return int(super().count)
        # Without Unfold's template, the list shows page numbers.
        self.template_name = ""
        return found


class RowsShown(ChangeList):
    """A list as a person asked for it. Unfold writes the number of rows beside the title if
    `full_result_count` differs; that is useful only for a search or filter."""

    def get_results(self, request: HttpRequest) -> None:
        self.request = request
        super().get_results(request)
        if not self.result_count:  # the count found none: a second search may take long
            self.result_list = self.queryset.none()
        is_searched = self.query or self.has_active_filters
        if not is_searched or self.result_count > MOST_COUNTED:
            self.full_result_count = self.result_count

    def get_filters_params(self, params: Any = None) -> Any:
        """The filters of the address; the parameter for columns is not one."""
        found = super().get_filters_params(params)
        found.pop(COLUMNS, None)
        return found

    @property
    def chips(self) -> list[Chip]:
        """The active filters and the search."""
        waiting = dict(self.get_filters_params())
        chips = [Chip(f"Search: {self.query}", self.without("q"))] if self.query else []
        for spec in self.filter_specs:
            names = [name for name in spec.expected_parameters() if name in waiting]
            if names:
                chips.append(
                    Chip(f"{_label(spec.title)}: {_chosen(self, spec)}", self.without(*names))
                )
                for name in names:
                    del waiting[name]
        for name, values in waiting.items():
            words = ", ".join(self._named(name, str(value)) for value in values)
            chips.append(Chip(f"{_label(name.split('__')[0])}: {words}", self.without(name)))
        return chips

    def _named(self, parameter: str, value: str) -> str:
        """The value of a filter; for a related row that the viewer may see, its name."""
        field: Any = self.opts.get_field(parameter.split("__")[0])
        site: Any = self.model_admin.admin_site
        if not field.is_relation or not site.is_registered(field.related_model):
            return value
        try:
            rows = site.get_model_admin(field.related_model).get_queryset(self.request)
            return str(rows.filter(pk=value).first() or value)
        except (ValueError, ValidationError):
            return value

    @property
    def without_filters(self) -> str:
        """The query string of the list without filters; columns and order stay."""
        names = self.get_filters_params()
        return self.without("q", *map(str, names))

    def without(self, *names: str | None) -> str:
        """The query string of the list without these parameters."""
        return self.get_query_string({name: None for name in names if name})


def is_offered(page: Any, lookup: str) -> bool:
    """Whether the address of a list may filter by this lookup."""
    columns, parameters = _offered(page)
    path, _, comparison = lookup.rpartition("__")
    return lookup in parameters | columns or (comparison in COMPARISONS and path in columns)


@functools.cache
def _offered(page: Any) -> tuple[set[str], set[str]]:
    """The columns and the filter parameters that the address of a list may name.

    The columns are those of its filters, the primary key, the foreign keys and `linked_by`.
    """
    meta = page.model._meta
    relations = {field.name for field in meta.concrete_fields if field.is_relation}
    columns, parameters = {meta.pk.name, *page.linked_by, *relations}, set()
    for item in page.list_filter:
        column, kind = item if isinstance(item, tuple) else (item, None)
        if kind is EmptyFieldListFilter:
            parameters.add(f"{column}__isempty")
        if isinstance(column, str):
            columns.add(column)
        else:
            parameters.add(column.parameter_name)
    for column in tuple(columns):
        field: Any = get_fields_from_path(page.model, column)[-1]
        if field.is_relation:
            columns |= {f"{column}_id", f"{column}__{field.related_model._meta.pk.name}"}
    return columns, parameters


def words_of(search: str) -> list[str]:
    """The words of a search; quoted words count as one. 400 if it is too long or has too many."""
    words = list(smart_split(search)) if len(search) <= MOST_SEARCHED else []
    if len(search) > MOST_SEARCHED or len(words) > MOST_WORDS:
        raise TooLongSearch
    return words


def spellings(field: Any, word: str) -> list[Any]:
    """The values of a column that equal this word: three cases of a text; no value for a UUID
    column if the word is not a UUID."""
    if not isinstance(field, UUIDField):
        return [word, word.lower(), word.upper()]
    try:
        return [uuid.UUID(word)]
    except ValueError:
        return []


def _label(name: Any) -> str:
    return humanize_code(str(name))


def _chosen(changes: RowsShown, spec: Any) -> str:
    """The selected choice of a filter, in words."""
    words = [str(choice["display"]) for choice in spec.choices(changes) if choice.get("selected")]
    if not words:  # a value that the filter does not offer
        for values in spec.used_parameters.values():
            words += map(str, values if isinstance(values, list) else [values])
    return ", ".join(words)


def chosen_columns(request: HttpRequest, offered: tuple[Any, ...], shown: tuple[Any, ...]) -> Any:
    """The columns that the address names, else those that the list shows by default."""
    asked = request.GET.getlist(COLUMNS)
    return [item for item in offered if name_of(item) in asked] or list(shown)


def name_of(column: Any) -> str:
    """A column's name in the address of a list."""
    return column if isinstance(column, str) else str(column.__name__)


def title_of(column: Any, page: Any) -> str:
    """The heading of a column, in words."""
    return _label(label_for_field(column, page.model, page))


def in_own_words(model: type[Model], labels: dict[str, Any]) -> dict[str, Any]:
    """Columns that a row's page shows in its own way, by name: those with a label or JSON."""
    found = {field.name: field for field in model._meta.concrete_fields}
    json = {name: _label(name) for name, item in found.items() if isinstance(item, JSONField)}
    return {name: _column(found[name], label) for name, label in (json | labels).items()}


def _column(field: Any, label: Any) -> Any:
    @display(description=label, boolean=isinstance(field, BooleanField), ordering=field.name)
    def shown(row: Any) -> Any:
        value = getattr(row, field.name)
        if isinstance(field, BooleanField):
            return value
        # Unfold would show the brackets of empty JSON.
        told = prettify_json(value, field.encoder) if isinstance(field, JSONField) and value else ""
        return told or display_for_field(value, field, "–")

    return shown


def write(changes: RowsShown, *, record: Callable[[Counter[int | None]], None]) -> IO[bytes]:
    """The filtered rows of a list with its columns as CSV; 409 if there are too many.

    `record` gets the number of written rows by client; if it raises, no file is returned.
    """
    rows: Any = changes.queryset
    count: int = rows.order_by()[: MOST_EXPORTED + 1].count()
    if count > MOST_EXPORTED:
        raise TooManyRows
    page: Any = changes.model_admin
    columns = [item for item in changes.list_display if item != "action_checkbox"]
    written = Counter[int | None]()
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    try:
        text = io.TextIOWrapper(file, "utf-8-sig", newline="")
        writer = csv.writer(text)
        writer.writerow([title_of(item, page) for item in columns])
        for chunk in Paginator(rows, 500):
            for row in chunk.object_list:
                writer.writerow([escape_formula(_cell(column, row, page)) for column in columns])
                written[client_id_of(row)] += 1
        record(written)
    except BaseException:
        file.close()
        raise
    text.detach()
    file.seek(0)
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
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return "" if value is None else strip_tags(str(value)).strip()
