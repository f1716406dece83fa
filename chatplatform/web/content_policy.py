"""Sets the Content-Security-Policy of HTML pages that do not set their own."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

HEADER = "Content-Security-Policy"
# Only our own script files run, no inline scripts, so text that a stranger wrote never runs. Only
# the site has 'unsafe-eval': its theme uses Alpine, which evaluates code in attributes. Inline
# styles are allowed, because the theme and the API's pages use them.
_POLICY = (
    "default-src 'none'; script-src 'self'{scripts}; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; media-src 'self';"
    " frame-src 'self'; worker-src 'self' blob:; object-src 'none'; base-uri 'none';"
    " form-action 'self'{targets}; frame-ancestors {framers}"
)


class ContentPolicy:
    """Middleware that limits what a page may load and who may frame it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        if is_page and HEADER not in response.headers:
            is_site = request.path_info.startswith("/admin/")
            is_framed = response.headers.get("X-Frame-Options") == "SAMEORIGIN"
            response.headers[HEADER] = _POLICY.format(
                scripts=" 'unsafe-eval'" if is_site else "",
                framers="'self'" if is_framed else "'none'",
                # Set by the view of the page that leads to a company's sign-in.
                targets=getattr(response, "form_targets", ""),
            )
        return response
