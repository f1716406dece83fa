"""Operations of the tag `identity`: a client's own OpenID provider."""

from chatplatform.api.operation import operation
from identity.auth import ADMIN, TenantViewSet
from identity.services import sign_in_providers
from identity.shapes.providers import SignInProviderDto


class SignInProviderViewSet(TenantViewSet):
    @operation("identity", "Get Sign In Provider", access=ADMIN, also={404: None})
    def retrieve(self) -> SignInProviderDto:
        """The OpenID provider at which your people sign in; 404 if there is none."""
        return sign_in_providers.described(sign_in_providers.get(self.client))

    @operation("identity", "Set Sign In Provider", access=ADMIN, waits=True)
    def update(self, body: SignInProviderDto) -> SignInProviderDto:
        """Set the OpenID provider at which your people sign in to the site, in place of the one
        before.

        It signs owners in only if an owner set it. Fields left out get their default; the secret
        stays, if the issuer does.
        """
        row = sign_in_providers.store(self.client, body=body, by=self.user)
        return sign_in_providers.described(row)

    @operation("identity", "Remove Sign In Provider", access=ADMIN, status=204)
    def destroy(self) -> None:
        """Forget the provider and who signed in by it: passwords sign in again. Without one it does
        nothing."""
        sign_in_providers.remove(self.client, by=self.user)
