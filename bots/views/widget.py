"""API operations for a widget: fields about the customer, welcome message, banner."""

from datetime import UTC, datetime

from bots.schemas.widget import (
    BannerUploadResponseDto,
    Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post,
    BotBannerDto,
    CustomerInfoFields,
    KeyBotQuery,
    WelcomeMessages,
)
from bots.services import banner_picture, bots, customer_info_fields, welcome
from chatplatform.api.error_schemas import Error
from chatplatform.api.operation import Form, operation
from identity.auth import API_KEY, BEARER, TRAINER, TenantViewSet

BANNER = Form(Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post, files=("file",))


class CustomerInfoViewSet(TenantViewSet):
    @operation("AI / train", "Update Customer Info Field", access=TRAINER)
    def update(self, bot_id: int, body: CustomerInfoFields) -> CustomerInfoFields:
        """Replace the customer-info fields: what the bot asks a customer for. Values that customers
        have given are kept."""
        return customer_info_fields.update(bots.get(self.client, bot_id), body=body, by=self.user)

    @operation("AI / train", "Get Customer Info Field", access=BEARER)
    def retrieve(self, bot_id: int) -> CustomerInfoFields:
        """Get the customer-info fields: what the bot asks a customer for, in this order."""
        return CustomerInfoFields.from_bot(bots.get(self.client, bot_id))


class WelcomeViewSet(TenantViewSet):
    @operation("AI / train", "Update Client Customer Welcome Message Route", access=TRAINER)
    def update(self, bot_id: int, body: WelcomeMessages) -> WelcomeMessages:
        """Replace the bot's welcome messages, with which conversations begin, by language: a
        language that is left out has none afterwards."""
        return welcome.update_messages(bots.get(self.client, bot_id), body=body, by=self.user)

    @operation("AI / train", "Get Client Customer Welcome Message Route", access=BEARER)
    def retrieve(self, bot_id: int) -> WelcomeMessages:
        """Get the bot's welcome messages, with which conversations begin, by language."""
        bot = bots.get(self.client, bot_id)
        return WelcomeMessages.model_construct(messages=bot.welcome_message)


class BannerViewSet(TenantViewSet):
    # Re-encoding the picture waits for a child process.
    @operation("AI / train", "Upload Banner Image Route", access=TRAINER, body=BANNER, waits=True)
    def upload(
        self, bot_id: int, body: Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post
    ) -> BannerUploadResponseDto:
        """Upload a picture and replace the banner above the chat: the picture, its link, its
        alternative text and the period in which it is shown.

        The body is a form (`multipart/form-data`) with the picture in `file`. The other fields are
        replaced too: a field left out becomes empty. The response describes the stored picture. 413
        if the picture has more than 5,000,000 bytes. 422 if it is not a PNG, JPEG or WebP image,
        has over 16,000,000 pixels, or is damaged.
        """
        return banner_picture.upload(bots.get(self.client, bot_id), body=body, by=self.user)

    @operation("AI / train", "Get Bot Banner Route", access=BEARER)
    def retrieve(self, bot_id: int) -> BotBannerDto:
        """Get the bot's banner and the period in which it is shown; `url` is null if the bot has no
        banner."""
        return banner_picture.for_bot(bots.get(self.client, bot_id))

    @operation("AI / train", "Update Bot Banner", access=TRAINER, also={409: Error})
    def update(self, bot_id: int, body: BotBannerDto) -> BotBannerDto:
        """Change the link or alternative text of the bot's banner, or the period in which it is
        shown (`valid_from` to `valid_to`).

        The picture stays, and fields left out keep their value. 409 `no_banner` if the bot has no
        banner picture: upload one with *Upload Banner Image Route*.
        """
        return banner_picture.update(bots.get(self.client, bot_id), body=body, by=self.user)

    @operation("AI / train", "Delete Bot Banner", access=TRAINER, status=204)
    def destroy(self, bot_id: int) -> None:
        """Remove the bot's banner with its link, text and period; does nothing if the bot has no
        banner."""
        banner_picture.remove(bots.get(self.client, bot_id), by=self.user)

    @operation("AI / train", "Get Bot Banner Route", access=API_KEY, also={404: Error})
    def retrieve_by_key(self, query: KeyBotQuery) -> BotBannerDto:
        """Get the banner that the key's bot shows now; `url` is null if it shows none."""
        bot = bots.for_key(self.key, bot_id=query.bot_id)
        return banner_picture.current_banner(bot, datetime.now(UTC))
