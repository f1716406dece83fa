"""Operations of the tag `identity`: API keys."""

from typing import Any

from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from identity.auth import ADMIN, TenantViewSet
from identity.services import api_keys
from identity.shapes.api_keys import ApiKeyDto, ApiKeyRequest, ApiKeysResponse


class ApiKeyViewSet(TenantViewSet):
    @operation("identity", "List Api Keys", access=ADMIN, returns=ApiKeysResponse)
    def list(self, query: Page) -> dict[str, Any]:
        """The client's keys, newest first, including revoked ones; never their secrets."""
        return page(
            api_keys.list_for_client(self.client), query, by="-id", shape=ApiKeyDto.from_row
        )

    @operation("identity", "Create Api Key", access=ADMIN, status=201)
    def create(self, body: ApiKeyRequest) -> ApiKeyDto:
        """Create a key. Only this reply holds it in full."""
        row, key = api_keys.create(self.client, created_by=self.user, **dict(body))
        return ApiKeyDto.from_row(row, key)

    @operation("identity", "Revoke Api Key", access=ADMIN, status=204)
    def destroy(self, api_key_id: int) -> None:
        """End a key, within a second everywhere. Revoking it again does nothing."""
        api_keys.revoke(self.client, api_key_id=api_key_id, by=self.user)
