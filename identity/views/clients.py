"""Operations of the tag `identity`: the caller's client, its plan and its credits."""

from chatplatform.api.openapi import Error
from chatplatform.api.operation import PUBLIC, operation
from chatplatform.api.request_context import current_address
from identity.auth import ADMIN, BEARER, TenantViewSet
from identity.services import channel_tokens, clients, credits
from identity.shapes.clients import ClientDto, RegisterTrialDto
from identity.shapes.subscriptions import SubscriptionDto, TopUpAmount
from identity.shapes.tokens import SocialnetAccessToken


class ClientViewSet(TenantViewSet):
    @operation("identity", "Register Trial", access=PUBLIC, status=201, also={409: None, 429: None})
    def register_trial(self, body: RegisterTrialDto) -> ClientDto:
        """Register a company with its owner and a trial plan. 409 `email_taken`.

        After 20 registrations from one address within an hour: 429 with Retry-After.
        """
        return ClientDto.from_row(clients.register_trial(body, address=current_address()))

    @operation("identity", "Get Client Info", access=BEARER)
    def retrieve(self) -> ClientDto:
        """The caller's client, with its plan."""
        return ClientDto.from_row(self.client)

    @operation("identity", "Add Socialnet Access Token", access=ADMIN, status=204)
    def store_socialnet_token(self, body: SocialnetAccessToken) -> None:
        """Store the client's access token at socialnet, encrypted. No operation returns it.

        Replaces the token that was stored before.
        """
        channel_tokens.store(self.client, channel="socialnet", by=self.user, **dict(body))


class SubscriptionViewSet(TenantViewSet):
    @operation("identity", "Get Subscription", access=BEARER)
    def retrieve(self) -> SubscriptionDto:
        """The plan, the credits that are left, and the credits used in this period."""
        return SubscriptionDto.from_row(self.client.subscription)

    @operation("identity", "Top Up", access=ADMIN, also={409: Error})
    def top_up(self, body: TopUpAmount) -> SubscriptionDto:
        """Record credits that were bought elsewhere; the platform itself takes no payments.

        Repeating a `reference` adds nothing and returns the same answer; with another amount it
        is a 409 `reference_taken`. A top-up does not restart a plan that has ended; the credits
        are kept.
        """
        return SubscriptionDto.from_row(
            credits.top_up(
                self.client.pk, amount=body.amount, reference=body.reference, by=self.user
            )
        )
