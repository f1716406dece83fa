"""The operations of the API. Made by `make clients` from the API's document; changes belong there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from chatplatform_client import types
from chatplatform_client.core import Core


class Client(Core):
    def check_health(
        self
    ) -> types.Health:
        """Check whether the platform works: the database, the message broker, the background processes, how long jobs wait, the disks, the clock and, if there is one, the database's replica."""
        result: types.Health = self.call("GET", "/health", {}, {})
        return result

    def check_liveness(
        self
    ) -> types.Alive:
        """Check that this web process serves requests; the response is then a 200."""
        result: types.Alive = self.call("GET", "/health/live", {}, {})
        return result

    def get_client_info(
        self
    ) -> types.ClientDto:
        """Get your company, with its id for paths with `client_id`, its plan and its credits."""
        result: types.ClientDto = self.call("GET", "/identity/client", {}, {})
        return result

    def add_socialnet_access_token(
        self, body: types.SocialnetAccessToken, *, idempotency_key: str | None = None
    ) -> None:
        """Store a person's socialnet access token for your company, replacing any earlier one: the same as *Store User Token* on socialnet, whose description says when you need it and which permissions the token must have."""
        result: None = self.call("POST", "/identity/socialnet-access-token", {}, {}, body=body, key=idempotency_key)
        return result

    def list_users(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.UsersResponse:
        """List your company's people, in the order they were added."""
        result: types.UsersResponse = self.call("GET", "/identity/users", {}, {"cursor": cursor, "limit": limit})
        return result

    def create_user(
        self, body: types.UserInput, *, idempotency_key: str | None = None
    ) -> types.UserDto:
        """Add a person to your company."""
        result: types.UserDto = self.call("POST", "/identity/users", {}, {}, body=body, key=idempotency_key)
        return result

    def disable_user(
        self, user_id: int | str, body: types.UserDisableFlag
    ) -> types.UserDto:
        """Disable or enable a person."""
        result: types.UserDto = self.call("PUT", "/identity/users/{user_id}/disable", {"user_id": user_id}, {}, body=body)
        return result

    def reset_user_password(
        self, user_id: int | str, body: types.UserPassword
    ) -> None:
        """Set a person's password: the body has the new password, and no link is mailed."""
        result: None = self.call("PUT", "/identity/users/{user_id}/reset-password", {"user_id": user_id}, {}, body=body)
        return result

    def update_user_role(
        self, user_id: int | str, body: types.UserRole
    ) -> types.UserDto:
        """Change a person's role, and whether the person may also train bots (`can_train`)."""
        result: types.UserDto = self.call("PUT", "/identity/users/{user_id}/role", {"user_id": user_id}, {}, body=body)
        return result

    def sign_in(
        self, body: types.Body_login_for_access_token2_identity_token2_post, *, idempotency_key: str | None = None
    ) -> types.TokenResponse:
        """Sign in with email address and password, or exchange a refresh token."""
        result: types.TokenResponse = self.call("POST", "/identity/token2", {}, {}, body=body, kind="form", key=idempotency_key)
        return result

    def get_me(
        self
    ) -> types.UserDto:
        """Get the person to whom the access token belongs."""
        result: types.UserDto = self.call("GET", "/identity/users/me", {}, {})
        return result

    def update_me(
        self, body: types.OwnUser
    ) -> types.UserDto:
        """Change your name, language or picture, or whether you are away; fields left out keep their value."""
        result: types.UserDto = self.call("PUT", "/identity/users/me", {}, {}, body=body)
        return result

    def change_my_password(
        self, body: types.OwnPassword
    ) -> types.TokenResponse:
        """Change your password."""
        result: types.TokenResponse = self.call("PUT", "/identity/users/me/password", {}, {}, body=body)
        return result

    def register_trial(
        self, body: types.RegisterTrialDto, *, idempotency_key: str | None = None
    ) -> types.ClientDto:
        """Register a company with its owner and a trial plan."""
        result: types.ClientDto = self.call("POST", "/identity/register-trial", {}, {}, body=body, key=idempotency_key)
        return result

    def confirm_registration(
        self, body: types.ConfirmRegistrationRequest, *, idempotency_key: str | None = None
    ) -> types.ClientDto:
        """Create the company that a mailed link confirms."""
        result: types.ClientDto = self.call("POST", "/identity/confirm-registration", {}, {}, body=body, key=idempotency_key)
        return result

    def resend_registration(
        self, body: types.ResendRegistrationRequest, *, idempotency_key: str | None = None
    ) -> None:
        """Email a new link for the latest registration of an email address."""
        result: None = self.call("POST", "/identity/resend-registration", {}, {}, body=body, key=idempotency_key)
        return result

    def forgot_password(
        self, body: types.ForgotPasswordRequest, *, idempotency_key: str | None = None
    ) -> None:
        """Email a link to choose a new password, if the address has an account."""
        result: None = self.call("POST", "/identity/forgot-password", {}, {}, body=body, key=idempotency_key)
        return result

    def verify_reset_token(
        self, body: types.VerifyResetTokenRequest, *, idempotency_key: str | None = None
    ) -> None:
        """Check whether a mailed link to choose a password still works; 400 `reset_token_invalid` if it does not."""
        result: None = self.call("POST", "/identity/verify-reset-token", {}, {}, body=body, key=idempotency_key)
        return result

    def reset_password(
        self, body: types.ResetPasswordRequest, *, idempotency_key: str | None = None
    ) -> None:
        """Set a new password with the token of a mailed link."""
        result: None = self.call("POST", "/identity/reset-password", {}, {}, body=body, key=idempotency_key)
        return result

    def revoke_token(
        self, body: types.RevokeTokenRequest | None = None, *, idempotency_key: str | None = None
    ) -> None:
        """Sign out: end the sign-in that the access token belongs to, with its refresh tokens."""
        result: None = self.call("POST", "/identity/revoke", {}, {}, body=body, kind="form", key=idempotency_key)
        return result

    def list_api_keys(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ApiKeysResponse:
        """List your company's API keys, newest first, including revoked keys, without their secrets."""
        result: types.ApiKeysResponse = self.call("GET", "/identity/api-keys", {}, {"cursor": cursor, "limit": limit})
        return result

    def create_api_key(
        self, body: types.ApiKeyRequest, *, idempotency_key: str | None = None
    ) -> types.ApiKeyDto:
        """Create an API key."""
        result: types.ApiKeyDto = self.call("POST", "/identity/api-keys", {}, {}, body=body, key=idempotency_key)
        return result

    def revoke_api_key(
        self, api_key_id: int | str
    ) -> None:
        """Revoke an API key."""
        result: None = self.call("DELETE", "/identity/api-keys/{api_key_id}", {"api_key_id": api_key_id}, {})
        return result

    def update_api_key(
        self, api_key_id: int | str, body: types.ApiKeyInput
    ) -> types.ApiKeyDto:
        """Change an API key's name, limits or `mcp_write`; fields left out keep their value."""
        result: types.ApiKeyDto = self.call("PUT", "/identity/api-keys/{api_key_id}", {"api_key_id": api_key_id}, {}, body=body)
        return result

    def get_subscription(
        self
    ) -> types.SubscriptionDto:
        """Get your company's plan, the credits left, and the credits used in the plan's current period."""
        result: types.SubscriptionDto = self.call("GET", "/identity/subscription", {}, {})
        return result

    def top_up_credits(
        self, body: types.TopUpAmount, *, idempotency_key: str | None = None
    ) -> types.CreditOrder:
        """Order credits."""
        result: types.CreditOrder = self.call("POST", "/identity/subscription/top-up", {}, {}, body=body, key=idempotency_key)
        return result

    def list_credit_orders(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.CreditOrdersResponse:
        """List your company's orders for credits, newest first."""
        result: types.CreditOrdersResponse = self.call("GET", "/identity/subscription/orders", {}, {"cursor": cursor, "limit": limit})
        return result

    def get_credit_order(
        self, order_id: int | str
    ) -> types.CreditOrder:
        """Get one order for credits, with its status: `pending`, `paid` or `refused`."""
        result: types.CreditOrder = self.call("GET", "/identity/subscription/orders/{order_id}", {"order_id": order_id}, {})
        return result

    def receive_payment(
        self, body: types.CreditPayment, *, idempotency_key: str | None = None
    ) -> None:
        """Report that an order was paid or refused."""
        result: None = self.call("POST", "/identity/subscription/payments", {}, {}, body=body, key=idempotency_key)
        return result

    def remove_sign_in_provider(
        self
    ) -> None:
        """Remove the OpenID provider with which your company's people sign in, and the links to their accounts there."""
        result: None = self.call("DELETE", "/identity/sign-in-provider", {}, {})
        return result

    def get_sign_in_provider(
        self
    ) -> types.SignInProviderDto:
        """Get your company's OpenID provider; 404 if it has none."""
        result: types.SignInProviderDto = self.call("GET", "/identity/sign-in-provider", {}, {})
        return result

    def set_sign_in_provider(
        self, body: types.SignInProviderInput
    ) -> types.SignInProviderDto:
        """Set or change your company's OpenID provider for signing in to the site."""
        result: types.SignInProviderDto = self.call("PUT", "/identity/sign-in-provider", {}, {}, body=body)
        return result

    def get_audit_log(
        self, *, action: str | None = None, subject: str | None = None, user_id: int | None = None, api_key_id: int | None = None, created_from: str | None = None, created_to: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> types.AuditEventsResponse:
        """List who changed what in your company, newest first: people, API keys, settings, bots, training and credits."""
        result: types.AuditEventsResponse = self.call("GET", "/identity/audit", {}, {"action": action, "subject": subject, "user_id": user_id, "api_key_id": api_key_id, "created_from": created_from, "created_to": created_to, "cursor": cursor, "limit": limit})
        return result

    def export_audit_log(
        self, *, action: str | None = None, subject: str | None = None, user_id: int | None = None, api_key_id: int | None = None, created_from: str | None = None, created_to: str | None = None, format: Literal['jsonl', 'csv'] | None = None
    ) -> bytes:
        """Download the audit log as a file, oldest first, with the filters of *Get Audit Log*."""
        result: bytes = self.call("GET", "/identity/audit/export", {}, {"action": action, "subject": subject, "user_id": user_id, "api_key_id": api_key_id, "created_from": created_from, "created_to": created_to, "format": format})
        return result

    def get_chat_config(
        self, client_id: int | str
    ) -> types.ClientConfigDto:
        """Get the settings for your company's conversations: business hours, assignment to agents, handover, answers, ending, ratings, automatic summaries and retention."""
        result: types.ClientConfigDto = self.call("GET", "/config/{client_id}/chat", {"client_id": client_id}, {})
        return result

    def update_chat_config(
        self, client_id: int | str, body: types.ClientConfigInput, *, idempotency_key: str | None = None
    ) -> types.ClientConfigDto:
        """Change the settings for your company's conversations; fields left out keep their value."""
        result: types.ClientConfigDto = self.call("POST", "/config/{client_id}/chat", {"client_id": client_id}, {}, body=body, key=idempotency_key)
        return result

    def get_email_notification(
        self, client_id: int | str
    ) -> types.EmailNotificationRequest:
        """Get the settings for notifications by email: which ones are sent, and who gets them."""
        result: types.EmailNotificationRequest = self.call("GET", "/config/{client_id}/email-notification", {"client_id": client_id}, {})
        return result

    def update_email_notification(
        self, client_id: int | str, body: types.EmailNotificationInput, *, idempotency_key: str | None = None
    ) -> types.EmailNotificationRequest:
        """Change the settings for notifications by email: which ones are sent, and who gets them."""
        result: types.EmailNotificationRequest = self.call("POST", "/config/{client_id}/email-notification", {"client_id": client_id}, {}, body=body, key=idempotency_key)
        return result

    def test_email_notification(
        self, client_id: int | str, *, idempotency_key: str | None = None
    ) -> types.TestedRecipients:
        """Send a test email to the recipients of your notifications; the response lists them."""
        result: types.TestedRecipients = self.call("POST", "/config/{client_id}/email-notification/test", {"client_id": client_id}, {}, key=idempotency_key)
        return result

    def get_webhook_config(
        self, *, config_id: str | None = None
    ) -> types.WebhookConfig:
        """Get a webhook endpoint, by default the oldest, without its secret; 404 if you have no endpoint, or none with this id."""
        result: types.WebhookConfig = self.call("GET", "/webhook/config", {}, {"config_id": config_id})
        return result

    def create_webhook_config(
        self, body: types.WebhookConfigRequest, *, idempotency_key: str | None = None
    ) -> types.WebhookConfig:
        """Create a webhook endpoint, to which events are sent from now on."""
        result: types.WebhookConfig = self.call("POST", "/webhook/config", {}, {}, body=body, key=idempotency_key)
        return result

    def test_webhook(
        self, *, config_id: str | None = None, idempotency_key: str | None = None
    ) -> types.WebhookDelivery:
        """Deliver a signed `webhook.test` event to a webhook endpoint now, even if the endpoint is off."""
        result: types.WebhookDelivery = self.call("POST", "/webhook/test", {}, {"config_id": config_id}, key=idempotency_key)
        return result

    def get_webhook_events(
        self, *, cursor: str | None = None, limit: int | None = None, order: Literal['desc', 'asc'] | None = None, type: Literal['conversation.created', 'conversation.assigned', 'conversation.unassigned', 'conversation.handed_off', 'conversation.prioritized', 'conversation.snoozed', 'conversation.ended', 'conversation.reopened', 'message.created', 'message.delivered', 'message.read', 'message.failed', 'message.updated', 'summary.created', 'tags.updated', 'sentiment.updated', 'customer.updated', 'customer.merged', 'feedback.created', 'feedback.updated', 'notification.created', 'document.trained', 'document.failed', 'channel.connected', 'channel.disconnected', 'channel.notified', 'credits.low', 'webhook.test'] | None = None, conversation_id: str | None = None, created_from: str | None = None, created_to: str | None = None, state: Literal['pending', 'succeeded', 'failed', 'gave_up'] | None = None, config_id: str | None = None
    ) -> types.EventsResponse:
        """List the event log, each event with its deliveries to your endpoints."""
        result: types.EventsResponse = self.call("GET", "/webhook/events", {}, {"cursor": cursor, "limit": limit, "order": order, "type": type, "conversation_id": conversation_id, "created_from": created_from, "created_to": created_to, "state": state, "config_id": config_id})
        return result

    def replay_webhook_event(
        self, event_id: int | str, *, config_id: str | None = None, idempotency_key: str | None = None
    ) -> types.Event:
        """Send an event again, with the same id and body; the retries start over."""
        result: types.Event = self.call("POST", "/webhook/events/{event_id}/replay", {"event_id": event_id}, {"config_id": config_id}, key=idempotency_key)
        return result

    def rotate_webhook_secret(
        self, *, config_id: str | None = None, idempotency_key: str | None = None
    ) -> types.WebhookConfig:
        """Create a new signing secret for a webhook endpoint, shown only in this response."""
        result: types.WebhookConfig = self.call("POST", "/webhook/config/rotate-secret", {}, {"config_id": config_id}, key=idempotency_key)
        return result

    def list_webhook_configs(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.WebhookConfigsResponse:
        """List your company's webhook endpoints, oldest first."""
        result: types.WebhookConfigsResponse = self.call("GET", "/webhook/configs", {}, {"cursor": cursor, "limit": limit})
        return result

    def delete_webhook_config(
        self, config_id: int | str
    ) -> None:
        """Delete a webhook endpoint; deliveries that wait for it end as `gave_up`."""
        result: None = self.call("DELETE", "/webhook/config/{config_id}", {"config_id": config_id}, {})
        return result

    def update_webhook_config(
        self, config_id: int | str, body: types.WebhookConfigRequest
    ) -> types.WebhookConfig:
        """Change a webhook endpoint's settings; fields left out keep their value, and the secret stays."""
        result: types.WebhookConfig = self.call("PUT", "/webhook/config/{config_id}", {"config_id": config_id}, {}, body=body)
        return result

    def get_webhook_event(
        self, event_id: int | str
    ) -> types.Event:
        """Get an event with its deliveries and its data, even if the webhook omitted large data."""
        result: types.Event = self.call("GET", "/webhook/events/{event_id}", {"event_id": event_id}, {})
        return result

    def replay_webhook_events(
        self, body: types.EventReplayRequest, *, idempotency_key: str | None = None
    ) -> types.Replay:
        """Send the events of a period to a webhook endpoint again, oldest first."""
        result: types.Replay = self.call("POST", "/webhook/replay", {}, {}, body=body, key=idempotency_key)
        return result

    def search_content(
        self, bot_id: int | str, *, q: str | None = None, language: str | None = None, limit: int | None = None
    ) -> types.FoundContent:
        """Find the passages of the bot's content that best answer a question; costs no credits."""
        result: types.FoundContent = self.call("GET", "/ai/{bot_id}/search", {"bot_id": bot_id}, {"q": q, "language": language, "limit": limit})
        return result

    def get_current_prompt(
        self, bot_id: int | str, *, version: int | None = None
    ) -> types.PromptDto:
        """Get the bot's current instructions or, with `version`, another version of them; 404 if the bot has no instructions, or no version with this number."""
        result: types.PromptDto = self.call("GET", "/ai/{bot_id}/train/prompt", {"bot_id": bot_id}, {"version": version})
        return result

    def create_prompt(
        self, bot_id: int | str, body: types.PromptInput, *, idempotency_key: str | None = None
    ) -> types.PromptDto:
        """Store a new version of the bot's instructions and make it current; earlier versions are kept."""
        result: types.PromptDto = self.call("POST", "/ai/{bot_id}/train/prompt", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_prompt_versions(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.PromptVersionsResponse:
        """List the versions of the bot's instructions, newest first."""
        result: types.PromptVersionsResponse = self.call("GET", "/ai/{bot_id}/train/prompt/versions", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def restore_prompt_version(
        self, bot_id: int | str, version: int | str, *, idempotency_key: str | None = None
    ) -> types.PromptDto:
        """Make an earlier version of the instructions current again, by storing a copy as a new version."""
        result: types.PromptDto = self.call("POST", "/ai/{bot_id}/train/prompt/versions/{version}/restore", {"bot_id": bot_id, "version": version}, {}, key=idempotency_key)
        return result

    def list_documents(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, status: types.DocumentStatus | None = None
    ) -> types.DocumentsResponse:
        """List the uploaded files with the progress of their training, newest first."""
        result: types.DocumentsResponse = self.call("GET", "/ai/{bot_id}/train/document", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit, "status": status})
        return result

    def upload_documents(
        self, bot_id: int | str, body: dict[str, Any], *, idempotency_key: str | None = None
    ) -> types.DocumentsResponse:
        """Upload files and train the bot on them; `refused` lists the files that are not accepted."""
        result: types.DocumentsResponse = self.call("POST", "/ai/{bot_id}/train/document", {"bot_id": bot_id}, {}, body=body, kind="files", key=idempotency_key)
        return result

    def retrain_documents(
        self, bot_id: int | str, body: types.ReuploadFilesRequest, *, idempotency_key: str | None = None
    ) -> types.ReuploadFilesResponse:
        """Train stored documents again; until a document has been read, the bot uses its old passages."""
        result: types.ReuploadFilesResponse = self.call("POST", "/ai/{bot_id}/train/document/reupload", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def delete_document(
        self, bot_id: int | str, document_id: int | str
    ) -> None:
        """Delete a document; the bot stops using it at once, unless the deletion is held back."""
        result: None = self.call("DELETE", "/ai/{bot_id}/train/document/{document_id}", {"bot_id": bot_id, "document_id": document_id}, {})
        return result

    def get_document(
        self, bot_id: int | str, document_id: int | str
    ) -> types.DocumentDto:
        """Get a document with the progress of its training; citations contain its id."""
        result: types.DocumentDto = self.call("GET", "/ai/{bot_id}/train/document/{document_id}", {"bot_id": bot_id, "document_id": document_id}, {})
        return result

    def download_document(
        self, bot_id: int | str, document_id: int | str
    ) -> bytes:
        """Download the original file: for a crawled page, its content as fetched; for a written text or answer, a text file."""
        result: bytes = self.call("GET", "/ai/{bot_id}/train/document/{document_id}/original", {"bot_id": bot_id, "document_id": document_id}, {})
        return result

    def discard_document_change(
        self, bot_id: int | str, document_id: int | str, *, idempotency_key: str | None = None
    ) -> types.DocumentDto:
        """Discard a document's `held_change`, a change that is not live yet; the live version is kept."""
        result: types.DocumentDto = self.call("POST", "/ai/{bot_id}/train/document/{document_id}/discard", {"bot_id": bot_id, "document_id": document_id}, {}, key=idempotency_key)
        return result

    def get_texts(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, status: types.DocumentStatus | None = None
    ) -> types.TextsResponse:
        """List the written texts with the progress of their training, newest first."""
        result: types.TextsResponse = self.call("GET", "/ai/{bot_id}/train/text", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit, "status": status})
        return result

    def create_text(
        self, bot_id: int | str, body: types.TextInput, *, idempotency_key: str | None = None
    ) -> types.TextDto:
        """Train the bot on a text."""
        result: types.TextDto = self.call("POST", "/ai/{bot_id}/train/text", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def delete_text(
        self, bot_id: int | str, text_id: int | str
    ) -> None:
        """Delete a text; the bot stops using it at once, unless the deletion is held back."""
        result: None = self.call("DELETE", "/ai/{bot_id}/train/text/{text_id}", {"bot_id": bot_id, "text_id": text_id}, {})
        return result

    def get_text(
        self, bot_id: int | str, text_id: int | str
    ) -> types.TextDto:
        """Get one written text with the progress of its training."""
        result: types.TextDto = self.call("GET", "/ai/{bot_id}/train/text/{text_id}", {"bot_id": bot_id, "text_id": text_id}, {})
        return result

    def update_text(
        self, bot_id: int | str, text_id: int | str, body: types.TextInput
    ) -> types.TextDto:
        """Replace a text; a new title or text is trained, and the bot uses the old one until then."""
        result: types.TextDto = self.call("PUT", "/ai/{bot_id}/train/text/{text_id}", {"bot_id": bot_id, "text_id": text_id}, {}, body=body)
        return result

    def get_question_answers(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, status: types.DocumentStatus | None = None
    ) -> types.QuestionAnswersResponse:
        """List the questions and answers with the progress of their training, newest first."""
        result: types.QuestionAnswersResponse = self.call("GET", "/ai/{bot_id}/train/question-answer", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit, "status": status})
        return result

    def create_question_answer(
        self, bot_id: int | str, body: types.QuestionAnswerInput, *, idempotency_key: str | None = None
    ) -> types.QuestionAnswerDto:
        """Give the bot the answer to a question."""
        result: types.QuestionAnswerDto = self.call("POST", "/ai/{bot_id}/train/question-answer", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def delete_question_answer(
        self, bot_id: int | str, question_answer_id: int | str
    ) -> None:
        """Delete a question and its answer; the bot stops using them at once, unless the deletion is held back."""
        result: None = self.call("DELETE", "/ai/{bot_id}/train/question-answer/{question_answer_id}", {"bot_id": bot_id, "question_answer_id": question_answer_id}, {})
        return result

    def get_question_answer(
        self, bot_id: int | str, question_answer_id: int | str
    ) -> types.QuestionAnswerDto:
        """Get one question with its answer and the progress of its training."""
        result: types.QuestionAnswerDto = self.call("GET", "/ai/{bot_id}/train/question-answer/{question_answer_id}", {"bot_id": bot_id, "question_answer_id": question_answer_id}, {})
        return result

    def update_question_answer(
        self, bot_id: int | str, question_answer_id: int | str, body: types.QuestionAnswerInput
    ) -> types.QuestionAnswerDto:
        """Replace a question and its answer; if one of them is new, the pair is trained."""
        result: types.QuestionAnswerDto = self.call("PUT", "/ai/{bot_id}/train/question-answer/{question_answer_id}", {"bot_id": bot_id, "question_answer_id": question_answer_id}, {}, body=body)
        return result

    def get_web_urls(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.WebUrlsResponse:
        """List the bot's websites with their crawled pages, newest first."""
        result: types.WebUrlsResponse = self.call("GET", "/ai/{bot_id}/train/web-url", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def add_web_url(
        self, bot_id: int | str, body: types.WebUrlInput, *, idempotency_key: str | None = None
    ) -> types.WebUrlDto:
        """Train the bot on a web page, optionally with the pages it links to, or on the pages of a sitemap."""
        result: types.WebUrlDto = self.call("POST", "/ai/{bot_id}/train/web-url", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def delete_web_url(
        self, bot_id: int | str, web_url_id: int | str
    ) -> None:
        """Delete a website with its crawled pages; the bot stops using them at once."""
        result: None = self.call("DELETE", "/ai/{bot_id}/train/web-url/{web_url_id}", {"bot_id": bot_id, "web_url_id": web_url_id}, {})
        return result

    def update_web_url(
        self, bot_id: int | str, web_url_id: int | str, body: types.WebUrlInput
    ) -> types.WebUrlDto:
        """Change a website that the bot is trained on; fields left out keep their value."""
        result: types.WebUrlDto = self.call("PUT", "/ai/{bot_id}/train/web-url/{web_url_id}", {"bot_id": bot_id, "web_url_id": web_url_id}, {}, body=body)
        return result

    def set_important_document(
        self, bot_id: int | str, document_id: int | str, body: types.ImportantDocumentDto
    ) -> types.DocumentDto:
        """Set whether a document takes precedence, and the period in which the bot uses the document."""
        result: types.DocumentDto = self.call("PUT", "/ai/{bot_id}/train/document/{document_id}/important", {"bot_id": bot_id, "document_id": document_id}, {}, body=body)
        return result

    def get_golden_questions(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.GoldenQuestionsResponse:
        """List the bot's golden questions, which test its answers: each with what a right answer contains or cites."""
        result: types.GoldenQuestionsResponse = self.call("GET", "/ai/{bot_id}/golden-questions", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def create_golden_question(
        self, bot_id: int | str, body: types.GoldenQuestionInput, *, idempotency_key: str | None = None
    ) -> types.GoldenQuestionDto:
        """Add a golden question, with what the bot's answer must contain or cite."""
        result: types.GoldenQuestionDto = self.call("POST", "/ai/{bot_id}/golden-questions", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def delete_golden_question(
        self, bot_id: int | str, golden_question_id: int | str
    ) -> None:
        """Delete a golden question; existing golden runs keep their results."""
        result: None = self.call("DELETE", "/ai/{bot_id}/golden-questions/{golden_question_id}", {"bot_id": bot_id, "golden_question_id": golden_question_id}, {})
        return result

    def update_golden_question(
        self, bot_id: int | str, golden_question_id: int | str, body: types.GoldenQuestionInput
    ) -> types.GoldenQuestionDto:
        """Change a golden question or what the bot's answer must contain or cite; fields left out keep their value."""
        result: types.GoldenQuestionDto = self.call("PUT", "/ai/{bot_id}/golden-questions/{golden_question_id}", {"bot_id": bot_id, "golden_question_id": golden_question_id}, {}, body=body)
        return result

    def get_golden_runs(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.GoldenRunsResponse:
        """List the bot's golden runs (tests with its golden questions), newest first, each with the questions that fail now and passed before (`broke`) and the reverse (`better`)."""
        result: types.GoldenRunsResponse = self.call("GET", "/ai/{bot_id}/golden-runs", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def start_golden_run(
        self, bot_id: int | str, body: types.GoldenRunRequest, *, idempotency_key: str | None = None
    ) -> types.GoldenRunDto:
        """Start a golden run: ask the bot all of its golden questions, as it is now or with a change to test."""
        result: types.GoldenRunDto = self.call("POST", "/ai/{bot_id}/golden-runs", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_golden_run(
        self, bot_id: int | str, run_id: int | str
    ) -> types.GoldenRunDetail:
        """Get a golden run with its progress, and the questions asked so far with their answers."""
        result: types.GoldenRunDetail = self.call("GET", "/ai/{bot_id}/golden-runs/{run_id}", {"bot_id": bot_id, "run_id": run_id}, {})
        return result

    def publish_held_change(
        self, bot_id: int | str, run_id: int | str, *, idempotency_key: str | None = None
    ) -> types.GoldenRunDto:
        """Publish the change that the golden run holds back, even if answers get worse: new instructions, or new, changed or deleted documents."""
        result: types.GoldenRunDto = self.call("POST", "/ai/{bot_id}/golden-runs/{run_id}/publish", {"bot_id": bot_id, "run_id": run_id}, {}, key=idempotency_key)
        return result

    def discard_held_change(
        self, bot_id: int | str, run_id: int | str, *, idempotency_key: str | None = None
    ) -> types.GoldenRunDto:
        """Discard the document changes that the golden run tests or holds back."""
        result: types.GoldenRunDto = self.call("POST", "/ai/{bot_id}/golden-runs/{run_id}/discard", {"bot_id": bot_id, "run_id": run_id}, {}, key=idempotency_key)
        return result

    def remove_language_model(
        self, *, bot_id: int | None = None, purpose: Literal['chat', 'embeddings'] | None = None
    ) -> None:
        """Remove the language model or, with `purpose=embeddings`, the encoder, and its API key; does nothing if none is connected."""
        result: None = self.call("DELETE", "/ai/model", {}, {"bot_id": bot_id, "purpose": purpose})
        return result

    def get_language_models(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.LanguageModelsResponse:
        """List the language models and encoders that your company has connected, newest first."""
        result: types.LanguageModelsResponse = self.call("GET", "/ai/model", {}, {"cursor": cursor, "limit": limit})
        return result

    def set_language_model(
        self, body: types.LanguageModelInput, *, bot_id: int | None = None, purpose: Literal['chat', 'embeddings'] | None = None
    ) -> types.LanguageModelDto:
        """Set the language model for all of your bots or, with `bot_id`, for one bot; with `purpose=embeddings`, set the encoder, with which the search of all bots finds passages."""
        result: types.LanguageModelDto = self.call("PUT", "/ai/model", {}, {"bot_id": bot_id, "purpose": purpose}, body=body)
        return result

    def test_language_model(
        self, *, bot_id: int | None = None, purpose: Literal['chat', 'embeddings'] | None = None, idempotency_key: str | None = None
    ) -> types.LanguageModelTest:
        """Test the connected language model, which translates one word, or with `purpose=embeddings` the encoder, which encodes two words."""
        result: types.LanguageModelTest = self.call("POST", "/ai/model/test", {}, {"bot_id": bot_id, "purpose": purpose}, key=idempotency_key)
        return result

    def get_customer_info_field(
        self, bot_id: int | str
    ) -> types.CustomerInfoFields:
        """Get the customer-info fields: what the bot asks a customer for, in this order."""
        result: types.CustomerInfoFields = self.call("GET", "/ai/{bot_id}/customer-info-field", {"bot_id": bot_id}, {})
        return result

    def update_customer_info_field(
        self, bot_id: int | str, body: types.CustomerInfoFieldsInput
    ) -> types.CustomerInfoFields:
        """Replace the customer-info fields: what the bot asks a customer for."""
        result: types.CustomerInfoFields = self.call("PUT", "/ai/{bot_id}/customer-info-field", {"bot_id": bot_id}, {}, body=body)
        return result

    def get_procedures(
        self, bot_id: int | str
    ) -> types.Procedures:
        """Get the bot's procedures: what the bot does step by step when customers want something."""
        result: types.Procedures = self.call("GET", "/ai/{bot_id}/procedures", {"bot_id": bot_id}, {})
        return result

    def update_procedures(
        self, bot_id: int | str, body: types.ProceduresInput
    ) -> types.Procedures:
        """Replace the bot's procedures: what the bot does step by step when customers want something."""
        result: types.Procedures = self.call("PUT", "/ai/{bot_id}/procedures", {"bot_id": bot_id}, {}, body=body)
        return result

    def get_welcome_messages(
        self, bot_id: int | str
    ) -> types.WelcomeMessages:
        """Get the bot's welcome messages, with which conversations begin, by language."""
        result: types.WelcomeMessages = self.call("GET", "/ai/{bot_id}/welcome-message", {"bot_id": bot_id}, {})
        return result

    def update_welcome_messages(
        self, bot_id: int | str, body: types.WelcomeMessagesInput
    ) -> types.WelcomeMessages:
        """Replace the bot's welcome messages, with which conversations begin, by language: a language that is left out has none afterwards."""
        result: types.WelcomeMessages = self.call("PUT", "/ai/{bot_id}/welcome-message", {"bot_id": bot_id}, {}, body=body)
        return result

    def upload_banner(
        self, bot_id: int | str, body: dict[str, Any], *, idempotency_key: str | None = None
    ) -> types.BannerUploadResponseDto:
        """Upload a picture and replace the banner above the chat: the picture, its link, its alternative text and the period in which it is shown."""
        result: types.BannerUploadResponseDto = self.call("POST", "/ai/{bot_id}/upload-banner-image", {"bot_id": bot_id}, {}, body=body, kind="files", key=idempotency_key)
        return result

    def delete_bot_banner(
        self, bot_id: int | str
    ) -> None:
        """Remove the bot's banner with its link, text and period; does nothing if the bot has no banner."""
        result: None = self.call("DELETE", "/ai/{bot_id}/banner", {"bot_id": bot_id}, {})
        return result

    def get_banner(
        self, bot_id: int | str
    ) -> types.BotBannerDto:
        """Get the bot's banner and the period in which it is shown; `url` is null if the bot has no banner."""
        result: types.BotBannerDto = self.call("GET", "/ai/{bot_id}/banner", {"bot_id": bot_id}, {})
        return result

    def update_bot_banner(
        self, bot_id: int | str, body: types.BotBannerInput
    ) -> types.BotBannerDto:
        """Change the link or alternative text of the bot's banner, or the period in which it is shown (`valid_from` to `valid_to`)."""
        result: types.BotBannerDto = self.call("PUT", "/ai/{bot_id}/banner", {"bot_id": bot_id}, {}, body=body)
        return result

    def get_banner_by_api_key(
        self, *, bot_id: int | None = None
    ) -> types.BotBannerDto:
        """Get the banner that the key's bot shows now; `url` is null if it shows none."""
        result: types.BotBannerDto = self.call("GET", "/ai/banner", {}, {"bot_id": bot_id})
        return result

    def get_bot_config(
        self, *, bot_id: int | None = None, language: str | None = None
    ) -> types.BotConfigDto:
        """Get the configuration of a bot's widget, with the widget's texts in one language."""
        result: types.BotConfigDto = self.call("GET", "/ai/bot/config", {}, {"bot_id": bot_id, "language": language})
        return result

    def list_bots(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.BotsResponse:
        """List your bots with their settings, including disabled ones, oldest first."""
        result: types.BotsResponse = self.call("GET", "/ai/bot", {}, {"cursor": cursor, "limit": limit})
        return result

    def create_bot(
        self, body: types.BotInput, *, idempotency_key: str | None = None
    ) -> types.BotDto:
        """Create a bot; fields left out get their defaults."""
        result: types.BotDto = self.call("POST", "/ai/bot", {}, {}, body=body, key=idempotency_key)
        return result

    def delete_bot(
        self, bot_id: int | str
    ) -> None:
        """Delete a bot with its documents and revoke its keys."""
        result: None = self.call("DELETE", "/ai/bot/{bot_id}", {"bot_id": bot_id}, {})
        return result

    def get_bot(
        self, bot_id: int | str
    ) -> types.BotDto:
        """Get one of your bots, with all of its settings."""
        result: types.BotDto = self.call("GET", "/ai/bot/{bot_id}", {"bot_id": bot_id}, {})
        return result

    def update_bot(
        self, bot_id: int | str, body: types.BotInput
    ) -> types.BotDto:
        """Change a bot's settings; fields left out keep their value."""
        result: types.BotDto = self.call("PUT", "/ai/bot/{bot_id}/update-bot", {"bot_id": bot_id}, {}, body=body)
        return result

    def disable_bot(
        self, bot_id: int | str, body: types.ToggleDisableBotDto
    ) -> types.BotDto:
        """Disable a bot, so that people answer its conversations, or enable it again."""
        result: types.BotDto = self.call("PUT", "/ai/bot/{bot_id}/toggle-disable", {"bot_id": bot_id}, {}, body=body)
        return result

    def replace_bot_identity_secret(
        self, bot_id: int | str, *, idempotency_key: str | None = None
    ) -> types.BotIdentitySecret:
        """Create the secret with which your server signs customers' ids; it is shown only once."""
        result: types.BotIdentitySecret = self.call("POST", "/ai/bot/{bot_id}/identity-secret", {"bot_id": bot_id}, {}, key=idempotency_key)
        return result

    def get_bot_sample_questions(
        self, bot_id: int | str, *, language: str | None = None
    ) -> types.SampleQuestionsResponse:
        """Get the questions that the widget suggests to customers: the questions that you wrote, in your order."""
        result: types.SampleQuestionsResponse = self.call("GET", "/ai/bot/{bot_id}/sample-questions", {"bot_id": bot_id}, {"language": language})
        return result

    def update_bot_sample_questions(
        self, bot_id: int | str, body: types.SampleQuestions
    ) -> types.SampleQuestionsResponse:
        """Replace the questions that the widget suggests."""
        result: types.SampleQuestionsResponse = self.call("PUT", "/ai/bot/{bot_id}/sample-questions", {"bot_id": bot_id}, {}, body=body)
        return result

    def get_languages(
        self
    ) -> types.BotLanguageConfigDto:
        """Get your company's languages: the languages that you have set or, if you have set none, those that your enabled bots speak."""
        result: types.BotLanguageConfigDto = self.call("GET", "/identity/languages", {}, {})
        return result

    def update_languages(
        self, body: types.BotLanguageConfigInput
    ) -> types.BotLanguageConfigDto:
        """Set your company's languages and its default language; new bots get them."""
        result: types.BotLanguageConfigDto = self.call("PUT", "/identity/languages", {}, {}, body=body)
        return result

    def get_languages_by_api_key(
        self
    ) -> types.BotLanguageConfigDto:
        """Get the languages of the key's bot, or your company's if the key serves all bots."""
        result: types.BotLanguageConfigDto = self.call("GET", "/identity/languages/by-api-key", {}, {})
        return result

    def get_function_calling_config(
        self, bot_id: int | str
    ) -> types.FunctionCallingConfigDTO:
        """Get the functions that the bot may call: HTTP requests to your systems."""
        result: types.FunctionCallingConfigDTO = self.call("GET", "/function-calling/{bot_id}", {"bot_id": bot_id}, {})
        return result

    def set_function_calling_config(
        self, bot_id: int | str, body: types.FunctionCallingConfigInput, *, idempotency_key: str | None = None
    ) -> types.FunctionCallingConfigDTO:
        """Replace the functions that the bot may call: functions left out are removed; tools of MCP servers stay."""
        result: types.FunctionCallingConfigDTO = self.call("POST", "/function-calling/{bot_id}", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_mcp_servers(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.McpServersResponse:
        """List the MCP servers of the bot with their tools, newest first."""
        result: types.McpServersResponse = self.call("GET", "/function-calling/{bot_id}/mcp-servers", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def connect_mcp_server(
        self, bot_id: int | str, body: types.McpServerRequest, *, idempotency_key: str | None = None
    ) -> types.McpServerDto:
        """Connect an MCP server (Model Context Protocol), whose tools the bot can call, and list its tools; the bot may call only the tools in `allowed`."""
        result: types.McpServerDto = self.call("POST", "/function-calling/{bot_id}/mcp-servers", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def remove_mcp_server(
        self, bot_id: int | str, mcp_server_id: int | str
    ) -> None:
        """Remove an MCP server, its token and the functions of its tools; the log of calls is kept."""
        result: None = self.call("DELETE", "/function-calling/{bot_id}/mcp-servers/{mcp_server_id}", {"bot_id": bot_id, "mcp_server_id": mcp_server_id}, {})
        return result

    def update_mcp_server(
        self, bot_id: int | str, mcp_server_id: int | str, body: types.McpServerChange
    ) -> types.McpServerDto:
        """Change an MCP server, switch it off, or choose which of its tools the bot may call."""
        result: types.McpServerDto = self.call("PUT", "/function-calling/{bot_id}/mcp-servers/{mcp_server_id}", {"bot_id": bot_id, "mcp_server_id": mcp_server_id}, {}, body=body)
        return result

    def refresh_mcp_server(
        self, bot_id: int | str, mcp_server_id: int | str, *, idempotency_key: str | None = None
    ) -> types.McpServerDto:
        """Ask an MCP server for its tools again, and store the list."""
        result: types.McpServerDto = self.call("POST", "/function-calling/{bot_id}/mcp-servers/{mcp_server_id}/refresh", {"bot_id": bot_id, "mcp_server_id": mcp_server_id}, {}, key=idempotency_key)
        return result

    def get_function_calling_events(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, function: str | None = None, status: Literal['waiting', 'running', 'succeeded', 'failed', 'refused', 'rejected'] | None = None, chat_id: str | None = None
    ) -> types.FunctionCallingEventsResponse:
        """List the function calls that the bot requested, with arguments, result and error, newest first."""
        result: types.FunctionCallingEventsResponse = self.call("GET", "/function-calling/{bot_id}/events", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit, "function": function, "status": status, "chat_id": chat_id})
        return result

    def decide_function_call(
        self, bot_id: int | str, call_id: int | str, body: types.FunctionCallDecision, *, idempotency_key: str | None = None
    ) -> types.FunctionCallingEventDTO:
        """Approve or reject a function call that waits for an agent; the first decision counts."""
        result: types.FunctionCallingEventDTO = self.call("POST", "/function-calling/{bot_id}/events/{call_id}/decision", {"bot_id": bot_id, "call_id": call_id}, {}, body=body, key=idempotency_key)
        return result

    def collect_golden_questions(
        self, bot_id: int | str, body: types.GoldenCollectRequest, *, idempotency_key: str | None = None
    ) -> types.GoldenCollected:
        """Add golden questions from sample questions, your own answers or frequent questions."""
        result: types.GoldenCollected = self.call("POST", "/ai/{bot_id}/golden-questions/collect", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_replays(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ReplaysResponse:
        """List the bot's replays, newest first."""
        result: types.ReplaysResponse = self.call("GET", "/ai/{bot_id}/replays", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def start_replay(
        self, bot_id: int | str, body: types.ReplayRequest, *, idempotency_key: str | None = None
    ) -> types.ReplayDto:
        """Start a replay: have the bot answer the customers' questions of one day again, to compare its answers then and now."""
        result: types.ReplayDto = self.call("POST", "/ai/{bot_id}/replays", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_replay(
        self, bot_id: int | str, replay_id: int | str
    ) -> types.ReplayDto:
        """Get a replay, in which the bot answers the customers' questions of one day again, with its progress and the counts of its answers; *Get Replayed Replies* has the replies."""
        result: types.ReplayDto = self.call("GET", "/ai/{bot_id}/replays/{replay_id}", {"bot_id": bot_id, "replay_id": replay_id}, {})
        return result

    def get_replayed_replies(
        self, bot_id: int | str, replay_id: int | str, *, cursor: str | None = None, limit: int | None = None, change: types.ReplayChange | None = None
    ) -> types.ReplayedResponse:
        """List the replies of a replay, in which the bot answered the customers' questions of one day again: each with its conversation, the original reply and the new one."""
        result: types.ReplayedResponse = self.call("GET", "/ai/{bot_id}/replays/{replay_id}/replies", {"bot_id": bot_id, "replay_id": replay_id}, {"cursor": cursor, "limit": limit, "change": change})
        return result

    def get_unanswered_questions(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, status: Literal['open', 'learning', 'answered'] | None = None
    ) -> types.UnansweredResponse:
        """List the bot's unanswered questions of the last 30 days, most asked first."""
        result: types.UnansweredResponse = self.call("GET", "/ai/{bot_id}/unanswered-questions", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit, "status": status})
        return result

    def get_unanswered_question(
        self, bot_id: int | str, question_id: int | str
    ) -> types.UnansweredQuestion:
        """Get a group of unanswered questions, with the result of asking the bot again."""
        result: types.UnansweredQuestion = self.call("GET", "/ai/{bot_id}/unanswered-questions/{question_id}", {"bot_id": bot_id, "question_id": question_id}, {})
        return result

    def get_unanswered_question_chats(
        self, bot_id: int | str, question_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.AskedQuestionsResponse:
        """List the questions of a group, each with its conversation, newest first."""
        result: types.AskedQuestionsResponse = self.call("GET", "/ai/{bot_id}/unanswered-questions/{question_id}/chats", {"bot_id": bot_id, "question_id": question_id}, {"cursor": cursor, "limit": limit})
        return result

    def answer_unanswered_question(
        self, bot_id: int | str, question_id: int | str, body: types.AddAnswerRequest, *, idempotency_key: str | None = None
    ) -> types.UnansweredQuestion:
        """Answer an unanswered question yourself: your answer is stored as a question-answer source of the bot."""
        result: types.UnansweredQuestion = self.call("POST", "/ai/{bot_id}/unanswered-questions/{question_id}/answer", {"bot_id": bot_id, "question_id": question_id}, {}, body=body, key=idempotency_key)
        return result

    def ask_unanswered_question_again(
        self, bot_id: int | str, question_id: int | str, *, idempotency_key: str | None = None
    ) -> types.UnansweredQuestion:
        """Have a worker ask the bot the question again; no customer notices it."""
        result: types.UnansweredQuestion = self.call("POST", "/ai/{bot_id}/unanswered-questions/{question_id}/ask", {"bot_id": bot_id, "question_id": question_id}, {}, key=idempotency_key)
        return result

    def start_preview(
        self, bot_id: int | str, body: types.GenerateChatRequest, *, idempotency_key: str | None = None
    ) -> types.GeneratedChat:
        """Try a bot: open a test conversation (preview) with your messages and generate the bot's reply."""
        result: types.GeneratedChat = self.call("POST", "/ai/{bot_id}/generate-chat", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def continue_preview(
        self, chat_id: int | str, body: types.GenerateChatRequest | None = None, *, idempotency_key: str | None = None
    ) -> types.GeneratedChat:
        """Generate the bot's next reply in a conversation."""
        result: types.GeneratedChat = self.call("POST", "/ai/chat/{chat_id}/generate", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def assign_chat(
        self, chat_id: int | str, body: types.ChatAssignDto, *, idempotency_key: str | None = None
    ) -> types.Conversation:
        """Assign a conversation to an agent, the queue or the bot, as `assign_type` says; `user_id` names the agent."""
        result: types.Conversation = self.call("POST", "/ai/chat/{chat_id}/assign", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def chat_unassign(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.Conversation:
        """Return a conversation to the bot, or to the queue if the bot is disabled or its `agent_reply` is true (people answer instead of the bot)."""
        result: types.Conversation = self.call("POST", "/ai/chat/{chat_id}/unassign", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def reply_as_agent(
        self, chat_id: int | str, body: types.ManualChatMessageDto, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Send a message to the customer, or add an internal note."""
        result: types.Message = self.call("POST", "/ai/chat/{chat_id}/manual", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def reply_as_agent_with_files(
        self, chat_id: int | str, body: dict[str, Any], *, idempotency_key: str | None = None
    ) -> types.Message:
        """Send files to the customer, or add them to an internal note."""
        result: types.Message = self.call("POST", "/ai/chat/{chat_id}/manual/files", {"chat_id": chat_id}, {}, body=body, kind="files", key=idempotency_key)
        return result

    def get_history(
        self, chat_id: int | str, *, cursor: str | None = None, limit: int | None = None, sort: Literal['oldest', 'newest'] | None = None
    ) -> types.MessagesResponse:
        """List a conversation's messages with its internal notes, oldest first by default."""
        result: types.MessagesResponse = self.call("GET", "/ai/chat/{chat_id}/history", {"chat_id": chat_id}, {"cursor": cursor, "limit": limit, "sort": sort})
        return result

    def download_chat_transcript(
        self, chat_id: int | str, *, timezone: str | None = None
    ) -> bytes:
        """Download a conversation as plain text, as *Download Transcript* gives it to the customer, even if the bot's `export_enabled` is false."""
        result: bytes = self.call("GET", "/ai/chat/{chat_id}/transcript.txt", {"chat_id": chat_id}, {"timezone": timezone})
        return result

    def get_chat_steps(
        self, chat_id: int | str
    ) -> types.ChatSteps:
        """List what happened to a conversation besides messages, such as handover, assignment and end: the newest 200 steps, oldest first."""
        result: types.ChatSteps = self.call("GET", "/ai/chat/{chat_id}/steps", {"chat_id": chat_id}, {})
        return result

    def delete_message(
        self, chat_id: int | str, message_id: int | str
    ) -> types.Message:
        """Delete the text and files of your latest message to the customer, who sees that it was deleted."""
        result: types.Message = self.call("DELETE", "/ai/chat/{chat_id}/messages/{message_id}", {"chat_id": chat_id, "message_id": message_id}, {})
        return result

    def edit_message(
        self, chat_id: int | str, message_id: int | str, body: types.MessageEdit
    ) -> types.Message:
        """Replace the text of your latest message to the customer, who sees that it was edited."""
        result: types.Message = self.call("PUT", "/ai/chat/{chat_id}/messages/{message_id}", {"chat_id": chat_id, "message_id": message_id}, {}, body=body)
        return result

    def get_reply_receipt(
        self, chat_id: int | str, message_id: int | str
    ) -> types.ReplyReceipt:
        """Get the receipt of a bot's message, which explains how the message came about: the passages found, with scores; the threshold, the instructions, the language model and the credits."""
        result: types.ReplyReceipt = self.call("GET", "/ai/chat/{chat_id}/messages/{message_id}/receipt", {"chat_id": chat_id, "message_id": message_id}, {})
        return result

    def replay_reply(
        self, chat_id: int | str, message_id: int | str, *, idempotency_key: str | None = None
    ) -> types.ReplayedTurn:
        """Replay a reply: have the bot answer the customer's question again, with its current documents, instructions, settings and language model."""
        result: types.ReplayedTurn = self.call("POST", "/ai/chat/{chat_id}/messages/{message_id}/replay", {"chat_id": chat_id, "message_id": message_id}, {}, key=idempotency_key)
        return result

    def get_customer_history(
        self, customer_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ConversationsResponse:
        """List all conversations of a customer, newest first, without test conversations (previews)."""
        result: types.ConversationsResponse = self.call("GET", "/ai/chat/history/customer/{customer_id}", {"customer_id": customer_id}, {"cursor": cursor, "limit": limit})
        return result

    def get_bot_history(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ConversationsResponse:
        """List all conversations of a bot, newest first, without test conversations (previews)."""
        result: types.ConversationsResponse = self.call("GET", "/ai/{bot_id}/chat-history", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def get_customers(
        self, *, cursor: str | None = None, limit: int | None = None, q: str | None = None, external_id: str | None = None
    ) -> types.CustomersResponse:
        """List your customers, newest first; a key of one bot gets only that bot's customers."""
        result: types.CustomersResponse = self.call("GET", "/ai/customers", {}, {"cursor": cursor, "limit": limit, "q": q, "external_id": external_id})
        return result

    def get_customer(
        self, customer_id: int | str
    ) -> types.CustomerDto:
        """Get a customer; 404 if the customer was merged into another one."""
        result: types.CustomerDto = self.call("GET", "/ai/customers/{customer_id}", {"customer_id": customer_id}, {})
        return result

    def update_customer(
        self, customer_id: int | str, body: types.CustomerInput
    ) -> types.CustomerDto:
        """Change a customer's data; fields left out keep their values, null clears a field."""
        result: types.CustomerDto = self.call("PUT", "/ai/customers/{customer_id}", {"customer_id": customer_id}, {}, body=body)
        return result

    def export_customer(
        self, customer_id: int | str
    ) -> bytes:
        """Export everything stored about a customer as a ZIP: data, conversations, messages, files."""
        result: bytes = self.call("GET", "/ai/customers/{customer_id}/export", {"customer_id": customer_id}, {})
        return result

    def erase_customer(
        self, customer_id: int | str, *, idempotency_key: str | None = None
    ) -> types.CustomerErasure:
        """Erase a customer permanently, with conversations, files and events; your company's exported reports are deleted too."""
        result: types.CustomerErasure = self.call("POST", "/ai/customers/{customer_id}/erasure", {"customer_id": customer_id}, {}, key=idempotency_key)
        return result

    def get_customer_erasure(
        self, erasure_id: int | str
    ) -> types.CustomerErasure:
        """Get a customer's erasure, with its `status` and how many conversations are erased."""
        result: types.CustomerErasure = self.call("GET", "/ai/customers/erasures/{erasure_id}", {"erasure_id": erasure_id}, {})
        return result

    def merge_customers(
        self, customer_id: int | str, merged_id: int | str, *, idempotency_key: str | None = None
    ) -> types.CustomerDto:
        """Merge the customer `merged_id` into `customer_id`, with conversations, channel identities and attributes."""
        result: types.CustomerDto = self.call("POST", "/ai/customers/{customer_id}/merge/{merged_id}", {"customer_id": customer_id, "merged_id": merged_id}, {}, key=idempotency_key)
        return result

    def get_chats(
        self, *, cursor: str | None = None, limit: int | None = None, status: Literal['open', 'snoozed', 'ended'] | None = None, assign_type: types.AssignTypeEnum | None = None, priority: Literal['low', 'normal', 'high', 'urgent'] | None = None, mine: bool | None = None, is_assigned: bool | None = None, is_unread: bool | None = None, is_waiting: bool | None = None, previews: bool | None = None, bot_id: int | None = None, customer_id: int | None = None, channel: Literal['web', 'api', 'socialnet', 'photoapp', 'chatapp', 'localapp', 'telegram'] | None = None, assignee_id: int | None = None, tag: str | None = None, language: str | None = None, min_wait_seconds: int | None = None, sentiment: Literal['positive', 'neutral', 'negative'] | None = None, q: str | None = None, created_from: str | None = None, created_to: str | None = None, sort: Literal['newest', 'longest_wait', 'priority'] | None = None
    ) -> types.ChatsResponse:
        """List your company's conversations, sorted by newest activity, wait or priority."""
        result: types.ChatsResponse = self.call("GET", "/ai/chats", {}, {"cursor": cursor, "limit": limit, "status": status, "assign_type": assign_type, "priority": priority, "mine": mine, "is_assigned": is_assigned, "is_unread": is_unread, "is_waiting": is_waiting, "previews": previews, "bot_id": bot_id, "customer_id": customer_id, "channel": channel, "assignee_id": assignee_id, "tag": tag, "language": language, "min_wait_seconds": min_wait_seconds, "sentiment": sentiment, "q": q, "created_from": created_from, "created_to": created_to, "sort": sort})
        return result

    def get_chat_counts(
        self
    ) -> types.ChatCounts:
        """Count the conversations in each built-in view of your inbox, without test conversations (previews)."""
        result: types.ChatCounts = self.call("GET", "/ai/chats/counts", {}, {})
        return result

    def get_desk_chat(
        self, chat_id: int | str
    ) -> types.Conversation:
        """Get one conversation, with the same fields as in *Get Chats* and in webhook events."""
        result: types.Conversation = self.call("GET", "/ai/chat/{chat_id}", {"chat_id": chat_id}, {})
        return result

    def end_chat(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.Conversation | types.VisitorConversation:
        """End a conversation: as an agent with an access token, or on the customer's behalf with an API key."""
        result: types.Conversation | types.VisitorConversation = self.call("POST", "/ai/chat/{chat_id}/end", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def agent_end_chat(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.Conversation:
        """End a conversation as an agent; `ended_by` becomes `agent`."""
        result: types.Conversation = self.call("POST", "/ai/chat/{chat_id}/agent-end", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def snooze_chat(
        self, chat_id: int | str, body: types.ChatSnoozeDto, *, idempotency_key: str | None = None
    ) -> types.Conversation:
        """Snooze a conversation until a given time; a message from the customer or an agent reopens it sooner."""
        result: types.Conversation = self.call("POST", "/ai/chat/{chat_id}/snooze", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def set_chat_priority(
        self, chat_id: int | str, body: types.ChatPriorityDto
    ) -> types.Conversation:
        """Set how urgent a conversation is for your team: its `priority`."""
        result: types.Conversation = self.call("PUT", "/ai/chat/{chat_id}/priority", {"chat_id": chat_id}, {}, body=body)
        return result

    def reopen_chat(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.Conversation:
        """Reopen a conversation."""
        result: types.Conversation = self.call("POST", "/ai/chat/{chat_id}/reopen", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def mark_chat_as_read(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.Conversation:
        """Mark all messages of the customer as read: `unread_count` becomes 0."""
        result: types.Conversation = self.call("POST", "/ai/chat/{chat_id}/read", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def get_assign_notification(
        self, *, cursor: str | None = None, limit: int | None = None, unread: bool | None = None, personal: bool | None = None
    ) -> types.NotificationsResponse:
        """List your notifications, newest first."""
        result: types.NotificationsResponse = self.call("GET", "/ai/chat/notifications", {}, {"cursor": cursor, "limit": limit, "unread": unread, "personal": personal})
        return result

    def mark_all_notifications_as_read(
        self
    ) -> types.ReadCount:
        """Mark all of your notifications as read."""
        result: types.ReadCount = self.call("PUT", "/ai/chat/notifications/read", {}, {})
        return result

    def mark_notification_read(
        self, notification_id: int | str
    ) -> types.AssignNotification:
        """Mark one of your notifications as read; the response is the notification."""
        result: types.AssignNotification = self.call("PUT", "/ai/chat/notifications/{notification_id}/read", {"notification_id": notification_id}, {})
        return result

    def get_push_key(
        self
    ) -> types.PushKey:
        """Get the key with which a browser subscribes to push notifications."""
        result: types.PushKey = self.call("GET", "/ai/chat/push-key", {}, {})
        return result

    def get_push_subscriptions(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.PushSubscriptionsResponse:
        """List the browsers in which you get push notifications, newest first."""
        result: types.PushSubscriptionsResponse = self.call("GET", "/ai/chat/push-subscriptions", {}, {"cursor": cursor, "limit": limit})
        return result

    def create_push_subscription(
        self, body: types.NewPushSubscription, *, idempotency_key: str | None = None
    ) -> types.PushSubscription:
        """Subscribe this browser to push notifications about what you have not read within five seconds."""
        result: types.PushSubscription = self.call("POST", "/ai/chat/push-subscriptions", {}, {}, body=body, key=idempotency_key)
        return result

    def delete_push_subscription(
        self, subscription_id: int | str
    ) -> None:
        """Stop push notifications in one of your browsers."""
        result: None = self.call("DELETE", "/ai/chat/push-subscriptions/{subscription_id}", {"subscription_id": subscription_id}, {})
        return result

    def get_inbox_views(
        self
    ) -> types.DeskViews:
        """List your saved views of the inbox and the views that colleagues share, sorted by name."""
        result: types.DeskViews = self.call("GET", "/ai/chat/views", {}, {})
        return result

    def save_inbox_view(
        self, body: types.DeskViewInput, *, idempotency_key: str | None = None
    ) -> types.DeskView:
        """Save a view of the inbox, or replace your view with the same name."""
        result: types.DeskView = self.call("POST", "/ai/chat/views", {}, {}, body=body, key=idempotency_key)
        return result

    def delete_inbox_view(
        self, view_id: int | str
    ) -> None:
        """Delete one of your saved views of the inbox; owners and admins can also delete a colleague's shared view."""
        result: None = self.call("DELETE", "/ai/chat/views/{view_id}", {"view_id": view_id}, {})
        return result

    def get_saved_replies(
        self, *, cursor: str | None = None, limit: int | None = None, is_shared: bool | None = None, q: str | None = None
    ) -> types.SavedRepliesResponse:
        """List your own and the shared saved replies, sorted by shortcut; with `q`, replies whose shortcut begins with it come first."""
        result: types.SavedRepliesResponse = self.call("GET", "/ai/chat/saved-replies", {}, {"cursor": cursor, "limit": limit, "is_shared": is_shared, "q": q})
        return result

    def create_saved_reply(
        self, body: types.SavedReplyInput, *, idempotency_key: str | None = None
    ) -> types.SavedReplyDto:
        """Save a text that you send often: for yourself or, with `is_shared`, for the whole team."""
        result: types.SavedReplyDto = self.call("POST", "/ai/chat/saved-replies", {}, {}, body=body, key=idempotency_key)
        return result

    def delete_saved_reply(
        self, saved_reply_id: int | str
    ) -> None:
        """Delete one of your own saved replies or, as an owner or an admin, a shared saved reply; otherwise 403 for a shared reply, and 404 for a colleague's own reply."""
        result: None = self.call("DELETE", "/ai/chat/saved-replies/{saved_reply_id}", {"saved_reply_id": saved_reply_id}, {})
        return result

    def update_saved_reply(
        self, saved_reply_id: int | str, body: types.SavedReplyInput
    ) -> types.SavedReplyDto:
        """Change one of your own saved replies or, as an owner or an admin, a shared saved reply."""
        result: types.SavedReplyDto = self.call("PUT", "/ai/chat/saved-replies/{saved_reply_id}", {"saved_reply_id": saved_reply_id}, {}, body=body)
        return result

    def render_saved_reply(
        self, chat_id: int | str, saved_reply_id: int | str, *, language: str | None = None
    ) -> types.RenderedReply:
        """Get a saved reply with its variables filled in for a conversation; nothing is sent."""
        result: types.RenderedReply = self.call("GET", "/ai/chat/{chat_id}/saved-replies/{saved_reply_id}", {"chat_id": chat_id, "saved_reply_id": saved_reply_id}, {"language": language})
        return result

    def start_summary_run(
        self, body: types.SummaryCalculateRequest | None = None, *, idempotency_key: str | None = None
    ) -> types.SummaryJob:
        """Start a run that summarizes your company's conversations, or only the conversations that match the filters in the body."""
        result: types.SummaryJob = self.call("POST", "/ai/chat/summary/calculate", {}, {}, body=body, key=idempotency_key)
        return result

    def get_summary_run(
        self, job_id: int | str
    ) -> types.SummaryJob:
        """Get a run that summarizes conversations, with its `status` and how many conversations are done."""
        result: types.SummaryJob = self.call("GET", "/ai/chat/summary/calculate/{job_id}", {"job_id": job_id}, {})
        return result

    def summarize_chat(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.ChatSummary:
        """Get a conversation's summary."""
        result: types.ChatSummary = self.call("POST", "/ai/chat/{chat_id}/summarize", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def get_client_tags(
        self
    ) -> types.ClientTags:
        """List your 1,000 most used tags, each with its number of conversations."""
        result: types.ClientTags = self.call("GET", "/ai/tags", {}, {})
        return result

    def create_client_tag(
        self, body: types.ClientTagRequest, *, idempotency_key: str | None = None
    ) -> types.Tag:
        """Add a tag to your list."""
        result: types.Tag = self.call("POST", "/ai/tags", {}, {}, body=body, key=idempotency_key)
        return result

    def delete_client_tag(
        self, tag_id: int | str
    ) -> None:
        """Delete a tag from your list, and in the background from all conversations; each conversation triggers the webhook event `tags.updated`."""
        result: None = self.call("DELETE", "/ai/tags/{tag_id}", {"tag_id": tag_id}, {})
        return result

    def update_client_tag(
        self, tag_id: int | str, body: types.ClientTagRequest
    ) -> types.Tag:
        """Rename a tag or change its colour; fields left out keep their value."""
        result: types.Tag = self.call("PUT", "/ai/tags/{tag_id}", {"tag_id": tag_id}, {}, body=body)
        return result

    def merge_client_tag(
        self, tag_id: int | str, body: types.TagMerge, *, idempotency_key: str | None = None
    ) -> types.Tag:
        """Replace a tag with the tag `into`, which is returned, and delete it."""
        result: types.Tag = self.call("POST", "/ai/tags/{tag_id}/merge", {"tag_id": tag_id}, {}, body=body, key=idempotency_key)
        return result

    def create_tags_for_chat(
        self, chat_id: int | str, body: types.TagsInput, *, idempotency_key: str | None = None
    ) -> types.Tags:
        """Add tags to a conversation; the response has all of its tags."""
        result: types.Tags = self.call("POST", "/ai/chat/{chat_id}/tags", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def update_tags_for_chat(
        self, chat_id: int | str, body: types.TagsInput
    ) -> types.Tags:
        """Replace all tags of a conversation, including those added by AI."""
        result: types.Tags = self.call("PUT", "/ai/chat/{chat_id}/tags", {"chat_id": chat_id}, {}, body=body)
        return result

    def generate_tags(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.Tags:
        """Let AI add the tags that it is confident of; returns all tags of the conversation."""
        result: types.Tags = self.call("POST", "/ai/chat/{chat_id}/tags/auto", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def suggest_tags(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.Tags:
        """Get the tags that AI proposes for a conversation, best first; nothing is stored."""
        result: types.Tags = self.call("POST", "/ai/chat/{chat_id}/tags/auto-temp", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def analyze_sentiment(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.ChatSentiment:
        """Judge the customer's sentiment in a conversation, and store it with the conversation and its messages."""
        result: types.ChatSentiment = self.call("POST", "/ai/chat/{chat_id}/sentiment", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def rewrite_reply(
        self, chat_id: int | str, body: types.RewriteRequest, *, idempotency_key: str | None = None
    ) -> types.RewrittenText:
        """Rewrite a reply before you send it: shorter, friendlier, corrected or translated."""
        result: types.RewrittenText = self.call("POST", "/ai/chat/{chat_id}/rewrite", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def create_chat_feed_back(
        self, chat_id: int | str, body: types.ChatFeedBackInput, *, idempotency_key: str | None = None
    ) -> types.ChatFeedBackDto:
        """Rate a conversation in stars, or one answer in it in stars or by thumb."""
        result: types.ChatFeedBackDto = self.call("POST", "/ai/chat/{chat_id}/feedback", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def get_chat_feedbacks(
        self, *, cursor: str | None = None, limit: int | None = None, bot_id: int | None = None, rating: int | None = None, thumb: Literal['up', 'down'] | None = None, reason: Literal['wrong_answer', 'not_understood', 'no_solution', 'too_slow', 'unfriendly', 'other'] | None = None, chat_id: str | None = None, customer_id: int | None = None, created_from: str | None = None, created_to: str | None = None
    ) -> types.FeedbacksResponse:
        """List your customers' ratings, newest first."""
        result: types.FeedbacksResponse = self.call("GET", "/ai/chat/feedbacks", {}, {"cursor": cursor, "limit": limit, "bot_id": bot_id, "rating": rating, "thumb": thumb, "reason": reason, "chat_id": chat_id, "customer_id": customer_id, "created_from": created_from, "created_to": created_to})
        return result

    def stream_events(
        self, *, last_event_id: str | None = None, ticket: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Stream your company's events live, as server-sent events."""
        result: Iterator[dict[str, Any]] = self.call("GET", "/ai/chat/events", {}, {"last_event_id": last_event_id, "ticket": ticket}, is_stream=True)
        return result

    def create_events_ticket(
        self, *, idempotency_key: str | None = None
    ) -> types.FeedTicket:
        """Create a one-time ticket for *Chat Events*: a browser's `EventSource`, which cannot send an access token, opens `GET /ai/chat/events?ticket=…`."""
        result: types.FeedTicket = self.call("POST", "/ai/chat/events/ticket", {}, {}, key=idempotency_key)
        return result

    def set_typing(
        self, chat_id: int | str, body: types.Typing, *, idempotency_key: str | None = None
    ) -> None:
        """Show that you (with an access token) or the customer (with an API key) is typing, or has stopped; nothing is stored."""
        result: None = self.call("POST", "/ai/chat/{chat_id}/typing", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def set_viewing(
        self, chat_id: int | str, body: types.Viewing, *, idempotency_key: str | None = None
    ) -> None:
        """Show your colleagues that you are viewing a conversation; nothing is stored."""
        result: None = self.call("POST", "/ai/chat/{chat_id}/viewing", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def create_chat(
        self, body: types.ChatCreation, *, idempotency_key: str | None = None
    ) -> types.Conversation | types.VisitorConversation:
        """Open a conversation, optionally with the customer's first message."""
        result: types.Conversation | types.VisitorConversation = self.call("POST", "/ai/client/chat", {}, {}, body=body, key=idempotency_key)
        return result

    def get_chat(
        self, chat_id: int | str
    ) -> types.Conversation | types.VisitorConversation:
        """Get a conversation; with a public key, as a `VisitorConversation` with a new `visitor_token`."""
        result: types.Conversation | types.VisitorConversation = self.call("GET", "/ai/client/chat/{chat_id}", {"chat_id": chat_id}, {})
        return result

    def send_message(
        self, chat_id: int | str, body: types.ConvMessage, *, idempotency_key: str | None = None
    ) -> types.ChatTurn | types.VisitorTurn:
        """Store a customer's message, and wait for the reply, stream it, or get it later."""
        result: types.ChatTurn | types.VisitorTurn = self.call("POST", "/ai/client/chat/{chat_id}", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def update_chat_customer(
        self, chat_id: int | str, body: types.ChatCustomer, *, idempotency_key: str | None = None
    ) -> types.Conversation | types.VisitorConversation:
        """Update the customer's data; fields left out keep their values."""
        result: types.Conversation | types.VisitorConversation = self.call("POST", "/ai/client/chat/customer/{chat_id}", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def send_files(
        self, chat_id: int | str, body: dict[str, Any], *, idempotency_key: str | None = None
    ) -> types.ChatTurn | types.VisitorTurn:
        """Store a customer's message with files, and wait for the reply, stream it, or get it later."""
        result: types.ChatTurn | types.VisitorTurn = self.call("POST", "/ai/client/chat/files/{chat_id}/", {"chat_id": chat_id}, {}, body=body, kind="files", key=idempotency_key)
        return result

    def send_assistant_message(
        self, chat_id: int | str, body: types.ConvMessage, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Send your own assistant's message to the customer, as the bot; `reply` is ignored."""
        result: types.Message = self.call("POST", "/ai/client/chat/assistant/{chat_id}", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def generate_reply(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.ChatTurn | types.VisitorTurn:
        """Have the bot answer the customer's last message, for example one that was stored with `reply: none`; if the message already has a reply, the response is that reply."""
        result: types.ChatTurn | types.VisitorTurn = self.call("POST", "/ai/client/chat/auto-response/{chat_id}", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def report_delivered(
        self, chat_id: int | str, body: types.ArrivalReport, *, idempotency_key: str | None = None
    ) -> None:
        """Report messages of the bot and of agents as delivered to the customer: all messages up to the given `message_id` or `seq` or, with `{}`, all messages."""
        result: None = self.call("POST", "/ai/client/chat/{chat_id}/delivered", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def report_read(
        self, chat_id: int | str, body: types.ArrivalReport, *, idempotency_key: str | None = None
    ) -> None:
        """Report messages of the bot and of agents as read by the customer: all messages up to the given `message_id` or `seq` or, with `{}`, all messages."""
        result: None = self.call("POST", "/ai/client/chat/{chat_id}/read", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def get_transcript(
        self, chat_id: int | str
    ) -> types.Transcript:
        """Get the transcript for the customer: each message with its sender and time."""
        result: types.Transcript = self.call("GET", "/ai/client/chat/{chat_id}/transcript", {"chat_id": chat_id}, {})
        return result

    def download_transcript(
        self, chat_id: int | str, *, timezone: str | None = None
    ) -> bytes:
        """Download the transcript as plain text, named after the `chat_code`."""
        result: bytes = self.call("GET", "/ai/client/chat/{chat_id}/transcript.txt", {"chat_id": chat_id}, {"timezone": timezone})
        return result

    def mail_transcript(
        self, chat_id: int | str, body: types.TranscriptMail, *, idempotency_key: str | None = None
    ) -> None:
        """Email the transcript of a conversation to an address, as a text attachment."""
        result: None = self.call("POST", "/ai/client/chat/{chat_id}/transcript/mail", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def list_chats(
        self, *, cursor: str | None = None, limit: int | None = None, status: Literal['open', 'snoozed', 'ended'] | None = None, assign_type: types.AssignTypeEnum | None = None, priority: Literal['low', 'normal', 'high', 'urgent'] | None = None, mine: bool | None = None, is_assigned: bool | None = None, is_unread: bool | None = None, is_waiting: bool | None = None, previews: bool | None = None, bot_id: int | None = None, customer_id: int | None = None, channel: Literal['web', 'api', 'socialnet', 'photoapp', 'chatapp', 'localapp', 'telegram'] | None = None, assignee_id: int | None = None, tag: str | None = None, language: str | None = None, min_wait_seconds: int | None = None, sentiment: Literal['positive', 'neutral', 'negative'] | None = None, q: str | None = None, created_from: str | None = None, created_to: str | None = None, sort: Literal['newest', 'longest_wait', 'priority'] | None = None
    ) -> types.ConversationsResponse:
        """List the conversations of the key's bot, or of all bots if the key serves all."""
        result: types.ConversationsResponse = self.call("GET", "/ai/client/chats", {}, {"cursor": cursor, "limit": limit, "status": status, "assign_type": assign_type, "priority": priority, "mine": mine, "is_assigned": is_assigned, "is_unread": is_unread, "is_waiting": is_waiting, "previews": previews, "bot_id": bot_id, "customer_id": customer_id, "channel": channel, "assignee_id": assignee_id, "tag": tag, "language": language, "min_wait_seconds": min_wait_seconds, "sentiment": sentiment, "q": q, "created_from": created_from, "created_to": created_to, "sort": sort})
        return result

    def identify_visitor(
        self, body: types.VisitorIdentity, *, idempotency_key: str | None = None
    ) -> types.KnownVisitor:
        """Get the newest conversations, up to 10, of the customer with your `external_id`."""
        result: types.KnownVisitor = self.call("POST", "/ai/client/visitor", {}, {}, body=body, key=idempotency_key)
        return result

    def get_chat_messages(
        self, chat_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.MessagesResponse | types.VisitorMessages:
        """List the messages of a conversation without internal notes, oldest first."""
        result: types.MessagesResponse | types.VisitorMessages = self.call("GET", "/ai/client/chat/history/{chat_id}", {"chat_id": chat_id}, {"cursor": cursor, "limit": limit})
        return result

    def get_chat_messages_with_customer(
        self, chat_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ConversationHistory:
        """Get a conversation with its customer and its messages, oldest first, without internal notes."""
        result: types.ConversationHistory = self.call("GET", "/ai/client/chat/history-with-customer/{chat_id}", {"chat_id": chat_id}, {"cursor": cursor, "limit": limit})
        return result

    def get_chat_messages_by_code(
        self, chat_code: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.MessagesResponse | types.VisitorMessages:
        """List the messages of the conversation with this `chat_code`, oldest first, without internal notes."""
        result: types.MessagesResponse | types.VisitorMessages = self.call("GET", "/ai/client/chat/messages/{chat_code}", {"chat_code": chat_code}, {"cursor": cursor, "limit": limit})
        return result

    def download_attachment(
        self, attachment_id: int | str, *, signature: str | None = None
    ) -> bytes:
        """Download a file of a message."""
        result: bytes = self.call("GET", "/ai/attachment/{attachment_id}", {"attachment_id": attachment_id}, {"signature": signature})
        return result

    def migrate_messages(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.MessageEntitiesResponse:
        """List all messages of the key's conversations, oldest first, including internal notes."""
        result: types.MessageEntitiesResponse = self.call("GET", "/ai/client/migrate/messages", {}, {"cursor": cursor, "limit": limit})
        return result

    def migrate_conversations(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ConversationEntitiesResponse:
        """List all conversations of the key, oldest first, without their messages."""
        result: types.ConversationEntitiesResponse = self.call("GET", "/ai/client/migrate/conversations", {}, {"cursor": cursor, "limit": limit})
        return result

    def delete_all_documents(
        self, *, bot_id: int | None = None
    ) -> types.DeletedCount:
        """Delete all documents of the key's bot, or of the bot `bot_id` if the key serves all bots: files, crawled pages, texts and answers."""
        result: types.DeletedCount = self.call("DELETE", "/ai/client/documents", {}, {"bot_id": bot_id})
        return result

    def suggest_replies_by_api_key(
        self, chat_id: int | str, body: types.SuggestionRequest | None = None, *, idempotency_key: str | None = None
    ) -> types.ReplySuggestions:
        """Suggest replies to the customer's open question, for an agent to choose from."""
        result: types.ReplySuggestions = self.call("POST", "/ai/client/chat/suggestions/{chat_id}", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def translate_text(
        self, body: types.TranslationRequest, *, idempotency_key: str | None = None
    ) -> types.TranslationResponse:
        """Translate a text with a language model, whose tokens are charged; 503 `engine_not_configured` without a language model."""
        result: types.TranslationResponse = self.call("POST", "/client/translate", {}, {}, body=body, key=idempotency_key)
        return result

    def translate_text_old(
        self, body: types.TranslationRequest, *, idempotency_key: str | None = None
    ) -> types.TranslationResponse:
        """Translate a text."""
        result: types.TranslationResponse = self.call("POST", "/ai/translate", {}, {}, body=body, key=idempotency_key)
        return result

    def summarize_text(
        self, body: types.SummarizeRequest, *, idempotency_key: str | None = None
    ) -> types.SummarizeResponse:
        """Summarize a text or messages."""
        result: types.SummarizeResponse = self.call("POST", "/client/summarize", {}, {}, body=body, key=idempotency_key)
        return result

    def get_platform_words(
        self, client_id: int | str
    ) -> types.PlatformWords:
        """Get the platform's messages to customers: the platform's texts in every language, and your own texts."""
        result: types.PlatformWords = self.call("GET", "/config/{client_id}/words", {"client_id": client_id}, {})
        return result

    def update_platform_words(
        self, client_id: int | str, body: types.PlatformWordsInput
    ) -> types.PlatformWords:
        """Replace the platform's messages to customers with your own texts, language by language."""
        result: types.PlatformWords = self.call("PUT", "/config/{client_id}/words", {"client_id": client_id}, {}, body=body)
        return result

    def list_conversations(
        self, *, cursor: str | None = None, limit: int | None = None, group_id: str | None = None, status: Literal['open', 'snoozed', 'ended'] | None = None, tags: list[str] | None = None, requester_id: str | None = None, created_from: str | None = None, created_to: str | None = None
    ) -> types.ConversationResponses:
        """List the conversations of the key's bot, or of all bots if the key serves all, the latest opened first."""
        result: types.ConversationResponses = self.call("GET", "/mesaging/conversations", {}, {"cursor": cursor, "limit": limit, "group_id": group_id, "status": status, "tags": tags, "requester_id": requester_id, "created_from": created_from, "created_to": created_to})
        return result

    def create_conversation(
        self, body: types.ConversationRequest, *, idempotency_key: str | None = None
    ) -> types.ConversationResponse:
        """Open a conversation with the key's bot; agents and webhooks treat it like any other."""
        result: types.ConversationResponse = self.call("POST", "/mesaging/conversations", {}, {}, body=body, key=idempotency_key)
        return result

    def get_conversation(
        self, conversation_id: int | str
    ) -> types.ConversationResponse:
        """Get a conversation from any channel, with its customer and its agent."""
        result: types.ConversationResponse = self.call("GET", "/mesaging/conversations/{conversation_id}", {"conversation_id": conversation_id}, {})
        return result

    def list_messages(
        self, conversation_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.MessagingMessagesResponse:
        """List the messages of a conversation, including internal notes, oldest first."""
        result: types.MessagingMessagesResponse = self.call("GET", "/mesaging/conversations/{conversation_id}/messages", {"conversation_id": conversation_id}, {"cursor": cursor, "limit": limit})
        return result

    def create_message(
        self, conversation_id: int | str, body: types.MessageRequest, *, idempotency_key: str | None = None
    ) -> types.MessageEntity:
        """Store a message from any sender."""
        result: types.MessageEntity = self.call("POST", "/mesaging/conversations/{conversation_id}/messages", {"conversation_id": conversation_id}, {}, body=body, key=idempotency_key)
        return result

    def end_conversation(
        self, conversation_id: int | str
    ) -> types.ConversationResponse:
        """End a conversation; its `ended_by` becomes `api`."""
        result: types.ConversationResponse = self.call("PUT", "/mesaging/conversations/{conversation_id}/end", {"conversation_id": conversation_id}, {})
        return result

    def get_conversation_summary(
        self, conversation_id: int | str
    ) -> types.ChatSummary:
        """Get the newest summary of a conversation; 404 if it has no summary yet."""
        result: types.ChatSummary = self.call("GET", "/mesaging/conversations/{conversation_id}/summary", {"conversation_id": conversation_id}, {})
        return result

    def create_conversation_summary(
        self, conversation_id: int | str, *, idempotency_key: str | None = None
    ) -> types.ChatSummary:
        """Get a conversation's summary."""
        result: types.ChatSummary = self.call("POST", "/mesaging/conversations/{conversation_id}/summary", {"conversation_id": conversation_id}, {}, key=idempotency_key)
        return result

    def get_conversation_ai_tags(
        self, conversation_id: int | str
    ) -> types.Tags:
        """List the tags that AI has added to a conversation; tags that people added are left out."""
        result: types.Tags = self.call("GET", "/mesaging/conversations/{conversation_id}/ai-tags", {"conversation_id": conversation_id}, {})
        return result

    def create_conversation_ai_tags(
        self, conversation_id: int | str, *, idempotency_key: str | None = None
    ) -> types.Tags:
        """Let AI add the tags that it is confident of."""
        result: types.Tags = self.call("POST", "/mesaging/conversations/{conversation_id}/ai-tags", {"conversation_id": conversation_id}, {}, key=idempotency_key)
        return result

    def get_socialnet_messages(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, recipient_id: str | None = None
    ) -> types.MessagesResponse:
        """List the messages of the bot's conversations on the channel in the path, newest first, without internal notes."""
        result: types.MessagesResponse = self.call("GET", "/socialnet/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit, "recipient_id": recipient_id})
        return result

    def send_socialnet_message(
        self, client_id: int | str, bot_id: int | str, body: types.ChannelMessageRequest, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Send a message to a customer who has written to the bot's account."""
        result: types.Message = self.call("POST", "/socialnet/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def list_socialnet_pages(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ChannelAccountsResponse:
        """List the accounts (on socialnet: pages) at the provider that you can connect to the bot."""
        result: types.ChannelAccountsResponse = self.call("GET", "/socialnet/{client_id}/pages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def store_socialnet_token(
        self, client_id: int | str, body: types.SocialnetAccessToken, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Store a person's access token for the channel in the path, with which you then list and connect accounts."""
        result: types.ChannelConnection = self.call("POST", "/socialnet/{client_id}/user-token", {"client_id": client_id}, {}, body=body, key=idempotency_key)
        return result

    def connect_socialnet_page(
        self, client_id: int | str, bot_id: int | str, body: types.MessengerConnectPageDto, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Connect the page with this `page_id` to the bot; repeating the request is safe."""
        result: types.ChannelConnection = self.call("POST", "/socialnet/{client_id}/connect_page/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def connect_socialnet(
        self, client_id: int | str, bot_id: int | str, body: types.MessengerConnectDto, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Begin the consent of a person to connect their accounts at the provider, or complete it with `code` and `state`."""
        result: types.ChannelConnection = self.call("POST", "/socialnet/{client_id}/connect/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_socialnet_connection(
        self, client_id: int | str, bot_id: int | str
    ) -> types.ChannelConnection:
        """Get the connection between the bot and its account on the channel in the path; its `status` is `disconnected` if the bot never had an account."""
        result: types.ChannelConnection = self.call("GET", "/socialnet/{client_id}/connection/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {})
        return result

    def disconnect_socialnet_page(
        self, client_id: int | str, bot_id: int | str, body: types.MessengerConnectPageDto | None = None
    ) -> types.ChannelConnection:
        """Disconnect a page from the bot: the page's token is deleted, and its events are ignored from now on."""
        result: types.ChannelConnection = self.call("PUT", "/socialnet/{client_id}/disconnect_page/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body)
        return result

    def reconnect_socialnet_page(
        self, client_id: int | str, bot_id: int | str, body: types.MessengerConnectPageDto | None = None
    ) -> types.ChannelConnection:
        """Reconnect a page that this bot had before, with the access token that your company has stored for this channel."""
        result: types.ChannelConnection = self.call("PUT", "/socialnet/{client_id}/reconnect_page/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body)
        return result

    def get_photoapp_messages(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, recipient_id: str | None = None
    ) -> types.MessagesResponse:
        """List the messages of the bot's conversations on the channel in the path, newest first, without internal notes."""
        result: types.MessagesResponse = self.call("GET", "/photoapp/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit, "recipient_id": recipient_id})
        return result

    def send_photoapp_message(
        self, client_id: int | str, bot_id: int | str, body: types.ChannelMessageRequest, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Send a message to a customer who has written to the bot's account."""
        result: types.Message = self.call("POST", "/photoapp/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def list_photoapp_accounts(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ChannelAccountsResponse:
        """List the accounts (on socialnet: pages) at the provider that you can connect to the bot."""
        result: types.ChannelAccountsResponse = self.call("GET", "/photoapp/{client_id}/accounts/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def store_photoapp_token(
        self, client_id: int | str, body: types.SocialnetAccessToken, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Store a person's access token for the channel in the path, with which you then list and connect accounts."""
        result: types.ChannelConnection = self.call("POST", "/photoapp/{client_id}/user-token", {"client_id": client_id}, {}, body=body, key=idempotency_key)
        return result

    def connect_photoapp_page(
        self, client_id: int | str, bot_id: int | str, body: types.PhotoappConnectPageDto, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Connect the account with this `page_id` to the bot; repeating the request is safe."""
        result: types.ChannelConnection = self.call("POST", "/photoapp/{client_id}/connect_page/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def connect_photoapp(
        self, client_id: int | str, bot_id: int | str, body: types.PhotoappConnectDto, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Begin the consent of a person to connect their accounts at the provider, or complete it with `code` and `state`."""
        result: types.ChannelConnection = self.call("POST", "/photoapp/{client_id}/connect/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def list_photoapp_connections(
        self, client_id: int | str
    ) -> list[types.ChannelConnection]:
        """List the connections of your bots to photoapp accounts: the current or latest one of each bot."""
        result: list[types.ChannelConnection] = self.call("GET", "/photoapp/{client_id}/connection", {"client_id": client_id}, {})
        return result

    def disconnect_photoapp(
        self, client_id: int | str, bot_id: int | str
    ) -> types.ChannelConnection:
        """Disconnect the bot's account: the account's tokens are deleted, and its events are ignored from now on."""
        result: types.ChannelConnection = self.call("PUT", "/photoapp/{client_id}/disconnect/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {})
        return result

    def connect_localapp(
        self, client_id: int | str, bot_id: int | str, body: types.LocalappOAConnectDto, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Ask a person for their consent: send them to `consent_url`, where they choose the account."""
        result: types.ChannelConnection = self.call("POST", "/localapp/{client_id}/connect/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def disconnect_localapp(
        self, client_id: int | str, bot_id: int | str
    ) -> types.ChannelConnection:
        """Disconnect the bot's account: the account's tokens are deleted, and its events are ignored from now on."""
        result: types.ChannelConnection = self.call("PUT", "/localapp/{client_id}/disconnect_page/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {})
        return result

    def get_localapp_connection(
        self, client_id: int | str, bot_id: int | str
    ) -> types.ChannelConnection:
        """Get the connection between the bot and its account on the channel in the path; its `status` is `disconnected` if the bot never had an account."""
        result: types.ChannelConnection = self.call("GET", "/localapp/{client_id}/connection/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {})
        return result

    def get_localapp_messages(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, recipient_id: str | None = None
    ) -> types.MessagesResponse:
        """List the messages of the bot's conversations on the channel in the path, newest first, without internal notes."""
        result: types.MessagesResponse = self.call("GET", "/localapp/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit, "recipient_id": recipient_id})
        return result

    def send_localapp_message(
        self, client_id: int | str, bot_id: int | str, body: types.ChannelMessageRequest, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Send a message to a customer who has written to the bot's account."""
        result: types.Message = self.call("POST", "/localapp/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def store_chatapp_token(
        self, client_id: int | str, body: types.SocialnetAccessToken, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Store a person's access token for the channel in the path, with which you then list and connect accounts."""
        result: types.ChannelConnection = self.call("POST", "/chatapp/{client_id}/user-token", {"client_id": client_id}, {}, body=body, key=idempotency_key)
        return result

    def list_chatapp_accounts(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ChannelAccountsResponse:
        """List the accounts (on socialnet: pages) at the provider that you can connect to the bot."""
        result: types.ChannelAccountsResponse = self.call("GET", "/chatapp/{client_id}/accounts/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def connect_chatapp(
        self, client_id: int | str, bot_id: int | str, body: types.ChatappConnectDto, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Connect a phone number to the bot, with the code of the provider's sign-up dialog or with the access token that your company has stored for this channel."""
        result: types.ChannelConnection = self.call("POST", "/chatapp/{client_id}/connect/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def disconnect_chatapp(
        self, client_id: int | str, bot_id: int | str
    ) -> types.ChannelConnection:
        """Disconnect the bot's account: the account's tokens are deleted, and its events are ignored from now on."""
        result: types.ChannelConnection = self.call("PUT", "/chatapp/{client_id}/disconnect/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {})
        return result

    def get_chatapp_connection(
        self, client_id: int | str, bot_id: int | str
    ) -> types.ChannelConnection:
        """Get the connection between the bot and its account on the channel in the path; its `status` is `disconnected` if the bot never had an account."""
        result: types.ChannelConnection = self.call("GET", "/chatapp/{client_id}/connection/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {})
        return result

    def get_chatapp_messages(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, recipient_id: str | None = None
    ) -> types.MessagesResponse:
        """List the messages of the bot's conversations on the channel in the path, newest first, without internal notes."""
        result: types.MessagesResponse = self.call("GET", "/chatapp/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit, "recipient_id": recipient_id})
        return result

    def send_chatapp_message(
        self, client_id: int | str, bot_id: int | str, body: types.ChannelMessageRequest, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Send a message to a customer who has written to the bot's account."""
        result: types.Message = self.call("POST", "/chatapp/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_chatapp_templates(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ChatappTemplatesResponse:
        """List the message templates of the business account to which the bot's number belongs."""
        result: types.ChatappTemplatesResponse = self.call("GET", "/chatapp/{client_id}/templates/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def send_chatapp_template(
        self, client_id: int | str, bot_id: int | str, body: types.ChatappTemplateRequest, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Send an approved message template to a customer, even after the reply window has closed."""
        result: types.Message = self.call("POST", "/chatapp/{client_id}/templates/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def connect_telegram(
        self, client_id: int | str, bot_id: int | str, body: types.TokenConnectDto, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Connect an account to the bot with the account's token."""
        result: types.ChannelConnection = self.call("POST", "/telegram/{client_id}/connect/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_telegram_connection(
        self, client_id: int | str, bot_id: int | str
    ) -> types.ChannelConnection:
        """Get the connection between the bot and its account on the channel in the path; its `status` is `disconnected` if the bot never had an account."""
        result: types.ChannelConnection = self.call("GET", "/telegram/{client_id}/connection/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {})
        return result

    def disconnect_telegram(
        self, client_id: int | str, bot_id: int | str
    ) -> types.ChannelConnection:
        """Disconnect the bot's account: the account's tokens are deleted, and its events are ignored from now on."""
        result: types.ChannelConnection = self.call("PUT", "/telegram/{client_id}/disconnect/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {})
        return result

    def get_telegram_messages(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, recipient_id: str | None = None
    ) -> types.MessagesResponse:
        """List the messages of the bot's conversations on the channel in the path, newest first, without internal notes."""
        result: types.MessagesResponse = self.call("GET", "/telegram/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit, "recipient_id": recipient_id})
        return result

    def send_telegram_message(
        self, client_id: int | str, bot_id: int | str, body: types.ChannelMessageRequest, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Send a message to a customer who has written to the bot's account."""
        result: types.Message = self.call("POST", "/telegram/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_report_filters(
        self, *, date_from: str | None = None, date_to: str | None = None, timezone: str | None = None
    ) -> types.AdhocFilterOptions:
        """List the values by which `POST /report/adhoc/search` and `POST /report/adhoc/export` can filter a period's conversations, and how often each occurs."""
        result: types.AdhocFilterOptions = self.call("GET", "/report/adhoc/filter-options", {}, {"date_from": date_from, "date_to": date_to, "timezone": timezone})
        return result

    def search_report(
        self, body: types.SearchAdhocReportParam, *, idempotency_key: str | None = None
    ) -> types.AdhocReport:
        """Get a report on a period's conversations: a row of figures for each group or, without `group_by`, a row for each conversation; and the totals of all these conversations."""
        result: types.AdhocReport = self.call("POST", "/report/adhoc/search", {}, {}, body=body, key=idempotency_key)
        return result

    def export_report(
        self, body: types.ExportAdhocReportParam, *, idempotency_key: str | None = None
    ) -> bytes:
        """Export the table of `POST /report/adhoc/search` as a file: a row of column names, then the conversations or groups."""
        result: bytes = self.call("POST", "/report/adhoc/export", {}, {}, body=body, key=idempotency_key)
        return result

    def get_report_export(
        self, export_id: int | str, *, signature: str | None = None
    ) -> bytes:
        """Get a large export of a report: a 202 with the progress until the file is written, then a 200 with the file."""
        result: bytes = self.call("GET", "/report/adhoc/export/{export_id}", {"export_id": export_id}, {"signature": signature})
        return result

    def get_overview(
        self, *, date_from: str | None = None, date_to: str | None = None, timezone: str | None = None
    ) -> types.ChatOverview:
        """Get your company's figures for a period of at most 366 days, and for the period before."""
        result: types.ChatOverview = self.call("GET", "/report/chat-overview", {}, {"date_from": date_from, "date_to": date_to, "timezone": timezone})
        return result

    def get_bot_overview(
        self, bot_id: int | str, *, date_from: str | None = None, date_to: str | None = None, timezone: str | None = None
    ) -> types.ChatOverview:
        """Get the figures of a bot for a period of at most 366 days, and for the period before."""
        result: types.ChatOverview = self.call("GET", "/report/chat-overview/{bot_id}", {"bot_id": bot_id}, {"date_from": date_from, "date_to": date_to, "timezone": timezone})
        return result

    def get_warnings(
        self
    ) -> types.WarningDashboard:
        """List the warnings about your company: what needs attention now or soon, and what to do about it."""
        result: types.WarningDashboard = self.call("GET", "/report/warning-dashboard", {}, {})
        return result

    def mute_warning(
        self, body: types.MuteWarningDto
    ) -> types.WarningDashboard:
        """Mute or unmute a warning for your company."""
        result: types.WarningDashboard = self.call("PUT", "/report/warning-dashboard/mute", {}, {}, body=body)
        return result

    def call_mcp(
        self, body: types.McpRequest, *, idempotency_key: str | None = None
    ) -> types.McpResult | types.McpFault:
        """Respond to a message of an MCP client (Model Context Protocol); a notification gets a 202 without a body."""
        result: types.McpResult | types.McpFault = self.call("POST", "/mcp", {}, {}, body=body, key=idempotency_key)
        return result

