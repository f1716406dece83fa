"""Operations of the tags `identity` and `config`: clients, their plans, keys and settings."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse

from chatplatform.api.error_schemas import Error
from chatplatform.api.errors import json_response
from chatplatform.api.operation import PUBLIC, operation
from chatplatform.api.pagination import Page, page
from chatplatform.api.request_context import current_address
from identity.auth import ADMIN, BEARER, TenantViewSet
from identity.models import ApiKey, CreditOrder
from identity.schemas import clients as client_schemas
from identity.schemas.configs import ClientConfigDto, EmailNotificationRequest, TestedRecipients
from identity.services import api_keys, clients, configs, credit_orders, mails, registrations


class ClientViewSet(TenantViewSet):
    @operation(
        "identity",
        "Register Trial",
        access=PUBLIC,
        status=201,
        returns=client_schemas.ClientDto,
        also={202: client_schemas.RegistrationPending, 403: None, 409: None, 429: None},
    )
    def register_trial(self, body: client_schemas.RegisterTrialDto) -> HttpResponse:
        """Register a company with its owner and a trial plan.

        A 202 means that a link was emailed. It is valid for a day: *Confirm Registration* with its
        token creates the company. If the email address has an account, the response is the same,
        but the email says so. Only a server in development mode creates the company at once: 201,
        or 409 `email_taken`.

        403 `registration_closed` if only the platform's staff can add companies; 503
        `mail_not_configured` if the platform has no mail server. At most 5 requests an hour for an
        email address, and 20 from an IP address; then 429 with `Retry-After`.
        """
        client = registrations.register(body, address=current_address())
        if client is None:
            return json_response(client_schemas.RegistrationPending(), 202)
        return json_response(client_schemas.ClientDto.from_row(client), 201)

    @operation(
        "identity",
        "Confirm Registration",
        access=PUBLIC,
        status=201,
        also={400: None, 409: None, 429: None},
    )
    def confirm_registration(
        self, body: client_schemas.ConfirmRegistrationRequest
    ) -> client_schemas.ClientDto:
        """Create the company that a mailed link confirms. Its owner can then sign in.

        The link works once and expires after a day; then 400 `registration_token_invalid`. 422 if
        `password` is not the one given at registration, 409 `email_taken` if the email address now
        has an account. At most 10 attempts in 15 minutes with a link, and 30 from an IP address;
        then 429 with `Retry-After`.
        """
        client = registrations.confirm(**dict(body), address=current_address())
        return client_schemas.ClientDto.from_row(client)

    @operation(
        "identity", "Resend Registration", access=PUBLIC, status=202, also={403: None, 429: None}
    )
    def resend_registration(self, body: client_schemas.ResendRegistrationRequest) -> None:
        """Email a new link for the latest registration of an email address.

        The response is the same if the address has no registration. The previous link becomes
        invalid. A registration is kept for three days. Requests count towards the limits of
        *Register Trial*. 403 `registration_closed` if only the platform's staff can add companies;
        503 `mail_not_configured` if the platform has no mail server.
        """
        registrations.request_new_link(email=body.email, address=current_address())

    @operation("identity", "Get Client Info", access=BEARER)
    def retrieve(self) -> client_schemas.ClientDto:
        """Get your company, with its id for paths with `client_id`, its plan and its credits."""
        return client_schemas.ClientDto.from_row(self.client)

    @operation("identity", "Add Socialnet Access Token", access=ADMIN, status=204)
    def store_socialnet_token(self, body: client_schemas.SocialnetAccessToken) -> None:
        """Store a person's socialnet access token for your company, replacing any earlier one: the
        same as *Store User Token* on socialnet, whose description says when you need it and which
        permissions the token must have.

        *Client Messenger List Pages* and *Client Messenger Connect Page* then use it. It is stored
        encrypted, never returned, and not checked until it is used.
        """
        clients.store_channel_access_token(
            self.client, channel="socialnet", by=self.user, **dict(body)
        )


class SubscriptionViewSet(TenantViewSet):
    @operation("identity", "Get Subscription", access=BEARER)
    def retrieve(self) -> client_schemas.SubscriptionDto:
        """Get your company's plan, the credits left, and the credits used in the plan's current
        period.

        `credits_left` may exceed `credits_included`, since top-ups are added and unused credits are
        kept. `credits_used` restarts at 0 in each period.
        """
        return client_schemas.SubscriptionDto.copy_from(self.client.subscription)

    @operation("identity", "Top Up", access=ADMIN, status=202, also={409: Error})
    def top_up(self, body: client_schemas.TopUpAmount) -> client_schemas.CreditOrder:
        """Order credits. They are added when the platform's staff or its payment provider confirms
        the payment; *Get Credit Order* shows the status. The response has no payment link.

        Repeating a `reference` returns the existing order; with another amount it is a 409
        `reference_taken`. A top-up does not restart a plan that has ended; the credits are kept.
        """
        order = credit_orders.create(self.client, **dict(body), by=self.user)
        return client_schemas.CreditOrder.copy_from(order)

    @operation(
        "identity",
        "List Credit Orders",
        access=ADMIN,
        returns=client_schemas.CreditOrdersResponse,
    )
    def orders(self, query: Page) -> dict[str, Any]:
        """List your company's orders for credits, newest first."""
        rows = CreditOrder.objects.for_client(self.client)
        return page(rows, query, by="-id", schema=client_schemas.CreditOrder.copy_from)

    @operation("identity", "Get Credit Order", access=ADMIN)
    def order(self, order_id: uuid.UUID) -> client_schemas.CreditOrder:
        """Get one order for credits, with its status: `pending`, `paid` or `refused`."""
        return client_schemas.CreditOrder.copy_from(credit_orders.get(self.client, order_id))

    @operation(
        "identity",
        "Receive Payment",
        access=PUBLIC,
        is_counted=False,
        status=204,
        also={403: Error, 404: Error, 409: Error},
    )
    def receive_payment(self, request: HttpRequest, body: client_schemas.CreditPayment) -> None:
        """Report that an order was paid or refused. The platform's payment provider calls this;
        your integration does not.

        The request is signed as in Standard Webhooks (`webhook-id`, `webhook-timestamp`,
        `webhook-signature`) with `PAYMENT_WEBHOOK_SECRET`. 403 `wrong_signature` if the signature
        is missing, wrong or more than five minutes old; 503 `payments_not_configured` if no secret
        is set, `client_frozen` while the company's data is being moved. 409 `order_closed` if the
        order was closed with the other status, `payment_differs` if the amount or reference is not
        the order's. Repeating a report changes nothing.
        """
        credit_orders.receive_payment(body, raw=request.body, headers=request.headers)


