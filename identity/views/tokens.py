"""Operations of the tag `identity`: signing in and out."""

from django.http import HttpResponse
from rest_framework.request import Request

from chatplatform.api.errors import json_response
from chatplatform.api.openapi import Error
from chatplatform.api.operation import PUBLIC, Form, operation
from chatplatform.api.request_context import current_address
from identity.auth import BEARER_ANY_ROLE, TenantViewSet, bearer_token
from identity.services import logins, tokens
from identity.shapes.tokens import (
    Body_login_for_access_token2_identity_token2_post as LoginBody,
)
from identity.shapes.tokens import OAuthError, TokenResponse

LOGIN_FORM = Form(LoginBody, ("application/x-www-form-urlencoded", "multipart/form-data"))


class TokenViewSet(TenantViewSet):
    @operation(
        "identity",
        "Login For Access Token2",
        access=PUBLIC,
        body=LOGIN_FORM,
        returns=TokenResponse,
        also={400: OAuthError, 401: OAuthError, 429: Error},
    )
    def create(self, body: LoginBody) -> HttpResponse:
        """Sign in with e-mail address and password, or exchange a refresh token.

        401 `invalid_grant` if the password or the refresh token is wrong, expired or used. After
        10 failures of an account from one address, or 100 failures from one address, within 15
        minutes: 429 with Retry-After, even if the password is right.
        """
        response = logins.grant(body, address=current_address())
        return json_response(response.model_dump(mode="json"), headers={"Pragma": "no-cache"})

    @operation("identity", "Revoke Token", access=BEARER_ANY_ROLE, status=204)
    def revoke(self, request: Request) -> None:
        """Sign out: end the sign-in of this access token, with its refresh tokens."""
        tokens.revoke(bearer_token(request._request), by=self.user)
