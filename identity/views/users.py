"""Operations of the tag `identity`: a client's people, their sign-ins and passwords."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from chatplatform.api.error_shapes import Error
from chatplatform.api.errors import json_response
from chatplatform.api.operation import PUBLIC, Form, operation
from chatplatform.api.pagination import Page, page
from chatplatform.api.request_context import current_address
from identity.auth import (
    ADMIN,
    BEARER,
    BEARER_ANY_ROLE,
    BEARER_OR_TOKEN_IN_FORM,
    TenantViewSet,
    bearer_token,
)
from identity.models import User
from identity.services import logins, passwords, tokens, users
from identity.shapes import users as user_shapes

LoginBody = user_shapes.Body_login_for_access_token2_identity_token2_post
LOGIN_FORM = Form(LoginBody, ("application/x-www-form-urlencoded", "multipart/form-data"))


class UserViewSet(TenantViewSet):
    @operation("identity", "Read Users Me", access=BEARER)
    def me(self) -> user_shapes.UserDto:
        """Get the person to whom the access token belongs."""
        return user_shapes.UserDto.from_row(self.user)

    @operation("identity", "Update Users Me", access=BEARER_ANY_ROLE)
    def update_me(self, body: user_shapes.OwnUser) -> user_shapes.UserDto:
        """Change your name, language or picture, or whether you are away; fields left out keep
        their value."""
        return user_shapes.UserDto.from_row(users.update_own(self.user, body))

    @operation("identity", "Change My Password", access=BEARER_ANY_ROLE, also={429: None})
    def change_password(self, body: user_shapes.OwnPassword) -> user_shapes.TokenResponse:
        """Change your password. All your sign-ins end, including this one: continue with the tokens
        in the response, which lack `mcp:write`. You are notified by mail.

        422 if `current_password` is wrong or you have no password, which counts as a failed
        sign-in: after 10 in 15 minutes, 429. 401 `provider_required` if your company requires
        single sign-on and you are not an owner; your access token stays valid.
        """
        return users.change_own_password(
            self.user, current=body.current_password, new=body.new_password
        )

    @operation(
        "identity", "Create Client User", access=ADMIN, status=201, also={409: None, 429: None}
    )
    def create(self, body: user_shapes.UserDto) -> user_shapes.UserDto:
        """Add a person, who gets a welcome mail or, without a `password`, a link to choose one.

        409 `email_taken` if the address has an account, here or at another company. Only an owner
        may add an owner; otherwise 403. At most 100 people an hour; then 429.
        """
        fields = body.model_dump(include={"email", "full_name", "role", "language", "can_train"})
        user = users.create(self.client, **fields, password=body.password, by=self.user)
        return user_shapes.UserDto.from_row(user)

    @operation("identity", "Get My Company Users", access=BEARER, returns=user_shapes.UsersResponse)
    def list(self, query: Page) -> dict[str, Any]:
        """List your company's people, in the order they were added."""
        return page(User.objects.for_client(self.client), query, shape=user_shapes.UserDto.from_row)

    @operation("identity", "Update User Disable Flag", access=ADMIN, also={409: None})
    def disable(self, user_id: int, body: user_shapes.UserDisableFlag) -> user_shapes.UserDto:
        """Disable or enable a person. Disabling signs them out everywhere at once and returns their
        chats to the queue; enabling lets them sign in again.

        Only an owner may disable or enable an owner; otherwise 403. The last owner cannot be
        disabled: 409 `last_owner`.
        """
        user = users.set_disabled(self.client, user_id=user_id, **dict(body), by=self.user)
        return user_shapes.UserDto.from_row(user)

    @operation("identity", "Reset User Password", access=ADMIN, status=204)
    def reset_password(self, user_id: int, body: user_shapes.UserPassword) -> None:
        """Set a person's password. They are signed out everywhere and notified by mail.

        Only an owner may set an owner's password; otherwise 403.
        """
        users.reset_password(self.client, user_id=user_id, **dict(body), by=self.user)

    @operation("identity", "Update User Role", access=ADMIN, also={409: None})
    def set_role(self, user_id: int, body: user_shapes.UserRole) -> user_shapes.UserDto:
        """Change a person's role, and whether they may also train bots (`can_train`).

        A new role makes their access tokens invalid at once; a refresh token still works and
        returns an access token with the new role. `can_train` takes effect with the next request.
        The chats of a new viewer return to the queue.

        Only an owner may add or change an owner; otherwise 403. The last owner keeps the role: 409
        `last_owner`.
        """
        user = users.set_role(self.client, user_id=user_id, **dict(body), by=self.user)
        return user_shapes.UserDto.from_row(user)


