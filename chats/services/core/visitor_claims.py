"""Checks what a caller with a public key claims about its visitor; anybody can read such a key."""

from bots.models import Bot
from bots.services import visitor_identity
from chatplatform.api.errors import Invalid, NotAuthenticated
from chats.schemas.conversation import ChatCreation

# The fields of a new conversation that a visitor may set; all others are for secret keys.
_VISITOR_FIELDS = {
    *("bot_id", "customer", "identity_signature"),
    *("language", "message", "channel", "location"),
}


class IdentityNotSigned(NotAuthenticated):
    code = "identity_not_signed"
    detail = (
        "A public key can name its visitor only with your server's signature of the external_id,"
        " made with the bot's identity secret."
    )


def ensure_visitor_may_set(bot: Bot, creation: ChatCreation) -> None:
    """Raise 422 if a visitor sets a field that is for secret keys, such as tags, or 401 if the
    external id is not signed."""
    for name in sorted(creation.model_fields_set - _VISITOR_FIELDS):
        if getattr(creation, name):
            raise Invalid.field("body", name, msg="Only with a secret key.")
    ensure_signed(bot, creation.customer.external_id, creation.identity_signature)


def ensure_signed(bot: Bot, external_id: str | None, signature: str | None) -> None:
    """Raise 401 if there is an external id without the client's signature."""
    signed = signature or ""
    if external_id and not visitor_identity.is_signed(bot, external_id, signature=signed):
        raise IdentityNotSigned
