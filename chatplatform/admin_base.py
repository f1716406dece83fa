"""Base classes of the site's lists and pages; only the platform's staff see all clients' rows."""

import functools
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import (
    display_for_field,
    get_fields_from_path,
    label_for_field,
    unquote,
)
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import BooleanField, DateTimeField, JSONField, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.functional import Promise, cached_property, lazy
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.text import camel_case_to_spaces
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import action as unfold_action
from unfold.decorators import display
from unfold.enums import ActionVariant
from unfold.templatetags import unfold_list
from unfold.utils import prettify_json

from chatplatform import admin_lists, media, navigation
from chatplatform.admin_lists import (
    BoundedPaginator,
    LookupsMixin,
    SearchMixin,
    TenantRelatedFilter,
)
from chatplatform.api.errors import ApiError
from chatplatform.empty_states import EMPTY_STATES
from chatplatform.forms import ServiceForm
from chatplatform.templatetags.codes import humanize_code, translated_label
from chatplatform.templatetags.dates import when

View = TypeVar("View", bound=Callable[..., HttpResponseBase])
Shown = TypeVar("Shown", bound=Callable[..., Any])
Words = str | Promise

# Sets of roles for `read_by` and `changed_by`; each set also admits the platform's staff.
EVERYBODY = frozenset({"owner", "admin", "agent", "viewer"})
ADMINS = frozenset({"owner", "admin"})
PLATFORM: frozenset[str] = frozenset()
# Columns with secrets or their hashes; no client's archive contains them in plain text.
SECRETS = {
    "access_token", "api_key", "application_secret", "password", "previous_secret",
    "recovery_hashes", "refresh_token", "secret", "secret_hash", "secret_headers", "session_data",
    "session_key", "token_hash",
}  # fmt: skip
_NO_ROW = "This item doesn't exist."
# Unfold writes 300 characters of CSS classes into each cell; one class in site.css replaces them.
unfold_list.ROW_CLASSES[:] = ["cell"]
unfold_list.CHECKBOX_CLASSES[:] = ["cell", "action-checkbox"]
unfold_list.LINK_CLASSES[:] = []


def _heading_of_field(*args: Any, **options: Any) -> tuple[str, Any]:
    """A column's heading in words; for a plain column, Django's label is only the field's name."""
    label, shown = label_for_field(*args, **options)
    text = str(label)
    translate = humanize_code if text.islower() else gettext
    return translate(text) if text else "", shown


# Neither Django nor Unfold has a hook for headings: a field's own name takes precedence over the
# admin class, and a template could change only the headings above a list, not those that phones
# show in front of each value.
unfold_list.label_for_field = _heading_of_field  # type: ignore[attr-defined, assignment]


def _never(admin_page: Any, request: HttpRequest, obj: Any = None) -> bool:
    return False


def _has_role(request: HttpRequest, roles: frozenset[str]) -> bool:
    user = viewer(request)
    if not user.is_authenticated:
        return False
    return user.is_superuser or (user.client_id is not None and user.role in roles)


def confirm_action(question: Words) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make an action show the chosen rows with a question, and run it only after confirmation."""

    def decorate(action: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(action)
        def ask(page: FormsMixin, request: HttpRequest, rows: QuerySet[Any]) -> Any:
            if "confirmed" in request.POST:
                return action(page, request, rows)
            return page.page(
                request, "admin/confirm_action.html", str(question),
                rows=rows, action=action.__name__, checkbox=ACTION_CHECKBOX_NAME,
            )  # fmt: skip

        return ask

    return decorate


def viewer(request: HttpRequest) -> Any:
    """The signed-in person; during an impersonation, the impersonated one."""
    return request.user


def is_impersonated(request: HttpRequest) -> bool:
    """Whether one of the platform's staff views the page as another person, read-only."""
    return hasattr(request, "viewed_by")


def run_each(
    request: HttpRequest,
    rows: Iterable[Any],
    act: Callable[[Any], Any],
    *,
    done: str = gettext_noop("done"),
) -> None:
    """Call `act` for each row; show the error of each failed call, and how many calls succeeded."""
    count = 0
    for row in rows:
        try:
            act(row)
        except ApiError as exc:
            messages.error(request, f"{row}: {gettext(str(exc))}")
        else:
            count += 1
    if count:
        messages.success(request, f"{count} {gettext(done)}.")


