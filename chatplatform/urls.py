"""All paths: the operations of the apps, and the paths of the whole platform."""

from django.conf import settings
from django.contrib import admin
from django.urls import path, re_path
from drf_spectacular.views import SpectacularRedocView, SpectacularSwaggerSplitView

from chatplatform.api import errors
from chatplatform.api.routing import operations
from chatplatform.web import public_pages
from chatplatform.web.health import HealthViewSet, openapi_json

# Check Health
health = [
    path("health", HealthViewSet.as_view({"get": "health"})),
    path("health/live", HealthViewSet.as_view({"get": "live"})),
]
urlpatterns = [
    path("", public_pages.start, name="start"),
    operations(*settings.API_APPS, also=health),
    path("openapi.json", public_pages.of_docs(openapi_json), name="schema"),
    path(
        "docs",
        public_pages.of_docs(SpectacularSwaggerSplitView.as_view(url_name="schema")),
        name="docs",
    ),
    path("redoc", public_pages.of_docs(SpectacularRedocView.as_view(url_name="schema"))),
    path(".well-known/security.txt", public_pages.security_txt),
    path("favicon.ico", public_pages.favicon),
    path("admin", public_pages.site_without_slash),
    path("admin/", admin.site.urls),
    # Last: all other paths are a 404.
    re_path("", errors.page_not_found),
]

handler400 = handler403 = errors.error_view
handler404 = errors.page_not_found
handler500 = errors.server_error
