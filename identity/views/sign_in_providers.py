"""Operations of the tag `identity`: a client's own OpenID provider."""

from chatplatform.api.operation import operation
from identity.auth import ADMIN, TenantViewSet
from identity.schemas.sign_in_providers import SignInProviderDto
from identity.services import sign_in_providers


class SignInProviderViewSet(TenantViewSet):
    @operation("identity", "Get Sign In Provider", access=ADMIN, also={404: None})
    def retrieve(self) -> SignInProviderDto:
        """Get the OpenID provider at which your people sign in; 404 if your company has none."""
        return sign_in_providers.described(sign_in_providers.get(self.client))

    @operation("identity", "Set Sign In Provider", access=ADMIN, waits=True)
    def update(self, body: SignInProviderDto) -> SignInProviderDto:
        """Set or change the OpenID provider at which your people sign in to the site.

        Owners can sign in there only if an owner made the latest change. Fields left out keep their
        value, or get their default in a new provider; a new issuer needs a secret. The provider is
        not called until somebody signs in, so test it.
        """
        row = sign_in_providers.store(self.client, body=body, by=self.user)
        return sign_in_providers.described(row)

    @operation("identity", "Remove Sign In Provider", access=ADMIN, status=204)
    def destroy(self) -> None:
        """Remove the provider and the links to people's accounts there. People then sign in by
        password again. Does nothing if your company has none."""
        sign_in_providers.remove(self.client, by=self.user)