class Labelled(NamedTuple):
    """A state: its code, which gives a list's label its color, and the text of both list and
    row."""

    code: str
    text: str

    def __html__(self) -> str:
        return escape(self.text)


def column(description: Words, **options: Any) -> Callable[[Shown], Shown]:
    """Unfold's `display`, but typed so that the heading may be a lazy translation.

    With `label`, the colors of states, the method returns a state's code and text.
    """
    untyped: Any = display

    def decorate(method: Any) -> Any:
        @functools.wraps(method)
        def labelled(*args: Any) -> Labelled:
            return Labelled(*method(*args))

        return untyped(description=description, **options)(
            labelled if "label" in options else method
        )

    return decorate


def button(
    description: Words,
    *,
    permissions: list[str],
    icon: str,
    url_path: str | None = None,
    is_recorded: bool = False,
) -> Callable[[View], View]:
    """Turn a method into a page with a button: above the list if the class names the method in
    `actions_list`, on a row's page if in `actions_detail`.

    `is_recorded`: opening the page writes an audit entry, which is refused during an
    impersonation. The button on a row's page is hidden then.
    """
    untyped: Any = unfold_action
    decorate: Callable[[View], View] = untyped(
        description=description, permissions=permissions, icon=icon, url_path=url_path
    )

    def mark(view: View) -> View:
        decorated: Any = decorate(view)
        decorated.is_recorded = is_recorded
        return cast("View", decorated)

    return mark


@column(
    gettext_lazy("Status"),
    ordering="is_disabled",
    label={"active": "success", "disabled": "danger"},
)
def in_use(row: Any) -> Any:
    """A column that shows Active or Disabled; Django would mark an active row with a red cross."""
    text = gettext("Disabled") if row.is_disabled else gettext("Active")
    return "disabled" if row.is_disabled else "active", text


def link(page: str, pk: object, text: object) -> SafeString:
    """A link to the page about the row `pk`; `page` is the name of its URL."""
    return format_html('<a class="underline" href="{}">{}</a>', reverse(page, args=[pk]), text)


def progress_bar(done: int, total: int) -> SafeString:
    """Progress as a bar and in numbers."""
    return format_html(
        '<progress value="{}" max="{}" aria-label="{}"></progress> {}',
        done,
        max(total, 1),
        gettext("Progress"),
        gettext("%(done)s of %(total)s") % {"done": done, "total": total},
    )


# Turns a code into a lazily translated column heading.
_heading_from_code = lazy(humanize_code, str)


@functools.cache
def code_column(name: str) -> Any:
    """A column for the field `name` that shows its API code in words."""

    @column(_heading_from_code(name), ordering=name)
    def shown(row: Any) -> str:
        return humanize_code(getattr(row, name))

    return shown


@functools.cache
def time_column(name: str) -> Any:
    """A column for the field `name` that formats its time with `when`."""

    @column(_heading_from_code(name.removesuffix("_at")), ordering=name)
    def shown(row: Any) -> Any:
        return when(getattr(row, name))

    cast("Any", shown).moment_of = name
    return shown


@functools.cache
def person_column(name: str) -> Any:
    """A column with a person's name, which is a link if the person belongs to the row's client."""

    @column(_heading_from_code(name), ordering=name)
    def shown(row: Any) -> str:
        user = getattr(row, name)
        if user is None or user.client_id != getattr(row, "client_id", None):
            return str(user or "–")
        return link("admin:identity_user_change", user.pk, user)

    return shown


