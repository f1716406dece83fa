"""Operations of the tag `identity`: a client's own OpenID provider."""

from chatplatform.api.operation import operation
from identity.auth import ADMIN, TenantViewSet
from identity.schemas.sign_in_providers import SignInProviderDto
from identity.services import sign_in_providers


class SignInProviderViewSet(TenantViewSet):
    @operation("identity", "Get Sign In Provider", access=ADMIN, also={404: None})
    def retrieve(self) -> SignInProviderDto:
        """Get your company's OpenID provider; 404 if it has none."""
        return sign_in_providers.described(sign_in_providers.get(self.client))

    @operation("identity", "Set Sign In Provider", access=ADMIN, waits=True)
    def update(self, body: SignInProviderDto) -> SignInProviderDto:
        """Set or change your company's OpenID provider for signing in to the site.

        Owners can sign in at the provider only if an owner made the latest change. Fields left out
        keep their value, or get their default if you had no provider. A new `issuer` needs an
        `application_secret`. The provider is not called until somebody signs in, so test it with a
        sign-in.
        """
        row = sign_in_providers.store(self.client, body=body, by=self.user)
        return sign_in_providers.described(row)

    @operation("identity", "Remove Sign In Provider", access=ADMIN, status=204)
    def destroy(self) -> None:
        """Remove the OpenID provider with which your company's people sign in, and the links to
        their accounts there. Does nothing if there is no provider.

        Everyone then signs in with a password. Nothing is mailed: people who never had a password
        request a link to set one with *Forgot Password*. Nobody is signed out.
        """
        sign_in_providers.remove(self.client, by=self.user)
