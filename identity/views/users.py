"""Operations of the tag `identity`: a client's people."""

from typing import Any

from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from identity.auth import ADMIN, BEARER, TenantViewSet
from identity.services import users
from identity.shapes.users import UserDisableFlag, UserDto, UserPassword, UserRole, UsersResponse


class UserViewSet(TenantViewSet):
    @operation("identity", "Read Users Me", access=BEARER)
    def me(self) -> UserDto:
        """The caller."""
        return UserDto.from_row(self.user)

    @operation(
        "identity", "Create Client User", access=ADMIN, status=201, also={409: None, 429: None}
    )
    def create(self, body: UserDto) -> UserDto:
        """Add a person, who gets a mail: a welcome, or without a password a link to choose one.

        409 `email_taken`. Only an owner adds owners: 403. After 100 within an hour: 429.
        """
        fields = body.model_dump(include={"email", "full_name", "role", "language"})
        user = users.create(self.client, **fields, password=body.password, by=self.user)
        return UserDto.from_row(user)

    @operation("identity", "Get My Company Users", access=BEARER, returns=UsersResponse)
    def list(self, query: Page) -> dict[str, Any]:
        """The client's people in the order in which they were added."""
        return page(users.list_for_client(self.client), query, shape=UserDto.from_row)

    @operation("identity", "Update User Disable Flag", access=ADMIN, also={409: None})
    def disable(self, user_id: int, body: UserDisableFlag) -> UserDto:
        """Disable a person, which ends all their tokens at once, or enable them again.

        Only an owner may do this to an owner: 403. The last owner cannot be disabled: 409
        `last_owner`.
        """
        return UserDto.from_row(
            users.set_disabled(self.client, user_id=user_id, **dict(body), by=self.user)
        )

    @operation("identity", "Reset User Password", access=ADMIN, status=204)
    def reset_password(self, user_id: int, body: UserPassword) -> None:
        """Set a person's password. Ends all their tokens at once and notifies them by mail.

        Only an owner may do this to an owner: 403.
        """
        users.reset_password(self.client, user_id=user_id, **dict(body), by=self.user)

    @operation("identity", "Update User Role", access=ADMIN, also={409: None})
    def set_role(self, user_id: int, body: UserRole) -> UserDto:
        """Give a person another role. Their access tokens end at once; a refresh token still
        works and returns an access token with the new role.

        Only an owner makes or changes owners: 403. The last owner keeps the role: 409
        `last_owner`.
        """
        return UserDto.from_row(
            users.set_role(self.client, user_id=user_id, **dict(body), by=self.user)
        )
