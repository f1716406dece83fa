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

        Owners can use it only if an owner made the latest change. Fields that you leave out keep
        their values; for a new provider, they get their defaults. A new issuer needs a secret. The
        provider is not called until somebody signs in, so test it.
        """
        row = sign_in_providers.store(self.client, body=body, by=self.user)
        return sign_in_providers.described(row)

    @operation("identity", "Remove Sign In Provider", access=ADMIN, status=204)
    def destroy(self) -> None:
        """Remove the provider, and forget who has which account there. Does nothing if there is no
        provider.

        Everyone then signs in with a password; people who never had one get a link to set it from
        *Forgot Password*. Nobody is signed out.
        """
        sign_in_providers.remove(self.client, by=self.user)
