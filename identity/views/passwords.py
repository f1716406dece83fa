"""Operations of the tag `identity`: a forgotten password is reset by mail."""

from chatplatform.api.operation import PUBLIC, operation
from chatplatform.api.request_context import current_address
from identity.auth import TenantViewSet
from identity.services import passwords
from identity.shapes.passwords import (
    ForgotPasswordRequest,
    ResetPasswordRequest,
    VerifyResetTokenRequest,
)


class PasswordResetViewSet(TenantViewSet):
    @operation("identity", "Forgot Password", access=PUBLIC, status=202, also={429: None})
    def request_reset(self, body: ForgotPasswordRequest) -> None:
        """Mail a link to choose a new password, if an account has this address.

        The answer is the same whether or not there is such an account. The link works once, for
        an hour, and replaces earlier links. After 5 requests for an e-mail address, or 30 from a
        network address, within an hour: 429 with Retry-After.
        """
        passwords.request_reset(email=body.email, address=current_address())

    @operation(
        "identity", "Verify Reset Token", access=PUBLIC, status=204, also={400: None, 429: None}
    )
    def verify(self, body: VerifyResetTokenRequest) -> None:
        """Check whether a link still works; 400 `reset_token_invalid` if it does not.

        After 6 wrong tokens from one address within 15 minutes: 429, even for a right one, which
        is then void.
        """
        passwords.check_reset(token=body.token, address=current_address())

    @operation("identity", "Reset Password", access=PUBLIC, status=204, also={400: None, 429: None})
    def reset(self, body: ResetPasswordRequest) -> None:
        """Set the password of the person to whom the link was sent; all their tokens end.

        400 `reset_token_invalid` if the link is wrong, used or expired; such a try counts as in
        Verify Reset Token.
        """
        passwords.use_reset(token=body.token, password=body.new_password, address=current_address())
