"""The texts of what messaging channels report about a message besides its text, for the desk and
for the API."""

from django import template
from django.utils.translation import gettext, gettext_noop

register = template.Library()

# The text of a line of each kind (see `chats.services.core.channel_context`).
TEXTS = {
    "quote": gettext_noop("Replying to: {text}"),
    "missing_quote": gettext_noop("Replying to a message that isn't here"),
    "product": gettext_noop("Product: {text}"),
    "post": gettext_noop("Shared a post: {text}"),
    "reel": gettext_noop("Shared a reel: {text}"),
    "story": gettext_noop("Shared a story: {text}"),
    "forwarded": gettext_noop("Forwarded"),
    "forwarded_from": gettext_noop("Forwarded from {text}"),
    "forwarded_often": gettext_noop("Forwarded many times"),
    "advertisement": gettext_noop("Came from an ad: {text}"),
    "link": gettext_noop("Came from a link: {text}"),
    "post_link": gettext_noop("Came from a post: {text}"),
    "story_reply": gettext_noop("Replied to your story"),
    "story_mention": gettext_noop("Mentioned you in their story"),
    "answer": "{text}",
    "form": gettext_noop("Filled in a form"),
    "order": gettext_noop("Order: {text}"),
    "contact": gettext_noop("Contact: {text}"),
    "own_number": gettext_noop("Shared their own phone number: {text}"),
    "poll": gettext_noop("Poll: {text}"),
    "call": gettext_noop("The customer is calling"),
    "answered_call": gettext_noop("Call from the customer, answered, {text}"),
    "missed_call": gettext_noop("Missed call from the customer"),
    "call_allowed": gettext_noop("Allows you to call"),
    "call_refused": gettext_noop("Doesn't allow you to call"),
    "opted_out": gettext_noop("Asked for no more messages"),
    "opted_in": gettext_noop("Wants messages again"),
    "tapped": gettext_noop("Tapped a button: {text}"),
    "unsupported": gettext_noop("Sent something that can't be shown here: {text}"),
    "sticker": gettext_noop("Sticker: {text}"),
    "live_location": gettext_noop("Live location"),
    "live_photo": gettext_noop("Live photo"),
    "video_message": gettext_noop("Video message"),
    "shared_link": gettext_noop("Shared a link: {text}"),
    "started": gettext_noop("Started the chat"),
    "messages_resumed": gettext_noop("The customer gets messages again."),
    "offers_refused": gettext_noop("The customer opted out of offers."),
    "offers_wanted": gettext_noop("The customer opted in to offers again."),
    "blocked": gettext_noop("The customer blocked your account."),
    "unblocked": gettext_noop("The customer unblocked your account."),
    "thread_taken": gettext_noop("Another app answers this conversation now."),
    "thread_returned": gettext_noop("The other app handed this conversation back."),
    # What two kinds of lines are called in some messages instead.
    "only_product": gettext_noop("Shared a product: {text}"),
    "advertisement_number": gettext_noop("Came from an advertisement ({text})"),
}


@register.simple_tag
def channel_lines() -> dict[str, str]:
    """The texts in the reader's language."""
    return {kind: gettext(text) for kind, text in TEXTS.items()}
