"""Operations of the tag `identity`: registration, sign-in, people, passwords, keys."""

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from chatplatform.api.access import PUBLIC
from chatplatform.api.errors import json_response
from chatplatform.api.openapi import Error
from chatplatform.api.operation import Form, operation
from chatplatform.api.pagination import Page, page
from identity.auth import ADMIN, BEARER, BEARER_ANY_ROLE, TenantViewSet, bearer_token
from identity.services import (
    api_keys,
    channel_tokens,
    clients,
    credits,
    logins,
    passwords,
    tokens,
    users,
)
from identity.shapes import identity as identity_shapes

LoginBody = identity_shapes.Body_login_for_access_token2_identity_token2_post
LOGIN_FORM = Form(LoginBody, ("application/x-www-form-urlencoded", "multipart/form-data"))


def address_of(request: Request) -> str:
    """Where a caller without a credential is: what limits count by."""
    return str(request._request.META.get("REMOTE_ADDR", ""))


class IdentityViewSet(TenantViewSet):
    """The caller and his client."""

    @operation(
        "identity",
        "Register Trial",
        access=PUBLIC,
        body=identity_shapes.RegisterTrialDto,
        returns=identity_shapes.ClientDto,
        status=201,
        also={409: None, 429: None},
    )
    def register_trial(
        self, request: Request, body: identity_shapes.RegisterTrialDto
    ) -> identity_shapes.ClientDto:
        """Register a company with its owner and a trial plan. 409 `email_taken`.

        After 20 tries from one address within an hour: 429 with Retry-After.
        """
        return identity_shapes.ClientDto.from_row(
            clients.register_trial(body, address=address_of(request))
        )

    @operation(
        "identity",
        "Login For Access Token2",
        access=PUBLIC,
        body=LOGIN_FORM,
        returns=identity_shapes.TokenResponse,
        also={400: identity_shapes.OAuthError, 401: identity_shapes.OAuthError, 429: Error},
    )
    def token(self, request: Request, body: LoginBody) -> HttpResponse:
        """Sign in with e-mail address and password, or exchange a refresh token.

        401 `invalid_grant` for a wrong, expired or used one. After 10 failures of an account
        from one address, or 100 from one address, within 15 minutes: 429 with Retry-After, also
        for the right password.
        """
        granted = logins.grant(body, address=address_of(request))
        return json_response(granted.model_dump(mode="json"), headers={"Pragma": "no-cache"})

    @operation("identity", "Revoke Token", access=BEARER_ANY_ROLE, status=204)
    def revoke(self, request: Request) -> None:
        """Sign out: end the sign-in of this access token, with its refresh tokens."""
        tokens.revoke(bearer_token(request._request), by=self.user)

    @operation("identity", "Read Users Me", access=BEARER, returns=identity_shapes.UserDto)
    def me(self, request: Request) -> identity_shapes.UserDto:
        """Who calls."""
        return identity_shapes.UserDto.from_row(self.user)

    @operation("identity", "Get Client Info", access=BEARER, returns=identity_shapes.ClientDto)
    def retrieve_client(self, request: Request) -> identity_shapes.ClientDto:
        """The caller's client, with its plan."""
        return identity_shapes.ClientDto.from_row(self.client)

    @operation(
        "identity",
        "Add Socialnet Access Token",
        access=ADMIN,
        body=identity_shapes.SocialnetAccessToken,
        status=204,
    )
    def store_socialnet_token(
        self, request: Request, body: identity_shapes.SocialnetAccessToken
    ) -> None:
        """Keep the client's access token at socialnet, encrypted; no operation shows it again.

        It takes the place of the one before.
        """
        channel_tokens.store(self.client, channel="socialnet", by=self.user, **dict(body))


class UserViewSet(TenantViewSet):
    """The client's people."""

    @operation(
        "identity",
        "Create Client User",
        access=ADMIN,
        body=identity_shapes.UserDto,
        returns=identity_shapes.UserDto,
        status=201,
        also={409: None, 429: None},
    )
    def create(self, request: Request, body: identity_shapes.UserDto) -> identity_shapes.UserDto:
        """Add a person and mail him: that he may sign in, or a link to choose his password.

        409 `email_taken`. Only an owner adds owners: 403. After 100 within an hour: 429.
        """
        given = body.model_dump(include={"email", "full_name", "role", "language"})
        made = users.create(self.client, **given, password=body.password, by=self.user)
        return identity_shapes.UserDto.from_row(made)

    @operation(
        "identity",
        "Get My Company Users",
        access=BEARER,
        query=Page,
        returns=identity_shapes.UsersResponse,
    )
    def list(self, request: Request, query: Page) -> dict[str, Any]:
        """The client's people in the order in which they were added."""
        return page(
            users.list_for_client(self.client), query, shape=identity_shapes.UserDto.from_row
        )

    @operation(
        "identity",
        "Update User Disable Flag",
        access=ADMIN,
        body=identity_shapes.UserDisableFlag,
        returns=identity_shapes.UserDto,
        also={409: None},
    )
    def disable(
        self, request: Request, user_id: int, body: identity_shapes.UserDisableFlag
    ) -> identity_shapes.UserDto:
        """Lock a person out, which ends all his tokens at once, or let him in again.

        Only an owner does this to an owner: 403. The last owner stays: 409 `last_owner`.
        """
        return identity_shapes.UserDto.from_row(
            users.set_disabled(self.client, user_id=user_id, **dict(body), by=self.user)
        )

    @operation(
        "identity",
        "Reset User Password",
        access=ADMIN,
        body=identity_shapes.UserPassword,
        status=204,
    )
    def reset_password(
        self, request: Request, user_id: int, body: identity_shapes.UserPassword
    ) -> None:
        """Set a person's password for him. Ends all his tokens at once, and he is told by mail.

        Only an owner does this to an owner: 403.
        """
        users.reset_password(self.client, user_id=user_id, **dict(body), by=self.user)

    @operation(
        "identity",
        "Update User Role",
        access=ADMIN,
        body=identity_shapes.UserRole,
        returns=identity_shapes.UserDto,
        also={409: None},
    )
    def set_role(
        self, request: Request, user_id: int, body: identity_shapes.UserRole
    ) -> identity_shapes.UserDto:
        """Give a person another role, at once: his access tokens end, and a refresh token buys
        one of the new role.

        Only an owner makes or changes owners: 403. The last owner stays: 409 `last_owner`.
        """
        return identity_shapes.UserDto.from_row(
            users.set_role(self.client, user_id=user_id, **dict(body), by=self.user)
        )


