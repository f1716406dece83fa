"""Operations of the tag `identity`: a client's people."""

from typing import Any

from chatplatform.api.operation import operation
from chatplatform.api.pagination import Page, page
from identity.auth import ADMIN, BEARER, BEARER_ANY_ROLE, TenantViewSet
from identity.models import User
from identity.schemas import users as user_schemas
from identity.schemas.tokens import TokenResponse
from identity.services import users


class UserViewSet(TenantViewSet):
    @operation("identity", "Read Users Me", access=BEARER)
    def me(self) -> user_schemas.UserDto:
        """Get the person to whom the access token belongs."""
        return user_schemas.UserDto.from_row(self.user)

    @operation("identity", "Update Users Me", access=BEARER_ANY_ROLE)
    def update_me(self, body: user_schemas.OwnUser) -> user_schemas.UserDto:
        """Change your name, language or picture, or whether you are away; fields left out keep
        their value."""
        return user_schemas.UserDto.from_row(users.update_own(self.user, body))

    @operation("identity", "Change My Password", access=BEARER_ANY_ROLE, also={429: None})
    def change_password(self, body: user_schemas.OwnPassword) -> TokenResponse:
        """Change your password. All your sign-ins end, including this one: continue with the tokens
        in the response, which do not have the scope `mcp:write`. You are notified by email.

        422 if `current_password` is wrong, or if you have no password. Both count as a failed
        sign-in: after 10 within 15 minutes, 429. 401 `provider_required` if your company requires
        single sign-on and you are not an owner; your access token stays valid.
        """
        return users.change_own_password(
            self.user, current=body.current_password, new=body.new_password
        )

    @operation(
        "identity", "Create Client User", access=ADMIN, status=201, also={409: None, 429: None}
    )
    def create(self, body: user_schemas.UserDto) -> user_schemas.UserDto:
        """Add a person to your company. The platform mails them a welcome or, if you send no
        `password`, a link to choose one.

        409 `email_taken` if the email address already has an account, in any company. Only an owner
        may add an owner; otherwise 403. A company can add 100 people an hour; then 429.
        """
        fields = body.model_dump(include={"email", "full_name", "role", "language", "can_train"})
        user = users.create(self.client, **fields, password=body.password, by=self.user)
        return user_schemas.UserDto.from_row(user)

    @operation(
        "identity", "Get My Company Users", access=BEARER, returns=user_schemas.UsersResponse
    )
    def list(self, query: Page) -> dict[str, Any]:
        """List your company's people, in the order they were added."""
        return page(
            User.objects.for_client(self.client), query, schema=user_schemas.UserDto.from_row
        )

    @operation("identity", "Update User Disable Flag", access=ADMIN, also={409: None})
    def disable(self, user_id: int, body: user_schemas.UserDisableFlag) -> user_schemas.UserDto:
        """Disable or enable a person. Disabling signs the person out everywhere at once and returns
        their conversations to the queue; enabling lets the person sign in again.

        Only an owner may disable or enable an owner; otherwise 403. The last owner cannot be
        disabled: 409 `last_owner`.
        """
        user = users.set_disabled(self.client, user_id=user_id, **dict(body), by=self.user)
        return user_schemas.UserDto.from_row(user)

    @operation("identity", "Reset User Password", access=ADMIN, status=204)
    def reset_password(self, user_id: int, body: user_schemas.UserPassword) -> None:
        """Set a person's password: the body has the new password, and no link is mailed. The person
        is signed out everywhere and told by email that the password has changed.

        Only an owner may set an owner's password; otherwise 403.
        """
        users.reset_password(self.client, user_id=user_id, **dict(body), by=self.user)

    @operation("identity", "Update User Role", access=ADMIN, also={409: None})
    def set_role(self, user_id: int, body: user_schemas.UserRole) -> user_schemas.UserDto:
        """Change a person's role, and whether the person may also train bots (`can_train`).

        A new role makes the person's access tokens invalid at once; a refresh token still works and
        returns an access token with the new role. `can_train` takes effect with the next request.
        If the person becomes a viewer, the person's conversations return to the queue.

        Only an owner may add or change an owner; otherwise 403. The last owner keeps the role: 409
        `last_owner`.
        """
        user = users.set_role(self.client, user_id=user_id, **dict(body), by=self.user)
        return user_schemas.UserDto.from_row(user)