class ApiKeyViewSet(TenantViewSet):
    @operation("identity", "List Api Keys", access=ADMIN, returns=client_schemas.ApiKeysResponse)
    def list(self, query: Page) -> dict[str, Any]:
        """List your company's API keys, newest first, including revoked keys, without their
        secrets."""
        keys = ApiKey.objects.for_client(self.client)
        return page(keys, query, by="-id", schema=client_schemas.ApiKeyDto.from_row)

    @operation(
        "identity",
        "Create Api Key",
        access=ADMIN,
        status=201,
        also={404: Error},
        gives_credentials=True,
    )
    def create(self, body: client_schemas.ApiKeyRequest) -> client_schemas.ApiKeyDto:
        """Create an API key. Only this response contains the whole `key`, so store it."""
        row, key = api_keys.create(self.client, created_by=self.user, **dict(body))
        return client_schemas.ApiKeyDto.from_row(row, key)

    @operation("identity", "Update Api Key", access=ADMIN)
    def update(self, api_key_id: int, body: client_schemas.ApiKeyDto) -> client_schemas.ApiKeyDto:
        """Change an API key's name, limits or `mcp_write`; fields left out keep their value.

        The change takes effect within a second. A revoked or expired key can be changed, but stays
        revoked or expired. 422 for `daily_credits` of a secret key or `mcp_write` of a public key.
        """
        row = api_keys.change(self.client, api_key_id=api_key_id, change=body, by=self.user)
        return client_schemas.ApiKeyDto.from_row(row)

    @operation("identity", "Revoke Api Key", access=ADMIN, status=204)
    def destroy(self, api_key_id: int) -> None:
        """Revoke an API key. It stops working within a second. Revoking it again does nothing."""
        api_keys.revoke(self.client, api_key_id=api_key_id, by=self.user)


class ConfigViewSet(TenantViewSet):
    @operation("config", "Getclientchatconfigrouter", access=BEARER)
    def retrieve(self, client_id: int) -> ClientConfigDto:
        """Get the settings for your company's conversations: business hours, assignment to agents,
        handover, answers, ending, ratings, automatic summaries and retention."""
        return ClientConfigDto.from_row(configs.get(self.client, client_id))

    @operation("config", "Updateclientchatconfigrouter", access=ADMIN, also={409: Error})
    def update(self, client_id: int, body: ClientConfigDto) -> ClientConfigDto:
        """Change the settings for your company's conversations; fields left out keep their value.

        Send the `version` that you read to detect changes by others: if the settings have changed
        since, nothing is changed, and the 409 `stale_version` contains the current `version`.
        """
        config = configs.get(self.client, client_id)
        return ClientConfigDto.from_row(configs.update(config, body, by=self.user))


class EmailNotificationViewSet(TenantViewSet):
    @operation("config", "Get Email Notification", access=ADMIN)
    def retrieve(self, client_id: int) -> EmailNotificationRequest:
        """Get the settings for notifications by email: which ones are sent, and who gets them."""
        return EmailNotificationRequest.copy_from(mails.get_notification(self.client, client_id))

    @operation("config", "Update Email Notification", access=ADMIN)
    def update(self, client_id: int, body: EmailNotificationRequest) -> EmailNotificationRequest:
        """Change the settings for notifications by email: which ones are sent, and who gets them.
        Fields left out keep their value."""
        row = mails.get_notification(self.client, client_id)
        return EmailNotificationRequest.copy_from(
            mails.update_notification(row, body, by=self.user)
        )

    @operation(
        "config",
        "Test Email Notification",
        access=ADMIN,
        also={409: Error, 429: Error, 502: Error},
        waits=True,
    )
    def test(self, client_id: int) -> TestedRecipients:
        """Send a test email to the recipients of your notifications; the response lists them.

        409 `no_recipients` if there are none, 502 `mail_failed` if the mail server does not accept
        the email, 503 `mail_not_configured` if the platform has no mail server. At most 10 an hour;
        then 429 with `Retry-After`.
        """
        row = mails.get_notification(self.client, client_id)
        return TestedRecipients(recipients=mails.send_test(row))