class PasswordResetViewSet(TenantViewSet):
    """A forgotten password, had again by mail."""

    @operation(
        "identity",
        "Forgot Password",
        access=PUBLIC,
        body=identity_shapes.ForgotPasswordRequest,
        status=202,
        also={429: None},
    )
    def ask(self, request: Request, body: identity_shapes.ForgotPasswordRequest) -> None:
        """Mail a link to choose a new password, where somebody has this address.

        The answer is the same whether anybody has. The link works once, for an hour, and ends the
        links before it. After 5 for an e-mail address or 30 from a network address within an
        hour: 429 with Retry-After.
        """
        passwords.ask_reset(email=body.email, address=address_of(request))

    @operation(
        "identity",
        "Verify Reset Token",
        access=PUBLIC,
        body=identity_shapes.VerifyResetTokenRequest,
        status=204,
        also={400: None, 429: None},
    )
    def verify(self, request: Request, body: identity_shapes.VerifyResetTokenRequest) -> None:
        """Whether a link still works; 400 `reset_token_invalid` where not.

        After 6 wrong ones from one address within 15 minutes: 429, also for a right one, which
        is void from then on.
        """
        passwords.check_reset(token=body.token, address=address_of(request))

    @operation(
        "identity",
        "Reset Password",
        access=PUBLIC,
        body=identity_shapes.ResetPasswordRequest,
        status=204,
        also={400: None, 429: None},
    )
    def reset(self, request: Request, body: identity_shapes.ResetPasswordRequest) -> None:
        """Set the password of whoever was sent the link, and end all his tokens.

        400 `reset_token_invalid` for a wrong, used or expired link, which counts as in Verify
        Reset Token.
        """
        passwords.use_reset(
            token=body.token, password=body.new_password, address=address_of(request)
        )


class ApiKeyViewSet(TenantViewSet):
    """Keys of the caller's client."""

    @operation(
        "identity",
        "List Api Keys",
        access=ADMIN,
        query=Page,
        returns=identity_shapes.ApiKeysResponse,
    )
    def list(self, request: Request, query: Page) -> dict[str, Any]:
        """The client's keys, newest first, revoked ones too; never what they open with."""
        return page(
            api_keys.list_for_client(self.client),
            query,
            by="-id",
            shape=identity_shapes.ApiKeyDto.from_row,
        )

    @operation(
        "identity",
        "Create Api Key",
        access=ADMIN,
        body=identity_shapes.ApiKeyRequest,
        returns=identity_shapes.ApiKeyDto,
        status=201,
    )
    def create(
        self, request: Request, body: identity_shapes.ApiKeyRequest
    ) -> identity_shapes.ApiKeyDto:
        """Make a key. The reply holds it in full, and no later one does."""
        made, key = api_keys.create(self.client, created_by=self.user, **dict(body))
        return identity_shapes.ApiKeyDto.from_row(made, key)

    @operation("identity", "Revoke Api Key", access=ADMIN, status=204)
    def destroy(self, request: Request, api_key_id: int) -> None:
        """End a key, within a second everywhere. Once more does nothing."""
        api_keys.revoke(self.client, api_key_id=api_key_id, by=self.user)


class SubscriptionViewSet(TenantViewSet):
    """The plan and the credits of the caller's client."""

    @operation(
        "identity", "Get Subscription", access=BEARER, returns=identity_shapes.SubscriptionDto
    )
    def retrieve(self, request: Request) -> identity_shapes.SubscriptionDto:
        """The plan, what is left of its credits, and what was used in this period."""
        return identity_shapes.SubscriptionDto.from_row(self.client.subscription)

    @operation(
        "identity",
        "Top Up",
        access=ADMIN,
        body=identity_shapes.TopUpAmount,
        returns=identity_shapes.SubscriptionDto,
        also={409: Error},
    )
    def top_up(
        self, request: Request, body: identity_shapes.TopUpAmount
    ) -> identity_shapes.SubscriptionDto:
        """Record credits that were bought elsewhere; this platform takes no payment itself.

        The same `reference` again adds nothing and answers as the first time; with another
        amount it is a 409 `reference_taken`. An ended plan keeps what is added and does not begin
        again by it.
        """
        return identity_shapes.SubscriptionDto.from_row(
            credits.top_up(
                self.client.pk, amount=body.amount, reference=body.reference, by=self.user
            )
        )