class _ReadableJson(DjangoJSONEncoder):
    """Writes letters of all languages unescaped."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"ensure_ascii": False})


def _labeled(field: Any, label: Any) -> Any:
    """A column with the heading `label`; JSON is indented."""

    @display(description=label, boolean=isinstance(field, BooleanField), ordering=field.name)
    def shown(row: Any) -> Any:
        value = getattr(row, field.name)
        if isinstance(field, BooleanField):
            return value
        # Unfold would show the brackets of empty JSON.
        text = prettify_json(value, _ReadableJson) if isinstance(field, JSONField) and value else ""
        displayed = text or display_for_field(value, field, "–")
        return translated_label(str(displayed)) if field.choices and value else displayed

    return shown


class TenancyMixin(ModelAdmin):
    """Permissions: a person sees their own client's rows, the platform's staff see all rows.

    Only services add, change or delete rows, never Django's own forms. A role has the same rights
    here as in the API (docs/rights.md).
    """

    # The lookup from a row to its client; None if the rows belong to the platform.
    client_path: ClassVar[str | None] = "client"
    read_by: ClassVar[frozenset[str]] = EVERYBODY
    # Roles that may change rows, in addition to the platform's staff; if None, nobody may.
    changed_by: ClassVar[frozenset[str] | None] = None
    has_add_permission = has_delete_permission = _never

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _has_role(request, self.read_by)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.changed_by is not None and _has_role(request, self.changed_by)

    # The `permissions` of actions and buttons refer to the next five methods.
    def has_manage_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the viewer is an owner, an admin or one of the platform's staff."""
        return _has_role(request, ADMINS)

    def has_create_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the viewer is an owner or admin of a client."""
        return viewer(request).client_id is not None and _has_role(request, ADMINS)

    def has_train_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the viewer is an owner, an admin, one of the platform's staff, or has
        `can_train`."""
        return self.has_manage_permission(request) or viewer(request).can_train

    def has_teach_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the viewer belongs to a client, and is an owner or admin or has `can_train`."""
        return viewer(request).client_id is not None and self.has_train_permission(request)

    def has_platform_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the viewer is one of the platform's staff."""
        return _has_role(request, PLATFORM)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        user = viewer(request)
        if user.is_superuser:
            return rows
        if self.client_path is None or user.client_id is None:
            return rows.none()
        return rows.filter(**{self.client_path: user.client_id})

    def get_field_queryset(self, db: Any, db_field: Any, request: HttpRequest) -> Any:
        """The choices of a foreign key in a form: only rows that the viewer may see."""
        model = db_field.remote_field.model
        if not self.admin_site.is_registered(model):
            return model._default_manager.none()
        return self.admin_site.get_model_admin(model).get_queryset(request)

    def row(self, request: HttpRequest, row_id: Any) -> Any:
        """The row with this id; 404 if there is none that the viewer may see."""
        instance = self.get_object(request, unquote(str(row_id)))
        if instance is None:
            raise Http404(_NO_ROW)
        return instance

    def _get_obj_does_not_exist_redirect(self, *_: Any) -> Any:
        raise Http404(_NO_ROW)


