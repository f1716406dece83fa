"""Operations of the tag `identity`: choosing a new password by a mailed link."""

from chatplatform.api.operation import PUBLIC, operation
from chatplatform.api.request_context import current_address
from identity.auth import TenantViewSet
from identity.schemas.password_reset import (
    ForgotPasswordRequest,
    ResetPasswordRequest,
    VerifyResetTokenRequest,
)
from identity.services import passwords


class PasswordResetViewSet(TenantViewSet):
    @operation("identity", "Forgot Password", access=PUBLIC, status=202, also={429: None})
    def request_reset(self, body: ForgotPasswordRequest) -> None:
        """Email a link to choose a new password, if the address has an account.

        The response is the same if it has none. The link works once and expires after an hour. A
        new link makes the person's earlier links invalid, except those that were mailed in the last
        ten minutes. At most 5 requests an hour for an email address from one IP address, and 30
        from one IP address; then 429 with `Retry-After`.
        """
        passwords.request_reset(email=body.email, address=current_address())

    @operation(
        "identity", "Verify Reset Token", access=PUBLIC, status=204, also={400: None, 429: None}
    )
    def verify(self, body: VerifyResetTokenRequest) -> None:
        """Check whether a mailed link to choose a password still works; 400 `reset_token_invalid`
        if it does not.

        After 6 wrong tokens in 15 minutes from one IP address: 429, and a right token that comes
        from there becomes invalid.
        """
        passwords.check_reset(token=body.token, address=current_address())

    @operation("identity", "Reset Password", access=PUBLIC, status=204, also={400: None, 429: None})
    def reset(self, body: ResetPasswordRequest) -> None:
        """Set a new password with the token of a mailed link. The person is signed out everywhere.

        400 `reset_token_invalid` if the token is wrong, used or expired; this counts towards the
        limit of *Verify Reset Token*. 503 `client_frozen` while the company's data is being moved.
        """
        passwords.use_reset(token=body.token, password=body.new_password, address=current_address())
