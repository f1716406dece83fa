"""What a page may say of its visitor: a public key is readable by everybody."""

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
    """422 for what only the client's server may say of a chat: its tags and its metadata. 401 for
    who the customer is, unless that is signed."""
    for name in ("tags", "metadata"):
        if getattr(creation, name):
            raise Invalid.field("body", name, msg=_ONLY_SECRET)
    ensure_signed(bot, creation.customer.external_id, creation.identity_signature)


def ensure_signed(bot: Bot, external_id: str | None, signature: str | None) -> None:
    """401 for an external id that the client's server has not signed."""
    if external_id is None:
        return
    if not visitor_identity.is_signed(bot, external_id, signature=signature or ""):
        raise IdentityNotSigned


def ensure_may_name(bot: Bot, info: ChatCustomer) -> None:
    """422 if a page names a chat's customer by an external id without a signature, 401 for a wrong
    one."""
    if not info.identity_signature:
        raise Invalid.field("body", "external_id", msg="Only with an identity_signature.")
    ensure_signed(bot, info.external_id, info.identity_signature)
