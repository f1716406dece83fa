"""What a page may say of its visitor: a public key is readable by everybody."""

from bots.models import Bot
from bots.services import visitor_identity
from chatplatform.api.errors import Invalid, NotAuthenticated
from chats.shapes.conversation import ChatCreation
from chats.shapes.people import CustomerInfo

_ONLY_SECRET = "Only with a secret key."


class IdentityNotSigned(NotAuthenticated):
    code = "identity_not_signed"
    detail = (
        "A page says who its visitor is only with the signature of this external_id, made by your"
        " server with the bot's identity secret."
    )


def ensure_may_say(bot: Bot, creation: ChatCreation) -> None:
    """422 for what only the client's server may say of a chat: its tags and its metadata. 401 for
    who the customer is, unless that is signed."""
    for name in ("tags", "metadata"):
        if getattr(creation, name):
            raise Invalid.field("body", name, msg=_ONLY_SECRET)
    external_id, signature = creation.customer.external_id, creation.identity_signature
    if external_id is None:
        return
    if not visitor_identity.is_signed(bot, external_id, signature=signature or ""):
        raise IdentityNotSigned


def refuse_external_id(info: CustomerInfo, *location: str) -> None:
    """422 if a page names an external id: it cannot prove who its visitor is."""
    if info.external_id:
        raise Invalid.field(
            "body", *location, "external_id",
            msg="A public key says who the customer is only when it opens a chat, and signed.",
        )  # fmt: skip
