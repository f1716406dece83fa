"""Operations of the tag `identity`: signing in and out."""

from django.http import HttpRequest, HttpResponse

from chatplatform.api.error_schemas import Error
from chatplatform.api.errors import json_response
from chatplatform.api.operation import PUBLIC, Form, operation
from chatplatform.api.request_context import current_address
from identity.auth import BEARER_OR_TOKEN_IN_FORM, TenantViewSet, bearer_token
from identity.schemas.tokens import Body_login_for_access_token2_identity_token2_post as LoginBody
from identity.schemas.tokens import RevokeTokenRequest, TokenResponse
from identity.services import logins, tokens

LOGIN_FORM = Form(LoginBody, ("application/x-www-form-urlencoded", "multipart/form-data"))


class TokenViewSet(TenantViewSet):
    @operation(
        "identity",
        "Login For Access Token2",
        access=PUBLIC,
        body=LOGIN_FORM,
        returns=TokenResponse,
        also={401: Error, 429: Error},
        gives_credentials=True,
    )
    def create(self, body: LoginBody) -> HttpResponse:
        """Sign in with email address and password, or exchange a refresh token. The response has an
        access token, valid for half an hour, and a new refresh token, valid for 14 days.

        401 `invalid_grant` if the password, the refresh token or the code of the second factor is
        wrong, expired or used; 401 `otp_required` if the person has a second factor and `otp` is
        missing; 401 `provider_required` if the company requires single sign-on. 429 with
        `Retry-After` after too many failures in 15 minutes: 10 with an account from one IP address,
        100 with any accounts from one IP address, or 10 wrong codes for a person from any
        addresses. Even the right password and code get the 429 until `Retry-After` has passed. 503
        `client_frozen` while the company's data is being moved.
        """
        response = logins.grant(body, address=current_address())
        return json_response(response.model_dump(mode="json"), headers={"Pragma": "no-cache"})

    @operation(
        "identity", "Revoke Token", access=BEARER_OR_TOKEN_IN_FORM, status=204,
        body=Form(RevokeTokenRequest, ("application/x-www-form-urlencoded",)),
        body_is_optional=True,
    )  # fmt: skip
    def revoke(self, request: HttpRequest, body: RevokeTokenRequest) -> None:
        """Sign out: end the sign-in that the access token belongs to, with its refresh tokens.

        You can also send the form of RFC 7009: this ends the sign-in of the access or refresh token
        in its field `token`, and the header `Authorization` is not needed. Another person's token
        changes nothing.
        """
        tokens.revoke(body.token or bearer_token(request), by=self.user)