class ColumnsMixin(ModelAdmin):
    """Lets a person choose columns, and shows codes, times, people and JSON in readable form."""

    # Columns with API codes, which are shown in words.
    codes: ClassVar[frozenset[str]] = frozenset()
    # Headings of columns whose names are not clear enough.
    labels: ClassVar[dict[str, Any]] = {}
    # Columns that a person may add to the list.
    more_columns: Any = ()

    def get_list_display(self, request: HttpRequest) -> Any:
        return [
            self._list_column(name)
            for name in self._chosen(request)
            if self._is_useful_column(request, name)
        ]

    def _chosen(self, request: HttpRequest) -> list[Any]:
        """The columns in the query string; the default columns if it has none."""
        requested = request.GET.getlist(admin_lists.COLUMNS)
        offered = (*self.list_display, *self.more_columns)
        return [item for item in offered if _name(item) in requested] or list(self.list_display)

    def columns(self, request: HttpRequest) -> list[tuple[str, str, bool]]:
        """The columns to choose from: name, heading, and whether the list shows it now."""
        offered, chosen = (*self.list_display, *self.more_columns), self._chosen(request)
        return [
            (_name(item), self._heading(self._list_column(item)), item in chosen)
            for item in offered
            if self._is_useful_column(request, item)
        ]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        groups = super().get_fieldsets(request, obj)

        def columns(names: Any) -> list[Any]:
            useful = [name for name in names if self._is_useful_column(request, name)]
            # If the class sets no `fields`, Django lists both a field and the column that
            # replaces it.
            return [*dict.fromkeys(map(self._page_column, useful))]

        return [
            (title, options | {"fields": columns(options["fields"])}) for title, options in groups
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        columns = (*map(code_column, sorted(self.codes)), *map(time_column, sorted(self._moments)))
        return (*fields, *columns, *map(person_column, sorted(self._people)))

    def get_list_filter(self, request: HttpRequest) -> Any:
        names = [
            name
            for name in super().get_list_filter(request)
            if self._is_useful_column(request, name)
        ]
        return [(name, TenantRelatedFilter) if self._is_relation(name) else name for name in names]

    @cached_property
    def _people(self) -> set[str]:
        """The names of the columns that refer to a person."""
        fields = self.model._meta.concrete_fields
        return {field.name for field in fields if field.related_model is get_user_model()}

    @cached_property
    def _moments(self) -> set[str]:
        """The names of the time columns, except those that the page's form changes."""
        fields = self.model._meta.concrete_fields
        names = {field.name for field in fields if isinstance(field, DateTimeField)}
        is_form = self.changed_by is not None  # type: ignore[attr-defined]
        return names - ({*(self.fields or ())} - {*self.readonly_fields} if is_form else set())

    @cached_property
    def _labeled(self) -> dict[str, Any]:
        """The columns for fields in `labels` and for JSON fields, by field name."""
        fields_by_name = {field.name: field for field in self.model._meta.concrete_fields}
        json = {name for name, item in fields_by_name.items() if isinstance(item, JSONField)}
        labels = {name: humanize_code(name) for name in json} | self.labels
        return {name: _labeled(fields_by_name[name], label) for name, label in labels.items()}

    def _heading(self, column: Any) -> str:
        return humanize_code(str(label_for_field(column, self.model, self)))

    def _list_column(self, name: Any) -> Any:
        if name in self.labels:
            return self._labeled[name]
        if name in self._moments:
            return time_column(name)
        return code_column(name) if isinstance(name, str) and name in self.codes else name

    def _page_column(self, name: Any) -> Any:
        """The column that a row's page shows for the field `name`."""
        if name in self._people and name not in self._labeled:
            return person_column(name)
        return self._labeled.get(name) or self._list_column(name)

    def _is_useful_column(self, request: HttpRequest, name: Any) -> bool:
        """Whether the viewer needs the column: only the platform's staff need the client."""
        return name != "client" or _has_role(request, PLATFORM)

    def _is_relation(self, name: Any) -> bool:
        return isinstance(name, str) and get_fields_from_path(self.model, name)[-1].is_relation


def _name(column: Any) -> str:
    """A column's name in the query string of a list."""
    return column if isinstance(column, str) else str(column.__name__)


class FormsMixin(ModelAdmin):
    """Additional pages of an admin class: a template, or a form that calls a service."""

    def page(
        self, request: HttpRequest, template: str, title: str, **context: Any
    ) -> TemplateResponse:
        """An additional page of this class, with its own template and title.

        `tabs` in the context replaces the section's tabs: each has `title`, `link` and `active`.
        `actions` are the buttons next to the title: each has `title` and `link`, and optionally
        `icon` and `is_primary`.
        """
        site_context = self.admin_site.each_context(request)
        site_context |= {"opts": self.model._meta, "title": title, "page": self}
        return TemplateResponse(request, template, site_context | context)

    def form_page(
        self,
        request: HttpRequest,
        form: ServiceForm,
        act: Callable[[dict[str, Any]], HttpResponse],
        *,
        template: str = "admin/form_page.html",
        **context: Any,
    ) -> HttpResponse:
        """A page with one form; `act` calls the service and returns the response that follows.
        `context` has `title` and `button`, optionally `intro`."""
        done = form.carry_out(act) if form.is_bound else None
        return done or self.page(request, template, form=form, **context)

    def confirm_page(
        self, request: HttpRequest, act: Callable[[dict[str, Any]], HttpResponse], **context: Any
    ) -> HttpResponse:
        """A page with only a button, which calls `act`; `context` is the same as in `form_page`."""
        form = ServiceForm(request.POST if request.method == "POST" else None)
        return self.form_page(request, form, act, **context)


class TenantAdmin(  # type: ignore[misc] # two of Unfold's own bases differ
    TenancyMixin, LookupsMixin, SearchMixin, ColumnsMixin, FormsMixin
):
    """The list of a model, newest first, with a CSV export, and the page of each row."""

    ordering: ClassVar[Any] = ("-id",)
    list_per_page = list_max_show_all = 50
    paginator = BoundedPaginator
    # Counting a whole table would take too long.
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    actions_list: Any = ()
    actions_detail: Any = ()
    # A sentence above a list whose name does not say what the rows are.
    intro: ClassVar[Any] = ""
    # The relation that audit entries refer to instead of the row, such as "bot".
    audited_as: ClassVar[str] = ""
    change_form_outer_after_template: Any = "admin/activity_log.html"
    list_before_template: Any = "admin/list_tools.html"

    @property
    def when_empty(self) -> str:
        """The text that an empty list shows."""
        return gettext(EMPTY_STATES[self.model._meta.label])

    def when_empty_for(self, request: HttpRequest) -> str:
        """The text for this reader."""
        return self.when_empty

    def action_checkbox(self, obj: Any) -> str:  # type: ignore[override]
        """The checkbox of a row; Unfold's own checkbox takes a kilobyte of HTML."""
        return format_html(
            '<input type="checkbox" name="{}" value="{}" class="action-select" aria-label="{}">',
            ACTION_CHECKBOX_NAME,
            obj.pk,
            gettext("Select this row"),
        )

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        """The list with its tools: columns, export and saved views."""
        site = cast("Any", self.admin_site)
        context = (extra_context or {}) | {
            "columns": self.columns(request),
            "may_export": self.has_manage_permission(request) and not is_impersonated(request),
            "saved_views": site.saved_views_of(request, self.model._meta.label_lower),
        }
        return super().changelist_view(request, context)

    def is_under_way(self, row: Any) -> bool:
        """Whether work on the row is still running; its page then reloads every three seconds."""
        return False

    def change_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """A row's page, which reloads while `is_under_way`."""
        response: HttpResponse = super().change_view(request, *args, **kwargs)
        row = getattr(response, "context_data", {}).get("original")
        if row and self.is_under_way(row):
            response["Refresh"] = "3"
        return response

    def get_actions_list(self, request: HttpRequest) -> Any:
        """The buttons above the list; the first one is the list's primary action."""
        buttons = super().get_actions_list(request)
        for item in buttons[:1]:
            item.variant = ActionVariant.PRIMARY
        return buttons

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> Any:
        """The buttons above a row; an impersonation hides the buttons with `is_recorded`."""
        buttons = super().get_actions_detail(request, object_id)
        if not is_impersonated(request):
            return buttons
        return [item for item in buttons if not getattr(item.method, "is_recorded", False)]

    def audit_subject(self, row: Any) -> str:
        """The row's name in the audit log, such as `bot:5`."""
        if self.audited_as:
            return f"{self.audited_as}:{getattr(row, f'{self.audited_as}_id')}"
        noun = camel_case_to_spaces(self.model.__name__).replace(" ", "_")
        return f"{noun}:{row.pk}"

    def get_urls(self) -> list[Any]:
        """Django's URLs and the URL of the export. Django's history page is left out, because a
        row's page already shows the row's activity."""
        urls = [url for url in super().get_urls() if not str(url.name or "").endswith("_history")]
        meta = self.model._meta
        export = self.admin_site.admin_view(self.export_list)
        name = f"{meta.app_label}_{meta.model_name}_export_list"
        return [path("export-list/", export, name=name), *urls]

    def export_list(self, request: HttpRequest) -> HttpResponseBase:
        """The filtered rows of the list as a CSV file."""
        if not self.has_view_permission(request) or not self.has_manage_permission(request):
            raise PermissionDenied
        rows: Any = self.get_changelist_instance(request)
        site, noun = cast("Any", self.admin_site), self.model._meta.model_name
        file = admin_lists.write(rows, record=functools.partial(site.record_export, request, noun))
        return media.file_response(
            file, mime_type="text/csv", cache_control="no-store",
            download_as=f"{navigation.file_name_of(self.model)}.csv",
        )  # fmt: skip


class ReadOnlyInline(TabularInline):
    """Related rows on a row's page; only services write them."""

    extra = 0
    can_delete = False
    has_add_permission = has_change_permission = has_delete_permission = _never

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True
