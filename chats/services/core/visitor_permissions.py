"""What a caller with a public key may say about its visitor; anybody can read such a key."""

from bots.models import Bot
from bots.services import visitor_identity
from chatplatform.api.errors import Invalid, NotAuthenticated
from chats.shapes.conversation import ChatCreation
from chats.shapes.people import ChatCustomer

_ONLY_SECRET = "Only with a secret key."


class IdentityNotSigned(NotAuthenticated):
    code = "identity_not_signed"
    detail = (
        "A page says who its visitor is only with the signature of this external_id, made by your"
        " server with the bot's identity secret."
    )


def ensure_visitor_may_set(bot: Bot, creation: ChatCreation) -> None:
    """422 if a visitor sets tags or metadata, which only the client's server may set; 401 if the
    external id is not signed."""
    for name in ("tags", "metadata"):
        if getattr(creation, name):
            raise Invalid.field("body", name, msg=_ONLY_SECRET)
    ensure_signed(bot, creation.customer.external_id, creation.identity_signature)


def ensure_signed(bot: Bot, external_id: str | None, signature: str | None) -> None:
    """401 if there is an external id that the client's server has not signed."""
    if external_id is None:
        return
    if not visitor_identity.is_signed(bot, external_id, signature=signature or ""):
        raise IdentityNotSigned


def ensure_may_name(bot: Bot, info: ChatCustomer) -> None:
    """422 if the external id comes without a signature, 401 if the signature is wrong."""
    if not info.identity_signature:
        raise Invalid.field("body", "external_id", msg="Only with an identity_signature.")
    ensure_signed(bot, info.external_id, info.identity_signature)