class TokenViewSet(TenantViewSet):
    @operation(
        "identity",
        "Login For Access Token2",
        access=PUBLIC,
        body=LOGIN_FORM,
        returns=user_shapes.TokenResponse,
        also={401: Error, 429: Error},
        gives_credentials=True,
    )
    def create(self, body: LoginBody) -> HttpResponse:
        """Sign in with email address and password, or exchange a refresh token.

        401 `invalid_grant` if the password, the refresh token or the code of the second factor is
        wrong, expired or used; 401 `otp_required` if the person has a second factor and `otp` is
        missing; 401 `provider_required` if the company requires single sign-on. After 10 failures
        in 15 minutes with an account from one IP address, 100 from one IP address, or 10 wrong
        codes for a person from any address: 429 with `Retry-After`, even if password and code are
        right. 503 `client_frozen` while the company is being moved.
        """
        response = logins.grant(body, address=current_address())
        return json_response(response.model_dump(mode="json"), headers={"Pragma": "no-cache"})

    @operation(
        "identity", "Revoke Token", access=BEARER_OR_TOKEN_IN_FORM, status=204,
        body=Form(user_shapes.RevokeTokenRequest, ("application/x-www-form-urlencoded",)),
        body_is_optional=True,
    )  # fmt: skip
    def revoke(self, request: HttpRequest, body: user_shapes.RevokeTokenRequest) -> None:
        """Sign out: end the sign-in that the access token belongs to, with its refresh tokens.

        With the form of RFC 7009, end the sign-in of its `token`, an access or refresh token; the
        header `Authorization` is not needed then. Another person's token changes nothing.
        """
        tokens.revoke(body.token or bearer_token(request), by=self.user)


class PasswordResetViewSet(TenantViewSet):
    @operation("identity", "Forgot Password", access=PUBLIC, status=202, also={429: None})
    def request_reset(self, body: user_shapes.ForgotPasswordRequest) -> None:
        """Mail a link to choose a new password, if the address has an account.

        The response is the same if it has none. The link works once, for an hour, and makes links
        older than ten minutes invalid. At most 5 requests an hour for an
        email address from one IP address, and 30 from one IP address; then 429 with `Retry-After`.
        """
        passwords.request_reset(email=body.email, address=current_address())

    @operation(
        "identity", "Verify Reset Token", access=PUBLIC, status=204, also={400: None, 429: None}
    )
    def verify(self, body: user_shapes.VerifyResetTokenRequest) -> None:
        """Check whether a link still works; 400 `reset_token_invalid` if it does not.

        After 6 wrong tokens in 15 minutes from one IP address: 429, and even a right token becomes
        invalid.
        """
        passwords.check_reset(token=body.token, address=current_address())

    @operation("identity", "Reset Password", access=PUBLIC, status=204, also={400: None, 429: None})
    def reset(self, body: user_shapes.ResetPasswordRequest) -> None:
        """Set the password of the person to whom a link was mailed. They are signed out everywhere.

        400 `reset_token_invalid` if the link is wrong, used or expired, which counts towards the
        limit of *Verify Reset Token*. 503 `client_frozen` while the company is being moved.
        """
        passwords.use_reset(token=body.token, password=body.new_password, address=current_address())
