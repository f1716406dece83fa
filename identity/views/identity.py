"""Operations of the tag `identity`: registration, sign-in, the caller, API keys."""

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from chatplatform.api import PUBLIC, Form, TenantViewSet, operation
from chatplatform.errors import json_response
from chatplatform.openapi import Error
from chatplatform.pagination import Page, page
from identity import serializers as s
from identity.auth import ADMIN, BEARER, BEARER_ANY_ROLE, bearer_token
from identity.services import api_keys, clients, credits, logins, tokens

LoginBody = s.Body_login_for_access_token2_identity_token2_post
LOGIN_FORM = Form(LoginBody, media_type="application/x-www-form-urlencoded")


class IdentityViewSet(TenantViewSet):
    """The caller and his client."""

    @operation(
        "identity",
        "Register Trial",
        access=PUBLIC,
        body=s.RegisterTrialDto,
        returns=s.ClientDto,
        status=201,
        also={409: None},
    )
    def register_trial(self, request: Request, body: s.RegisterTrialDto) -> s.ClientDto:
        """Register a company with its owner and a trial plan. 409 `email_taken`."""
        return s.ClientDto.of(clients.register_trial(body))

    @operation(
        "identity",
        "Login For Access Token2",
        access=PUBLIC,
        body=LOGIN_FORM,
        returns=s.TokenResponse,
        also={400: s.OAuthError, 401: s.OAuthError, 429: Error},
    )
    def token(self, request: Request, body: LoginBody) -> HttpResponse:
        """Sign in with e-mail address and password, or exchange a refresh token.

        401 `invalid_grant` for a wrong, expired or used one. After 10 failures of an account
        from one address, or 100 from one address, within 15 minutes: 429 with Retry-After, also
        for the right password.
        """
        address = request._request.META.get("REMOTE_ADDR", "")
        granted = logins.grant(body, address=address)
        return json_response(granted.model_dump(mode="json"), headers={"Pragma": "no-cache"})

    @operation("identity", "Revoke Token", access=BEARER_ANY_ROLE, status=204)
    def revoke(self, request: Request) -> None:
        """Sign out: end the sign-in of this access token, with its refresh tokens."""
        tokens.revoke(bearer_token(request._request))

    @operation("identity", "Read Users Me", access=BEARER, returns=s.UserDto)
    def me(self, request: Request) -> s.UserDto:
        """Who calls."""
        return s.UserDto.of(self.user)

    @operation("identity", "Get Client Info", access=BEARER, returns=s.ClientDto)
    def retrieve_client(self, request: Request) -> s.ClientDto:
        """The caller's client, with its plan."""
        return s.ClientDto.of(self.client)


class ApiKeyViewSet(TenantViewSet):
    """Keys of the caller's client."""

    @operation("identity", "List Api Keys", access=ADMIN, query=Page, returns=s.ApiKeysResponse)
    def list(self, request: Request, query: Page) -> dict[str, Any]:
        """The client's keys, newest first, revoked ones too; never what they open with."""
        return page(api_keys.list_of(self.client), query, by="-id", shape=s.ApiKeyDto.of)

    @operation(
        "identity",
        "Create Api Key",
        access=ADMIN,
        body=s.ApiKeyRequest,
        returns=s.ApiKeyDto,
        status=201,
    )
    def create(self, request: Request, body: s.ApiKeyRequest) -> s.ApiKeyDto:
        """Make a key. The reply holds it in full, and no later one does."""
        made, key = api_keys.create(self.client, created_by=self.user, **dict(body))
        return s.ApiKeyDto.of(made, key)

    @operation("identity", "Revoke Api Key", access=ADMIN, status=204)
    def destroy(self, request: Request, api_key_id: int) -> None:
        """End a key, within a second everywhere. Once more does nothing."""
        api_keys.revoke(self.client, api_key_id=api_key_id)


class SubscriptionViewSet(TenantViewSet):
    """The plan and the credits of the caller's client."""

    @operation("identity", "Get Subscription", access=BEARER, returns=s.SubscriptionDto)
    def retrieve(self, request: Request) -> s.SubscriptionDto:
        """The plan, what is left of its credits, and what was used in this period."""
        return s.SubscriptionDto.of(self.client.subscription)

    @operation(
        "identity",
        "Top Up",
        access=ADMIN,
        body=s.TopUpAmount,
        returns=s.SubscriptionDto,
        also={409: Error},
    )
    def top_up(self, request: Request, body: s.TopUpAmount) -> s.SubscriptionDto:
        """Record credits that were bought elsewhere; this platform takes no payment itself.

        The same `reference` again adds nothing and answers as the first time; with another
        amount it is a 409 `reference_taken`. An ended plan keeps what is added and does not begin
        again by it.
        """
        return s.SubscriptionDto.of(
            credits.top_up(
                self.client.pk, amount=body.amount, reference=body.reference, by=self.user
            )
        )
