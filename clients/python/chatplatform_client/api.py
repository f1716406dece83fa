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
        """Check Health."""
        result: types.Health = self.call("GET", "/health", {}, {})
        return result

    def check_liveness(
        self
    ) -> types.Alive:
        """Live."""
        result: types.Alive = self.call("GET", "/health/live", {}, {})
        return result

    def get_client_info(
        self
    ) -> types.ClientDto:
        """Get Client Info."""
        result: types.ClientDto = self.call("GET", "/identity/client", {}, {})
        return result

    def add_socialnet_access_token(
        self, body: types.SocialnetAccessToken, *, idempotency_key: str | None = None
    ) -> None:
        """Add Socialnet Access Token."""
        result: None = self.call("POST", "/identity/socialnet-access-token", {}, {}, body=body, key=idempotency_key)
        return result

    def list_users(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.UsersResponse:
        """Get My Company Users."""
        result: types.UsersResponse = self.call("GET", "/identity/users", {}, {"cursor": cursor, "limit": limit})
        return result

    def create_user(
        self, body: types.UserInput, *, idempotency_key: str | None = None
    ) -> types.UserDto:
        """Create Client User."""
        result: types.UserDto = self.call("POST", "/identity/users", {}, {}, body=body, key=idempotency_key)
        return result

    def disable_user(
        self, user_id: int | str, body: types.UserDisableFlag
    ) -> types.UserDto:
        """Update User Disable Flag."""
        result: types.UserDto = self.call("PUT", "/identity/users/{user_id}/disable", {"user_id": user_id}, {}, body=body)
        return result

    def reset_user_password(
        self, user_id: int | str, body: types.UserPassword
    ) -> None:
        """Reset User Password."""
        result: None = self.call("PUT", "/identity/users/{user_id}/reset-password", {"user_id": user_id}, {}, body=body)
        return result

    def update_user_role(
        self, user_id: int | str, body: types.UserRole
    ) -> types.UserDto:
        """Update User Role."""
        result: types.UserDto = self.call("PUT", "/identity/users/{user_id}/role", {"user_id": user_id}, {}, body=body)
        return result

    def sign_in(
        self, body: types.Body_login_for_access_token2_identity_token2_post, *, idempotency_key: str | None = None
    ) -> types.TokenResponse:
        """Login For Access Token2."""
        result: types.TokenResponse = self.call("POST", "/identity/token2", {}, {}, body=body, kind="form", key=idempotency_key)
        return result

    def get_me(
        self
    ) -> types.UserDto:
        """Read Users Me."""
        result: types.UserDto = self.call("GET", "/identity/users/me", {}, {})
        return result

    def update_me(
        self, body: types.OwnUser
    ) -> types.UserDto:
        """Update Users Me."""
        result: types.UserDto = self.call("PUT", "/identity/users/me", {}, {}, body=body)
        return result

    def change_my_password(
        self, body: types.OwnPassword
    ) -> types.TokenResponse:
        """Change My Password."""
        result: types.TokenResponse = self.call("PUT", "/identity/users/me/password", {}, {}, body=body)
        return result

    def register_trial(
        self, body: types.RegisterTrialDto, *, idempotency_key: str | None = None
    ) -> types.ClientDto:
        """Register Trial."""
        result: types.ClientDto = self.call("POST", "/identity/register-trial", {}, {}, body=body, key=idempotency_key)
        return result

    def confirm_registration(
        self, body: types.ConfirmRegistrationRequest, *, idempotency_key: str | None = None
    ) -> types.ClientDto:
        """Confirm Registration."""
        result: types.ClientDto = self.call("POST", "/identity/confirm-registration", {}, {}, body=body, key=idempotency_key)
        return result

    def resend_registration(
        self, body: types.ResendRegistrationRequest, *, idempotency_key: str | None = None
    ) -> None:
        """Resend Registration."""
        result: None = self.call("POST", "/identity/resend-registration", {}, {}, body=body, key=idempotency_key)
        return result

    def forgot_password(
        self, body: types.ForgotPasswordRequest, *, idempotency_key: str | None = None
    ) -> None:
        """Forgot Password."""
        result: None = self.call("POST", "/identity/forgot-password", {}, {}, body=body, key=idempotency_key)
        return result

    def verify_reset_token(
        self, body: types.VerifyResetTokenRequest, *, idempotency_key: str | None = None
    ) -> None:
        """Verify Reset Token."""
        result: None = self.call("POST", "/identity/verify-reset-token", {}, {}, body=body, key=idempotency_key)
        return result

    def reset_password(
        self, body: types.ResetPasswordRequest, *, idempotency_key: str | None = None
    ) -> None:
        """Reset Password."""
        result: None = self.call("POST", "/identity/reset-password", {}, {}, body=body, key=idempotency_key)
        return result

    def revoke_token(
        self, body: types.RevokeTokenRequest | None = None, *, idempotency_key: str | None = None
    ) -> None:
        """Revoke Token."""
        result: None = self.call("POST", "/identity/revoke", {}, {}, body=body, kind="form", key=idempotency_key)
        return result

    def list_api_keys(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ApiKeysResponse:
        """List Api Keys."""
        result: types.ApiKeysResponse = self.call("GET", "/identity/api-keys", {}, {"cursor": cursor, "limit": limit})
        return result

    def create_api_key(
        self, body: types.ApiKeyRequest, *, idempotency_key: str | None = None
    ) -> types.ApiKeyDto:
        """Create Api Key."""
        result: types.ApiKeyDto = self.call("POST", "/identity/api-keys", {}, {}, body=body, key=idempotency_key)
        return result

    def revoke_api_key(
        self, api_key_id: int | str
    ) -> None:
        """Revoke Api Key."""
        result: None = self.call("DELETE", "/identity/api-keys/{api_key_id}", {"api_key_id": api_key_id}, {})
        return result

    def update_api_key(
        self, api_key_id: int | str, body: types.ApiKeyInput
    ) -> types.ApiKeyDto:
        """Update Api Key."""
        result: types.ApiKeyDto = self.call("PUT", "/identity/api-keys/{api_key_id}", {"api_key_id": api_key_id}, {}, body=body)
        return result

    def get_subscription(
        self
    ) -> types.SubscriptionDto:
        """Get Subscription."""
        result: types.SubscriptionDto = self.call("GET", "/identity/subscription", {}, {})
        return result

    def top_up_credits(
        self, body: types.TopUpAmount, *, idempotency_key: str | None = None
    ) -> types.CreditOrder:
        """Top Up."""
        result: types.CreditOrder = self.call("POST", "/identity/subscription/top-up", {}, {}, body=body, key=idempotency_key)
        return result

    def list_credit_orders(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.CreditOrdersResponse:
        """List Credit Orders."""
        result: types.CreditOrdersResponse = self.call("GET", "/identity/subscription/orders", {}, {"cursor": cursor, "limit": limit})
        return result

    def get_credit_order(
        self, order_id: int | str
    ) -> types.CreditOrder:
        """Get Credit Order."""
        result: types.CreditOrder = self.call("GET", "/identity/subscription/orders/{order_id}", {"order_id": order_id}, {})
        return result

    def receive_payment(
        self, body: types.CreditPayment, *, idempotency_key: str | None = None
    ) -> None:
        """Receive Payment."""
        result: None = self.call("POST", "/identity/subscription/payments", {}, {}, body=body, key=idempotency_key)
        return result

    def remove_sign_in_provider(
        self
    ) -> None:
        """Remove Sign In Provider."""
        result: None = self.call("DELETE", "/identity/sign-in-provider", {}, {})
        return result

    def get_sign_in_provider(
        self
    ) -> types.SignInProviderDto:
        """Get Sign In Provider."""
        result: types.SignInProviderDto = self.call("GET", "/identity/sign-in-provider", {}, {})
        return result

    def set_sign_in_provider(
        self, body: types.SignInProviderInput
    ) -> types.SignInProviderDto:
        """Set Sign In Provider."""
        result: types.SignInProviderDto = self.call("PUT", "/identity/sign-in-provider", {}, {}, body=body)
        return result

    def get_audit_log(
        self, *, action: str | None = None, subject: str | None = None, user_id: int | None = None, api_key_id: int | None = None, created_from: str | None = None, created_to: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> types.AuditEventsResponse:
        """Get Audit Log."""
        result: types.AuditEventsResponse = self.call("GET", "/identity/audit", {}, {"action": action, "subject": subject, "user_id": user_id, "api_key_id": api_key_id, "created_from": created_from, "created_to": created_to, "cursor": cursor, "limit": limit})
        return result

    def export_audit_log(
        self, *, action: str | None = None, subject: str | None = None, user_id: int | None = None, api_key_id: int | None = None, created_from: str | None = None, created_to: str | None = None, format: Literal['jsonl', 'csv'] | None = None
    ) -> bytes:
        """Export Audit Log."""
        result: bytes = self.call("GET", "/identity/audit/export", {}, {"action": action, "subject": subject, "user_id": user_id, "api_key_id": api_key_id, "created_from": created_from, "created_to": created_to, "format": format})
        return result

    def get_chat_config(
        self, client_id: int | str
    ) -> types.ClientConfigDto:
        """Getclientchatconfigrouter."""
        result: types.ClientConfigDto = self.call("GET", "/config/{client_id}/chat", {"client_id": client_id}, {})
        return result

    def update_chat_config(
        self, client_id: int | str, body: types.ClientConfigInput, *, idempotency_key: str | None = None
    ) -> types.ClientConfigDto:
        """Updateclientchatconfigrouter."""
        result: types.ClientConfigDto = self.call("POST", "/config/{client_id}/chat", {"client_id": client_id}, {}, body=body, key=idempotency_key)
        return result

    def get_email_notification(
        self, client_id: int | str
    ) -> types.EmailNotificationRequest:
        """Get Email Notification."""
        result: types.EmailNotificationRequest = self.call("GET", "/config/{client_id}/email-notification", {"client_id": client_id}, {})
        return result

    def update_email_notification(
        self, client_id: int | str, body: types.EmailNotificationRequest, *, idempotency_key: str | None = None
    ) -> types.EmailNotificationRequest:
        """Update Email Notification."""
        result: types.EmailNotificationRequest = self.call("POST", "/config/{client_id}/email-notification", {"client_id": client_id}, {}, body=body, key=idempotency_key)
        return result

    def test_email_notification(
        self, client_id: int | str, *, idempotency_key: str | None = None
    ) -> types.TestedRecipients:
        """Test Email Notification."""
        result: types.TestedRecipients = self.call("POST", "/config/{client_id}/email-notification/test", {"client_id": client_id}, {}, key=idempotency_key)
        return result

    def get_webhook_config(
        self, *, config_id: str | None = None
    ) -> types.WebhookConfig:
        """Get Webhook Config."""
        result: types.WebhookConfig = self.call("GET", "/webhook/config", {}, {"config_id": config_id})
        return result

    def create_webhook_config(
        self, body: types.WebhookConfigRequest, *, idempotency_key: str | None = None
    ) -> types.WebhookConfig:
        """Create Webhook Config."""
        result: types.WebhookConfig = self.call("POST", "/webhook/config", {}, {}, body=body, key=idempotency_key)
        return result

    def test_webhook(
        self, *, config_id: str | None = None, idempotency_key: str | None = None
    ) -> types.WebhookDelivery:
        """Test Webhook."""
        result: types.WebhookDelivery = self.call("POST", "/webhook/test", {}, {"config_id": config_id}, key=idempotency_key)
        return result

    def get_webhook_events(
        self, *, cursor: str | None = None, limit: int | None = None, order: Literal['desc', 'asc'] | None = None, type: Literal['conversation.created', 'conversation.assigned', 'conversation.unassigned', 'conversation.handed_off', 'conversation.prioritized', 'conversation.snoozed', 'conversation.ended', 'conversation.reopened', 'message.created', 'message.delivered', 'message.read', 'message.failed', 'message.updated', 'summary.created', 'tags.updated', 'sentiment.updated', 'customer.updated', 'customer.merged', 'feedback.created', 'feedback.updated', 'notification.created', 'document.trained', 'document.failed', 'channel.connected', 'channel.disconnected', 'channel.notified', 'credits.low', 'webhook.test'] | None = None, conversation_id: str | None = None, created_from: str | None = None, created_to: str | None = None, state: Literal['pending', 'succeeded', 'failed', 'gave_up'] | None = None, config_id: str | None = None
    ) -> types.EventsResponse:
        """Get Webhook Events."""
        result: types.EventsResponse = self.call("GET", "/webhook/events", {}, {"cursor": cursor, "limit": limit, "order": order, "type": type, "conversation_id": conversation_id, "created_from": created_from, "created_to": created_to, "state": state, "config_id": config_id})
        return result

    def replay_webhook_event(
        self, event_id: int | str, *, config_id: str | None = None, idempotency_key: str | None = None
    ) -> types.Event:
        """Replay Webhook Event."""
        result: types.Event = self.call("POST", "/webhook/events/{event_id}/replay", {"event_id": event_id}, {"config_id": config_id}, key=idempotency_key)
        return result

    def rotate_webhook_secret(
        self, *, config_id: str | None = None, idempotency_key: str | None = None
    ) -> types.WebhookConfig:
        """Rotate Webhook Secret."""
        result: types.WebhookConfig = self.call("POST", "/webhook/config/rotate-secret", {}, {"config_id": config_id}, key=idempotency_key)
        return result

    def list_webhook_configs(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.WebhookConfigsResponse:
        """List Webhook Configs."""
        result: types.WebhookConfigsResponse = self.call("GET", "/webhook/configs", {}, {"cursor": cursor, "limit": limit})
        return result

    def delete_webhook_config(
        self, config_id: int | str
    ) -> None:
        """Delete Webhook Config."""
        result: None = self.call("DELETE", "/webhook/config/{config_id}", {"config_id": config_id}, {})
        return result

    def update_webhook_config(
        self, config_id: int | str, body: types.WebhookConfigRequest
    ) -> types.WebhookConfig:
        """Update Webhook Config."""
        result: types.WebhookConfig = self.call("PUT", "/webhook/config/{config_id}", {"config_id": config_id}, {}, body=body)
        return result

    def get_webhook_event(
        self, event_id: int | str
    ) -> types.Event:
        """Get Webhook Event."""
        result: types.Event = self.call("GET", "/webhook/events/{event_id}", {"event_id": event_id}, {})
        return result

    def replay_webhook_events(
        self, body: types.EventReplayRequest, *, idempotency_key: str | None = None
    ) -> types.Replay:
        """Replay Webhook Events."""
        result: types.Replay = self.call("POST", "/webhook/replay", {}, {}, body=body, key=idempotency_key)
        return result

    def search_content(
        self, bot_id: int | str, *, q: str | None = None, language: str | None = None, limit: int | None = None
    ) -> types.FoundContent:
        """Search Content."""
        result: types.FoundContent = self.call("GET", "/ai/{bot_id}/search", {"bot_id": bot_id}, {"q": q, "language": language, "limit": limit})
        return result

    def get_current_prompt(
        self, bot_id: int | str, *, version: int | None = None
    ) -> types.PromptDto:
        """Get Current Prompt."""
        result: types.PromptDto = self.call("GET", "/ai/{bot_id}/train/prompt", {"bot_id": bot_id}, {"version": version})
        return result

    def create_prompt(
        self, bot_id: int | str, body: types.PromptInput, *, idempotency_key: str | None = None
    ) -> types.PromptDto:
        """Create Prompt."""
        result: types.PromptDto = self.call("POST", "/ai/{bot_id}/train/prompt", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_prompt_versions(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.PromptVersionsResponse:
        """Get Prompt Versions."""
        result: types.PromptVersionsResponse = self.call("GET", "/ai/{bot_id}/train/prompt/versions", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def restore_prompt_version(
        self, bot_id: int | str, version: int | str, *, idempotency_key: str | None = None
    ) -> types.PromptDto:
        """Restore Prompt Version."""
        result: types.PromptDto = self.call("POST", "/ai/{bot_id}/train/prompt/versions/{version}/restore", {"bot_id": bot_id, "version": version}, {}, key=idempotency_key)
        return result

    def list_documents(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, status: types.DocumentStatus | None = None
    ) -> types.DocumentsResponse:
        """Get Files."""
        result: types.DocumentsResponse = self.call("GET", "/ai/{bot_id}/train/document", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit, "status": status})
        return result

    def upload_documents(
        self, bot_id: int | str, body: dict[str, Any], *, idempotency_key: str | None = None
    ) -> types.DocumentsResponse:
        """Upload Files."""
        result: types.DocumentsResponse = self.call("POST", "/ai/{bot_id}/train/document", {"bot_id": bot_id}, {}, body=body, kind="files", key=idempotency_key)
        return result

    def retrain_documents(
        self, bot_id: int | str, body: types.ReuploadFilesRequest, *, idempotency_key: str | None = None
    ) -> types.ReuploadFilesResponse:
        """Reupload Files."""
        result: types.ReuploadFilesResponse = self.call("POST", "/ai/{bot_id}/train/document/reupload", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def delete_document(
        self, bot_id: int | str, document_id: int | str
    ) -> None:
        """Delete Document By Id."""
        result: None = self.call("DELETE", "/ai/{bot_id}/train/document/{document_id}", {"bot_id": bot_id, "document_id": document_id}, {})
        return result

    def get_document(
        self, bot_id: int | str, document_id: int | str
    ) -> types.DocumentDto:
        """Get Document By Id."""
        result: types.DocumentDto = self.call("GET", "/ai/{bot_id}/train/document/{document_id}", {"bot_id": bot_id, "document_id": document_id}, {})
        return result

    def download_document(
        self, bot_id: int | str, document_id: int | str
    ) -> bytes:
        """Download Document."""
        result: bytes = self.call("GET", "/ai/{bot_id}/train/document/{document_id}/original", {"bot_id": bot_id, "document_id": document_id}, {})
        return result

    def get_texts(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, status: types.DocumentStatus | None = None
    ) -> types.TextsResponse:
        """Get Texts."""
        result: types.TextsResponse = self.call("GET", "/ai/{bot_id}/train/text", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit, "status": status})
        return result

    def create_text(
        self, bot_id: int | str, body: types.TextInput, *, idempotency_key: str | None = None
    ) -> types.TextDto:
        """Create Text."""
        result: types.TextDto = self.call("POST", "/ai/{bot_id}/train/text", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def delete_text(
        self, bot_id: int | str, text_id: int | str
    ) -> None:
        """Delete Text By Id."""
        result: None = self.call("DELETE", "/ai/{bot_id}/train/text/{text_id}", {"bot_id": bot_id, "text_id": text_id}, {})
        return result

    def get_text(
        self, bot_id: int | str, text_id: int | str
    ) -> types.TextDto:
        """Get Text By Id."""
        result: types.TextDto = self.call("GET", "/ai/{bot_id}/train/text/{text_id}", {"bot_id": bot_id, "text_id": text_id}, {})
        return result

    def update_text(
        self, bot_id: int | str, text_id: int | str, body: types.TextInput
    ) -> types.TextDto:
        """Update Text By Id."""
        result: types.TextDto = self.call("PUT", "/ai/{bot_id}/train/text/{text_id}", {"bot_id": bot_id, "text_id": text_id}, {}, body=body)
        return result

    def get_question_answers(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, status: types.DocumentStatus | None = None
    ) -> types.QuestionAnswersResponse:
        """Get Question Answers."""
        result: types.QuestionAnswersResponse = self.call("GET", "/ai/{bot_id}/train/question-answer", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit, "status": status})
        return result

    def create_question_answer(
        self, bot_id: int | str, body: types.QuestionAnswerInput, *, idempotency_key: str | None = None
    ) -> types.QuestionAnswerDto:
        """Create Question Answer."""
        result: types.QuestionAnswerDto = self.call("POST", "/ai/{bot_id}/train/question-answer", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def delete_question_answer(
        self, bot_id: int | str, question_answer_id: int | str
    ) -> None:
        """Delete Question Answer By Id."""
        result: None = self.call("DELETE", "/ai/{bot_id}/train/question-answer/{question_answer_id}", {"bot_id": bot_id, "question_answer_id": question_answer_id}, {})
        return result

    def get_question_answer(
        self, bot_id: int | str, question_answer_id: int | str
    ) -> types.QuestionAnswerDto:
        """Get Question Answer By Id."""
        result: types.QuestionAnswerDto = self.call("GET", "/ai/{bot_id}/train/question-answer/{question_answer_id}", {"bot_id": bot_id, "question_answer_id": question_answer_id}, {})
        return result

    def update_question_answer(
        self, bot_id: int | str, question_answer_id: int | str, body: types.QuestionAnswerInput
    ) -> types.QuestionAnswerDto:
        """Update Question Answer By Id."""
        result: types.QuestionAnswerDto = self.call("PUT", "/ai/{bot_id}/train/question-answer/{question_answer_id}", {"bot_id": bot_id, "question_answer_id": question_answer_id}, {}, body=body)
        return result

    def get_web_urls(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.WebUrlsResponse:
        """Get Web Urls."""
        result: types.WebUrlsResponse = self.call("GET", "/ai/{bot_id}/train/web-url", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def add_web_url(
        self, bot_id: int | str, body: types.WebUrlInput, *, idempotency_key: str | None = None
    ) -> types.WebUrlDto:
        """Add Web Url."""
        result: types.WebUrlDto = self.call("POST", "/ai/{bot_id}/train/web-url", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def delete_web_url(
        self, bot_id: int | str, web_url_id: int | str
    ) -> None:
        """Delete Web Url By."""
        result: None = self.call("DELETE", "/ai/{bot_id}/train/web-url/{web_url_id}", {"bot_id": bot_id, "web_url_id": web_url_id}, {})
        return result

    def update_web_url(
        self, bot_id: int | str, web_url_id: int | str, body: types.WebUrlInput
    ) -> types.WebUrlDto:
        """Update Web Url By Id."""
        result: types.WebUrlDto = self.call("PUT", "/ai/{bot_id}/train/web-url/{web_url_id}", {"bot_id": bot_id, "web_url_id": web_url_id}, {}, body=body)
        return result

    def set_important_document(
        self, bot_id: int | str, document_id: int | str, body: types.ImportantDocumentDto
    ) -> types.DocumentDto:
        """Set Important Document."""
        result: types.DocumentDto = self.call("PUT", "/ai/{bot_id}/train/document/{document_id}/important", {"bot_id": bot_id, "document_id": document_id}, {}, body=body)
        return result

    def get_golden_questions(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.GoldenQuestionsResponse:
        """Get Golden Questions."""
        result: types.GoldenQuestionsResponse = self.call("GET", "/ai/{bot_id}/golden-questions", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def create_golden_question(
        self, bot_id: int | str, body: types.GoldenQuestionInput, *, idempotency_key: str | None = None
    ) -> types.GoldenQuestionDto:
        """Create Golden Question."""
        result: types.GoldenQuestionDto = self.call("POST", "/ai/{bot_id}/golden-questions", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def delete_golden_question(
        self, bot_id: int | str, golden_question_id: int | str
    ) -> None:
        """Delete Golden Question."""
        result: None = self.call("DELETE", "/ai/{bot_id}/golden-questions/{golden_question_id}", {"bot_id": bot_id, "golden_question_id": golden_question_id}, {})
        return result

    def update_golden_question(
        self, bot_id: int | str, golden_question_id: int | str, body: types.GoldenQuestionInput
    ) -> types.GoldenQuestionDto:
        """Update Golden Question."""
        result: types.GoldenQuestionDto = self.call("PUT", "/ai/{bot_id}/golden-questions/{golden_question_id}", {"bot_id": bot_id, "golden_question_id": golden_question_id}, {}, body=body)
        return result

    def get_golden_runs(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.GoldenRunsResponse:
        """Get Golden Runs."""
        result: types.GoldenRunsResponse = self.call("GET", "/ai/{bot_id}/golden-runs", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def start_golden_run(
        self, bot_id: int | str, body: types.GoldenRunRequest, *, idempotency_key: str | None = None
    ) -> types.GoldenRunDto:
        """Start Golden Run."""
        result: types.GoldenRunDto = self.call("POST", "/ai/{bot_id}/golden-runs", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_golden_run(
        self, bot_id: int | str, run_id: int | str
    ) -> types.GoldenRunDetail:
        """Get Golden Run."""
        result: types.GoldenRunDetail = self.call("GET", "/ai/{bot_id}/golden-runs/{run_id}", {"bot_id": bot_id, "run_id": run_id}, {})
        return result

    def publish_held_change(
        self, bot_id: int | str, run_id: int | str, *, idempotency_key: str | None = None
    ) -> types.GoldenRunDto:
        """Publish Held Change."""
        result: types.GoldenRunDto = self.call("POST", "/ai/{bot_id}/golden-runs/{run_id}/publish", {"bot_id": bot_id, "run_id": run_id}, {}, key=idempotency_key)
        return result

    def discard_held_change(
        self, bot_id: int | str, run_id: int | str, *, idempotency_key: str | None = None
    ) -> types.GoldenRunDto:
        """Discard Held Change."""
        result: types.GoldenRunDto = self.call("POST", "/ai/{bot_id}/golden-runs/{run_id}/discard", {"bot_id": bot_id, "run_id": run_id}, {}, key=idempotency_key)
        return result

    def remove_language_model(
        self, *, bot_id: int | None = None, purpose: Literal['chat', 'embeddings'] | None = None
    ) -> None:
        """Remove Language Model."""
        result: None = self.call("DELETE", "/ai/model", {}, {"bot_id": bot_id, "purpose": purpose})
        return result

    def get_language_models(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.LanguageModelsResponse:
        """Get Language Models."""
        result: types.LanguageModelsResponse = self.call("GET", "/ai/model", {}, {"cursor": cursor, "limit": limit})
        return result

    def set_language_model(
        self, body: types.LanguageModelInput, *, bot_id: int | None = None, purpose: Literal['chat', 'embeddings'] | None = None
    ) -> types.LanguageModelDto:
        """Set Language Model."""
        result: types.LanguageModelDto = self.call("PUT", "/ai/model", {}, {"bot_id": bot_id, "purpose": purpose}, body=body)
        return result

    def test_language_model(
        self, *, bot_id: int | None = None, purpose: Literal['chat', 'embeddings'] | None = None, idempotency_key: str | None = None
    ) -> types.LanguageModelTest:
        """Test Language Model."""
        result: types.LanguageModelTest = self.call("POST", "/ai/model/test", {}, {"bot_id": bot_id, "purpose": purpose}, key=idempotency_key)
        return result

    def get_customer_info_field(
        self, bot_id: int | str
    ) -> types.CustomerInfoFields:
        """Get Customer Info Field."""
        result: types.CustomerInfoFields = self.call("GET", "/ai/{bot_id}/customer-info-field", {"bot_id": bot_id}, {})
        return result

    def update_customer_info_field(
        self, bot_id: int | str, body: types.CustomerInfoFields
    ) -> types.CustomerInfoFields:
        """Update Customer Info Field."""
        result: types.CustomerInfoFields = self.call("PUT", "/ai/{bot_id}/customer-info-field", {"bot_id": bot_id}, {}, body=body)
        return result

    def get_procedures(
        self, bot_id: int | str
    ) -> types.Procedures:
        """Get Procedures."""
        result: types.Procedures = self.call("GET", "/ai/{bot_id}/procedures", {"bot_id": bot_id}, {})
        return result

    def update_procedures(
        self, bot_id: int | str, body: types.Procedures
    ) -> types.Procedures:
        """Update Procedures."""
        result: types.Procedures = self.call("PUT", "/ai/{bot_id}/procedures", {"bot_id": bot_id}, {}, body=body)
        return result

    def get_welcome_messages(
        self, bot_id: int | str
    ) -> types.WelcomeMessages:
        """Get Client Customer Welcome Message Route."""
        result: types.WelcomeMessages = self.call("GET", "/ai/{bot_id}/welcome-message", {"bot_id": bot_id}, {})
        return result

    def update_welcome_messages(
        self, bot_id: int | str, body: types.WelcomeMessages
    ) -> types.WelcomeMessages:
        """Update Client Customer Welcome Message Route."""
        result: types.WelcomeMessages = self.call("PUT", "/ai/{bot_id}/welcome-message", {"bot_id": bot_id}, {}, body=body)
        return result

    def upload_banner(
        self, bot_id: int | str, body: dict[str, Any], *, idempotency_key: str | None = None
    ) -> types.BannerUploadResponseDto:
        """Upload Banner Image Route."""
        result: types.BannerUploadResponseDto = self.call("POST", "/ai/{bot_id}/upload-banner-image", {"bot_id": bot_id}, {}, body=body, kind="files", key=idempotency_key)
        return result

    def delete_bot_banner(
        self, bot_id: int | str
    ) -> None:
        """Delete Bot Banner."""
        result: None = self.call("DELETE", "/ai/{bot_id}/banner", {"bot_id": bot_id}, {})
        return result

    def get_banner(
        self, bot_id: int | str
    ) -> types.BotBannerDto:
        """Get Bot Banner Route."""
        result: types.BotBannerDto = self.call("GET", "/ai/{bot_id}/banner", {"bot_id": bot_id}, {})
        return result

    def update_bot_banner(
        self, bot_id: int | str, body: types.BotBannerInput
    ) -> types.BotBannerDto:
        """Update Bot Banner."""
        result: types.BotBannerDto = self.call("PUT", "/ai/{bot_id}/banner", {"bot_id": bot_id}, {}, body=body)
        return result

    def get_banner_by_api_key(
        self, *, bot_id: int | None = None
    ) -> types.BotBannerDto:
        """Get Bot Banner Route."""
        result: types.BotBannerDto = self.call("GET", "/ai/banner", {}, {"bot_id": bot_id})
        return result

    def get_bot_config(
        self, *, language: str | None = None, bot_id: int | None = None
    ) -> types.BotConfigDto:
        """Get Config By Api Key With Auth."""
        result: types.BotConfigDto = self.call("GET", "/ai/bot/config", {}, {"language": language, "bot_id": bot_id})
        return result

    def list_bots(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.BotsResponse:
        """Get All Bot."""
        result: types.BotsResponse = self.call("GET", "/ai/bot", {}, {"cursor": cursor, "limit": limit})
        return result

    def create_bot(
        self, body: types.BotInput, *, idempotency_key: str | None = None
    ) -> types.BotDto:
        """Create Bot."""
        result: types.BotDto = self.call("POST", "/ai/bot", {}, {}, body=body, key=idempotency_key)
        return result

    def delete_bot(
        self, bot_id: int | str
    ) -> None:
        """Delete Bot."""
        result: None = self.call("DELETE", "/ai/bot/{bot_id}", {"bot_id": bot_id}, {})
        return result

    def get_bot(
        self, bot_id: int | str
    ) -> types.BotDto:
        """Get Bot By Id."""
        result: types.BotDto = self.call("GET", "/ai/bot/{bot_id}", {"bot_id": bot_id}, {})
        return result

    def update_bot(
        self, bot_id: int | str, body: types.BotInput
    ) -> types.BotDto:
        """Update Bot."""
        result: types.BotDto = self.call("PUT", "/ai/bot/{bot_id}/update-bot", {"bot_id": bot_id}, {}, body=body)
        return result

    def disable_bot(
        self, bot_id: int | str, body: types.ToggleDisableBotDto
    ) -> types.BotDto:
        """Toggle Disable Bot."""
        result: types.BotDto = self.call("PUT", "/ai/bot/{bot_id}/toggle-disable", {"bot_id": bot_id}, {}, body=body)
        return result

    def replace_bot_identity_secret(
        self, bot_id: int | str, *, idempotency_key: str | None = None
    ) -> types.BotIdentitySecret:
        """Replace Bot Identity Secret."""
        result: types.BotIdentitySecret = self.call("POST", "/ai/bot/{bot_id}/identity-secret", {"bot_id": bot_id}, {}, key=idempotency_key)
        return result

    def get_bot_sample_questions(
        self, bot_id: int | str, *, language: str | None = None
    ) -> types.SampleQuestionsResponse:
        """Get Bot Sample Questions."""
        result: types.SampleQuestionsResponse = self.call("GET", "/ai/bot/{bot_id}/sample-questions", {"bot_id": bot_id}, {"language": language})
        return result

    def update_bot_sample_questions(
        self, bot_id: int | str, body: types.SampleQuestions
    ) -> types.SampleQuestionsResponse:
        """Update Bot Sample Questions."""
        result: types.SampleQuestionsResponse = self.call("PUT", "/ai/bot/{bot_id}/sample-questions", {"bot_id": bot_id}, {}, body=body)
        return result

    def get_languages(
        self
    ) -> types.BotLanguageConfigDto:
        """Get Client Config Languages."""
        result: types.BotLanguageConfigDto = self.call("GET", "/identity/languages", {}, {})
        return result

    def update_languages(
        self, body: types.BotLanguageConfigDto
    ) -> types.BotLanguageConfigDto:
        """Update Client Config Languages."""
        result: types.BotLanguageConfigDto = self.call("PUT", "/identity/languages", {}, {}, body=body)
        return result

    def get_languages_by_api_key(
        self
    ) -> types.BotLanguageConfigDto:
        """Get Client Config Languages By Api Key."""
        result: types.BotLanguageConfigDto = self.call("GET", "/identity/languages/by-api-key", {}, {})
        return result

    def get_function_calling_config(
        self, bot_id: int | str
    ) -> types.FunctionCallingConfigDTO:
        """Get Function Calling Config."""
        result: types.FunctionCallingConfigDTO = self.call("GET", "/function-calling/{bot_id}", {"bot_id": bot_id}, {})
        return result

    def set_function_calling_config(
        self, bot_id: int | str, body: types.FunctionCallingConfigInput, *, idempotency_key: str | None = None
    ) -> types.FunctionCallingConfigDTO:
        """Upsert Function Calling Config."""
        result: types.FunctionCallingConfigDTO = self.call("POST", "/function-calling/{bot_id}", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_mcpservers(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.McpServersResponse:
        """Get MCP Servers."""
        result: types.McpServersResponse = self.call("GET", "/function-calling/{bot_id}/mcp-servers", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def connect_mcpserver(
        self, bot_id: int | str, body: types.McpServerRequest, *, idempotency_key: str | None = None
    ) -> types.McpServerDto:
        """Connect MCP Server."""
        result: types.McpServerDto = self.call("POST", "/function-calling/{bot_id}/mcp-servers", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def remove_mcpserver(
        self, bot_id: int | str, mcp_server_id: int | str
    ) -> None:
        """Remove MCP Server."""
        result: None = self.call("DELETE", "/function-calling/{bot_id}/mcp-servers/{mcp_server_id}", {"bot_id": bot_id, "mcp_server_id": mcp_server_id}, {})
        return result

    def update_mcpserver(
        self, bot_id: int | str, mcp_server_id: int | str, body: types.McpServerChange
    ) -> types.McpServerDto:
        """Update MCP Server."""
        result: types.McpServerDto = self.call("PUT", "/function-calling/{bot_id}/mcp-servers/{mcp_server_id}", {"bot_id": bot_id, "mcp_server_id": mcp_server_id}, {}, body=body)
        return result

    def refresh_mcpserver(
        self, bot_id: int | str, mcp_server_id: int | str, *, idempotency_key: str | None = None
    ) -> types.McpServerDto:
        """Refresh MCP Server."""
        result: types.McpServerDto = self.call("POST", "/function-calling/{bot_id}/mcp-servers/{mcp_server_id}/refresh", {"bot_id": bot_id, "mcp_server_id": mcp_server_id}, {}, key=idempotency_key)
        return result

    def get_function_calling_events(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, function: str | None = None, status: Literal['waiting', 'running', 'succeeded', 'failed', 'refused', 'rejected'] | None = None, chat_id: str | None = None
    ) -> types.FunctionCallingEventsResponse:
        """Get Function Calling Events."""
        result: types.FunctionCallingEventsResponse = self.call("GET", "/function-calling/{bot_id}/events", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit, "function": function, "status": status, "chat_id": chat_id})
        return result

    def decide_function_call(
        self, bot_id: int | str, call_id: int | str, body: types.FunctionCallDecision, *, idempotency_key: str | None = None
    ) -> types.FunctionCallingEventDTO:
        """Decide Function Call."""
        result: types.FunctionCallingEventDTO = self.call("POST", "/function-calling/{bot_id}/events/{call_id}/decision", {"bot_id": bot_id, "call_id": call_id}, {}, body=body, key=idempotency_key)
        return result

    def collect_golden_questions(
        self, bot_id: int | str, body: types.GoldenCollectRequest, *, idempotency_key: str | None = None
    ) -> types.GoldenCollected:
        """Collect Golden Questions."""
        result: types.GoldenCollected = self.call("POST", "/ai/{bot_id}/golden-questions/collect", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_replays(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ReplaysResponse:
        """Get Replays."""
        result: types.ReplaysResponse = self.call("GET", "/ai/{bot_id}/replays", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def start_replay(
        self, bot_id: int | str, body: types.ReplayRequest, *, idempotency_key: str | None = None
    ) -> types.ReplayDto:
        """Start Replay."""
        result: types.ReplayDto = self.call("POST", "/ai/{bot_id}/replays", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_replay(
        self, bot_id: int | str, replay_id: int | str
    ) -> types.ReplayDto:
        """Get Replay."""
        result: types.ReplayDto = self.call("GET", "/ai/{bot_id}/replays/{replay_id}", {"bot_id": bot_id, "replay_id": replay_id}, {})
        return result

    def get_replayed_replies(
        self, bot_id: int | str, replay_id: int | str, *, cursor: str | None = None, limit: int | None = None, change: types.ReplayChange | None = None
    ) -> types.ReplayedResponse:
        """Get Replayed Replies."""
        result: types.ReplayedResponse = self.call("GET", "/ai/{bot_id}/replays/{replay_id}/replies", {"bot_id": bot_id, "replay_id": replay_id}, {"cursor": cursor, "limit": limit, "change": change})
        return result

    def get_unanswered_questions(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, status: Literal['open', 'learning', 'answered'] | None = None
    ) -> types.UnansweredResponse:
        """Get Unanswered Questions."""
        result: types.UnansweredResponse = self.call("GET", "/ai/{bot_id}/unanswered-questions", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit, "status": status})
        return result

    def get_unanswered_question(
        self, bot_id: int | str, question_id: int | str
    ) -> types.UnansweredQuestion:
        """Get Unanswered Question."""
        result: types.UnansweredQuestion = self.call("GET", "/ai/{bot_id}/unanswered-questions/{question_id}", {"bot_id": bot_id, "question_id": question_id}, {})
        return result

    def get_unanswered_question_chats(
        self, bot_id: int | str, question_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.AskedQuestionsResponse:
        """Get Unanswered Question Chats."""
        result: types.AskedQuestionsResponse = self.call("GET", "/ai/{bot_id}/unanswered-questions/{question_id}/chats", {"bot_id": bot_id, "question_id": question_id}, {"cursor": cursor, "limit": limit})
        return result

    def answer_unanswered_question(
        self, bot_id: int | str, question_id: int | str, body: types.AddAnswerRequest, *, idempotency_key: str | None = None
    ) -> types.UnansweredQuestion:
        """Answer Unanswered Question."""
        result: types.UnansweredQuestion = self.call("POST", "/ai/{bot_id}/unanswered-questions/{question_id}/answer", {"bot_id": bot_id, "question_id": question_id}, {}, body=body, key=idempotency_key)
        return result

    def ask_unanswered_question_again(
        self, bot_id: int | str, question_id: int | str, *, idempotency_key: str | None = None
    ) -> types.UnansweredQuestion:
        """Ask Unanswered Question Again."""
        result: types.UnansweredQuestion = self.call("POST", "/ai/{bot_id}/unanswered-questions/{question_id}/ask", {"bot_id": bot_id, "question_id": question_id}, {}, key=idempotency_key)
        return result

    def start_preview(
        self, bot_id: int | str, body: types.GenerateChatRequest, *, idempotency_key: str | None = None
    ) -> types.GeneratedChat:
        """Generate Chat."""
        result: types.GeneratedChat = self.call("POST", "/ai/{bot_id}/generate-chat", {"bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def continue_preview(
        self, chat_id: int | str, body: types.GenerateChatRequest | None = None, *, idempotency_key: str | None = None
    ) -> types.GeneratedChat:
        """Generate Chat."""
        result: types.GeneratedChat = self.call("POST", "/ai/chat/{chat_id}/generate", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def assign_chat(
        self, chat_id: int | str, body: types.ChatAssignDto, *, idempotency_key: str | None = None
    ) -> types.Conversation:
        """Assign Chat."""
        result: types.Conversation = self.call("POST", "/ai/chat/{chat_id}/assign", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def chat_unassign(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.Conversation:
        """Chat Unassign."""
        result: types.Conversation = self.call("POST", "/ai/chat/{chat_id}/unassign", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def reply_as_agent(
        self, chat_id: int | str, body: types.ManualChatMessageDto, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Manual Chat."""
        result: types.Message = self.call("POST", "/ai/chat/{chat_id}/manual", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def reply_as_agent_with_files(
        self, chat_id: int | str, body: dict[str, Any], *, idempotency_key: str | None = None
    ) -> types.Message:
        """Manual Chat With Files."""
        result: types.Message = self.call("POST", "/ai/chat/{chat_id}/manual/files", {"chat_id": chat_id}, {}, body=body, kind="files", key=idempotency_key)
        return result

    def get_history(
        self, chat_id: int | str, *, cursor: str | None = None, limit: int | None = None, sort: Literal['oldest', 'newest'] | None = None
    ) -> types.MessagesResponse:
        """Get Chat History."""
        result: types.MessagesResponse = self.call("GET", "/ai/chat/{chat_id}/history", {"chat_id": chat_id}, {"cursor": cursor, "limit": limit, "sort": sort})
        return result

    def get_chat_steps(
        self, chat_id: int | str
    ) -> types.ChatSteps:
        """Get Chat Steps."""
        result: types.ChatSteps = self.call("GET", "/ai/chat/{chat_id}/steps", {"chat_id": chat_id}, {})
        return result

    def delete_message(
        self, chat_id: int | str, message_id: int | str
    ) -> types.Message:
        """Delete Message."""
        result: types.Message = self.call("DELETE", "/ai/chat/{chat_id}/messages/{message_id}", {"chat_id": chat_id, "message_id": message_id}, {})
        return result

    def edit_message(
        self, chat_id: int | str, message_id: int | str, body: types.MessageEdit
    ) -> types.Message:
        """Edit Message."""
        result: types.Message = self.call("PUT", "/ai/chat/{chat_id}/messages/{message_id}", {"chat_id": chat_id, "message_id": message_id}, {}, body=body)
        return result

    def get_reply_receipt(
        self, chat_id: int | str, message_id: int | str
    ) -> types.ReplyReceipt:
        """Get Reply Receipt."""
        result: types.ReplyReceipt = self.call("GET", "/ai/chat/{chat_id}/messages/{message_id}/receipt", {"chat_id": chat_id, "message_id": message_id}, {})
        return result

    def replay_reply(
        self, chat_id: int | str, message_id: int | str, *, idempotency_key: str | None = None
    ) -> types.ReplayedTurn:
        """Replay Reply."""
        result: types.ReplayedTurn = self.call("POST", "/ai/chat/{chat_id}/messages/{message_id}/replay", {"chat_id": chat_id, "message_id": message_id}, {}, key=idempotency_key)
        return result

    def get_customer_history(
        self, customer_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ConversationsResponse:
        """Get Chat History."""
        result: types.ConversationsResponse = self.call("GET", "/ai/chat/history/customer/{customer_id}", {"customer_id": customer_id}, {"cursor": cursor, "limit": limit})
        return result

    def get_bot_history(
        self, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ConversationsResponse:
        """Get Chat History."""
        result: types.ConversationsResponse = self.call("GET", "/ai/{bot_id}/chat-history", {"bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def get_customers(
        self, *, cursor: str | None = None, limit: int | None = None, q: str | None = None, external_id: str | None = None
    ) -> types.CustomersResponse:
        """Get Customers."""
        result: types.CustomersResponse = self.call("GET", "/ai/customers", {}, {"cursor": cursor, "limit": limit, "q": q, "external_id": external_id})
        return result

    def get_customer(
        self, customer_id: int | str
    ) -> types.CustomerDto:
        """Get Customer By Id."""
        result: types.CustomerDto = self.call("GET", "/ai/customers/{customer_id}", {"customer_id": customer_id}, {})
        return result

    def update_customer(
        self, customer_id: int | str, body: types.CustomerInput
    ) -> types.CustomerDto:
        """Update Customer."""
        result: types.CustomerDto = self.call("PUT", "/ai/customers/{customer_id}", {"customer_id": customer_id}, {}, body=body)
        return result

    def export_customer(
        self, customer_id: int | str
    ) -> bytes:
        """Export Customer."""
        result: bytes = self.call("GET", "/ai/customers/{customer_id}/export", {"customer_id": customer_id}, {})
        return result

    def erase_customer(
        self, customer_id: int | str, *, idempotency_key: str | None = None
    ) -> types.CustomerErasure:
        """Erase Customer."""
        result: types.CustomerErasure = self.call("POST", "/ai/customers/{customer_id}/erasure", {"customer_id": customer_id}, {}, key=idempotency_key)
        return result

    def get_customer_erasure(
        self, erasure_id: int | str
    ) -> types.CustomerErasure:
        """Get Customer Erasure."""
        result: types.CustomerErasure = self.call("GET", "/ai/customers/erasures/{erasure_id}", {"erasure_id": erasure_id}, {})
        return result

    def merge_customers(
        self, customer_id: int | str, merged_id: int | str, *, idempotency_key: str | None = None
    ) -> types.CustomerDto:
        """Merge Customers."""
        result: types.CustomerDto = self.call("POST", "/ai/customers/{customer_id}/merge/{merged_id}", {"customer_id": customer_id, "merged_id": merged_id}, {}, key=idempotency_key)
        return result

    def get_chats(
        self, *, cursor: str | None = None, limit: int | None = None, status: Literal['open', 'snoozed', 'ended'] | None = None, assign_type: types.AssignTypeEnum | None = None, priority: Literal['low', 'normal', 'high', 'urgent'] | None = None, mine: bool | None = None, is_assigned: bool | None = None, is_unread: bool | None = None, is_waiting: bool | None = None, previews: bool | None = None, bot_id: int | None = None, customer_id: int | None = None, channel: Literal['web', 'api', 'socialnet', 'photoapp', 'chatapp', 'localapp', 'telegram'] | None = None, assignee_id: int | None = None, tag: str | None = None, language: str | None = None, min_wait_seconds: int | None = None, sentiment: Literal['positive', 'neutral', 'negative'] | None = None, q: str | None = None, created_from: str | None = None, created_to: str | None = None, sort: Literal['newest', 'longest_wait', 'priority'] | None = None
    ) -> types.ChatsResponse:
        """Get Chats."""
        result: types.ChatsResponse = self.call("GET", "/ai/chats", {}, {"cursor": cursor, "limit": limit, "status": status, "assign_type": assign_type, "priority": priority, "mine": mine, "is_assigned": is_assigned, "is_unread": is_unread, "is_waiting": is_waiting, "previews": previews, "bot_id": bot_id, "customer_id": customer_id, "channel": channel, "assignee_id": assignee_id, "tag": tag, "language": language, "min_wait_seconds": min_wait_seconds, "sentiment": sentiment, "q": q, "created_from": created_from, "created_to": created_to, "sort": sort})
        return result

    def get_chat_counts(
        self
    ) -> types.ChatCounts:
        """Get Chat Counts."""
        result: types.ChatCounts = self.call("GET", "/ai/chats/counts", {}, {})
        return result

    def get_desk_chat(
        self, chat_id: int | str
    ) -> types.Conversation:
        """Get Chat By Id."""
        result: types.Conversation = self.call("GET", "/ai/chat/{chat_id}", {"chat_id": chat_id}, {})
        return result

    def end_chat(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.Conversation | types.VisitorConversation:
        """End A Chat By Id."""
        result: types.Conversation | types.VisitorConversation = self.call("POST", "/ai/chat/{chat_id}/end", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def agent_end_chat(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.Conversation:
        """Agent End A Chat By Id."""
        result: types.Conversation = self.call("POST", "/ai/chat/{chat_id}/agent-end", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def snooze_chat(
        self, chat_id: int | str, body: types.ChatSnoozeDto, *, idempotency_key: str | None = None
    ) -> types.Conversation:
        """Snooze Chat."""
        result: types.Conversation = self.call("POST", "/ai/chat/{chat_id}/snooze", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def set_chat_priority(
        self, chat_id: int | str, body: types.ChatPriorityDto
    ) -> types.Conversation:
        """Set Chat Priority."""
        result: types.Conversation = self.call("PUT", "/ai/chat/{chat_id}/priority", {"chat_id": chat_id}, {}, body=body)
        return result

    def reopen_chat(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.Conversation:
        """Reopen Chat."""
        result: types.Conversation = self.call("POST", "/ai/chat/{chat_id}/reopen", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def mark_chat_as_read(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.Conversation:
        """Mark Chat As Read."""
        result: types.Conversation = self.call("POST", "/ai/chat/{chat_id}/read", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def get_assign_notification(
        self, *, cursor: str | None = None, limit: int | None = None, unread: bool | None = None, personal: bool | None = None
    ) -> types.NotificationsResponse:
        """Get Assign Notification."""
        result: types.NotificationsResponse = self.call("GET", "/ai/chat/notifications", {}, {"cursor": cursor, "limit": limit, "unread": unread, "personal": personal})
        return result

    def mark_all_notifications_as_read(
        self
    ) -> types.ReadCount:
        """Mark All Notifications As Read."""
        result: types.ReadCount = self.call("PUT", "/ai/chat/notifications/read", {}, {})
        return result

    def mark_notification_read(
        self, notification_id: int | str
    ) -> types.AssignNotification:
        """Mark Notification As Read By Notification Id."""
        result: types.AssignNotification = self.call("PUT", "/ai/chat/notifications/{notification_id}/read", {"notification_id": notification_id}, {})
        return result

    def get_push_key(
        self
    ) -> types.PushKey:
        """Get Push Key."""
        result: types.PushKey = self.call("GET", "/ai/chat/push-key", {}, {})
        return result

    def get_push_subscriptions(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.PushSubscriptionsResponse:
        """Get Push Subscriptions."""
        result: types.PushSubscriptionsResponse = self.call("GET", "/ai/chat/push-subscriptions", {}, {"cursor": cursor, "limit": limit})
        return result

    def create_push_subscription(
        self, body: types.NewPushSubscription, *, idempotency_key: str | None = None
    ) -> types.PushSubscription:
        """Create Push Subscription."""
        result: types.PushSubscription = self.call("POST", "/ai/chat/push-subscriptions", {}, {}, body=body, key=idempotency_key)
        return result

    def delete_push_subscription(
        self, subscription_id: int | str
    ) -> None:
        """Delete Push Subscription."""
        result: None = self.call("DELETE", "/ai/chat/push-subscriptions/{subscription_id}", {"subscription_id": subscription_id}, {})
        return result

    def get_inbox_views(
        self
    ) -> types.DeskViews:
        """Get Inbox Views."""
        result: types.DeskViews = self.call("GET", "/ai/chat/views", {}, {})
        return result

    def save_inbox_view(
        self, body: types.DeskViewInput, *, idempotency_key: str | None = None
    ) -> types.DeskView:
        """Save Inbox View."""
        result: types.DeskView = self.call("POST", "/ai/chat/views", {}, {}, body=body, key=idempotency_key)
        return result

    def delete_inbox_view(
        self, view_id: int | str
    ) -> None:
        """Delete Inbox View."""
        result: None = self.call("DELETE", "/ai/chat/views/{view_id}", {"view_id": view_id}, {})
        return result

    def get_saved_replies(
        self, *, cursor: str | None = None, limit: int | None = None, is_shared: bool | None = None, q: str | None = None
    ) -> types.SavedRepliesResponse:
        """Get Saved Replies."""
        result: types.SavedRepliesResponse = self.call("GET", "/ai/chat/saved-replies", {}, {"cursor": cursor, "limit": limit, "is_shared": is_shared, "q": q})
        return result

    def create_saved_reply(
        self, body: types.SavedReplyInput, *, idempotency_key: str | None = None
    ) -> types.SavedReplyDto:
        """Create Saved Reply."""
        result: types.SavedReplyDto = self.call("POST", "/ai/chat/saved-replies", {}, {}, body=body, key=idempotency_key)
        return result

    def delete_saved_reply(
        self, saved_reply_id: int | str
    ) -> None:
        """Delete Saved Reply."""
        result: None = self.call("DELETE", "/ai/chat/saved-replies/{saved_reply_id}", {"saved_reply_id": saved_reply_id}, {})
        return result

    def update_saved_reply(
        self, saved_reply_id: int | str, body: types.SavedReplyInput
    ) -> types.SavedReplyDto:
        """Update Saved Reply."""
        result: types.SavedReplyDto = self.call("PUT", "/ai/chat/saved-replies/{saved_reply_id}", {"saved_reply_id": saved_reply_id}, {}, body=body)
        return result

    def render_saved_reply(
        self, chat_id: int | str, saved_reply_id: int | str, *, language: str | None = None
    ) -> types.RenderedReply:
        """Render Saved Reply."""
        result: types.RenderedReply = self.call("GET", "/ai/chat/{chat_id}/saved-replies/{saved_reply_id}", {"chat_id": chat_id, "saved_reply_id": saved_reply_id}, {"language": language})
        return result

    def start_summary_run(
        self, body: types.SummaryCalculateRequest | None = None, *, idempotency_key: str | None = None
    ) -> types.SummaryJob:
        """Chat Summary Calculate."""
        result: types.SummaryJob = self.call("POST", "/ai/chat/summary/calculate", {}, {}, body=body, key=idempotency_key)
        return result

    def get_summary_run(
        self, job_id: int | str
    ) -> types.SummaryJob:
        """Chat Summary Calculate."""
        result: types.SummaryJob = self.call("GET", "/ai/chat/summary/calculate/{job_id}", {"job_id": job_id}, {})
        return result

    def summarize_chat(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.ChatSummary:
        """Summarize Chat By Id."""
        result: types.ChatSummary = self.call("POST", "/ai/chat/{chat_id}/summarize", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def get_client_tags(
        self
    ) -> types.Tags:
        """Get Client Tags."""
        result: types.Tags = self.call("GET", "/ai/tags", {}, {})
        return result

    def create_client_tag(
        self, body: types.ClientTagRequest, *, idempotency_key: str | None = None
    ) -> types.Tag:
        """Create Client Tag."""
        result: types.Tag = self.call("POST", "/ai/tags", {}, {}, body=body, key=idempotency_key)
        return result

    def delete_client_tag(
        self, tag_id: int | str
    ) -> None:
        """Delete Client Tag."""
        result: None = self.call("DELETE", "/ai/tags/{tag_id}", {"tag_id": tag_id}, {})
        return result

    def update_client_tag(
        self, tag_id: int | str, body: types.ClientTagRequest
    ) -> types.Tag:
        """Update Client Tag."""
        result: types.Tag = self.call("PUT", "/ai/tags/{tag_id}", {"tag_id": tag_id}, {}, body=body)
        return result

    def merge_client_tag(
        self, tag_id: int | str, body: types.TagMerge, *, idempotency_key: str | None = None
    ) -> types.Tag:
        """Merge Client Tag."""
        result: types.Tag = self.call("POST", "/ai/tags/{tag_id}/merge", {"tag_id": tag_id}, {}, body=body, key=idempotency_key)
        return result

    def create_tags_for_chat(
        self, chat_id: int | str, body: types.Tags, *, idempotency_key: str | None = None
    ) -> types.Tags:
        """Create Tags For Chat."""
        result: types.Tags = self.call("POST", "/ai/chat/{chat_id}/tags", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def update_tags_for_chat(
        self, chat_id: int | str, body: types.Tags
    ) -> types.Tags:
        """Update Tags For Chat."""
        result: types.Tags = self.call("PUT", "/ai/chat/{chat_id}/tags", {"chat_id": chat_id}, {}, body=body)
        return result

    def generate_tags(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.Tags:
        """Auto Generate Tag With Ai."""
        result: types.Tags = self.call("POST", "/ai/chat/{chat_id}/tags/auto", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def suggest_tags(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.Tags:
        """Auto Generate Tag With Ai Temp."""
        result: types.Tags = self.call("POST", "/ai/chat/{chat_id}/tags/auto-temp", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def analyze_sentiment(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.ChatSentiment:
        """Generate Sentiment Manual."""
        result: types.ChatSentiment = self.call("POST", "/ai/chat/{chat_id}/sentiment", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def rewrite_reply(
        self, chat_id: int | str, body: types.RewriteRequest, *, idempotency_key: str | None = None
    ) -> types.RewrittenText:
        """Rewrite Reply."""
        result: types.RewrittenText = self.call("POST", "/ai/chat/{chat_id}/rewrite", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def create_chat_feed_back(
        self, chat_id: int | str, body: types.ChatFeedBackInput, *, idempotency_key: str | None = None
    ) -> types.ChatFeedBackDto:
        """Create Chat Feed Back."""
        result: types.ChatFeedBackDto = self.call("POST", "/ai/chat/{chat_id}/feedback", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def get_chat_feedbacks(
        self, *, cursor: str | None = None, limit: int | None = None, bot_id: int | None = None, rating: int | None = None, thumb: Literal['up', 'down'] | None = None, reason: Literal['wrong_answer', 'not_understood', 'no_solution', 'too_slow', 'unfriendly', 'other'] | None = None, chat_id: str | None = None, customer_id: int | None = None, created_from: str | None = None, created_to: str | None = None
    ) -> types.FeedbacksResponse:
        """Get Chat Feedbacks."""
        result: types.FeedbacksResponse = self.call("GET", "/ai/chat/feedbacks", {}, {"cursor": cursor, "limit": limit, "bot_id": bot_id, "rating": rating, "thumb": thumb, "reason": reason, "chat_id": chat_id, "customer_id": customer_id, "created_from": created_from, "created_to": created_to})
        return result

    def stream_events(
        self, *, last_event_id: str | None = None, ticket: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Chat Events."""
        result: Iterator[dict[str, Any]] = self.call("GET", "/ai/chat/events", {}, {"last_event_id": last_event_id, "ticket": ticket}, is_stream=True)
        return result

    def create_events_ticket(
        self, *, idempotency_key: str | None = None
    ) -> types.FeedTicket:
        """Create Chat Events Ticket."""
        result: types.FeedTicket = self.call("POST", "/ai/chat/events/ticket", {}, {}, key=idempotency_key)
        return result

    def set_typing(
        self, chat_id: int | str, body: types.Typing, *, idempotency_key: str | None = None
    ) -> None:
        """Set Typing."""
        result: None = self.call("POST", "/ai/chat/{chat_id}/typing", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def set_viewing(
        self, chat_id: int | str, body: types.Viewing, *, idempotency_key: str | None = None
    ) -> None:
        """Set Viewing."""
        result: None = self.call("POST", "/ai/chat/{chat_id}/viewing", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def create_chat(
        self, body: types.ChatCreation, *, idempotency_key: str | None = None
    ) -> types.Conversation | types.VisitorConversation:
        """Create new chat conversation."""
        result: types.Conversation | types.VisitorConversation = self.call("POST", "/ai/client/chat", {}, {}, body=body, key=idempotency_key)
        return result

    def get_chat(
        self, chat_id: int | str
    ) -> types.Conversation | types.VisitorConversation:
        """Get chat conversation."""
        result: types.Conversation | types.VisitorConversation = self.call("GET", "/ai/client/chat/{chat_id}", {"chat_id": chat_id}, {})
        return result

    def send_message(
        self, chat_id: int | str, body: types.ConvMessage, *, idempotency_key: str | None = None
    ) -> types.ChatTurn | types.VisitorTurn:
        """Send message in existing chat conversation."""
        result: types.ChatTurn | types.VisitorTurn = self.call("POST", "/ai/client/chat/{chat_id}", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def update_chat_customer(
        self, chat_id: int | str, body: types.ChatCustomer, *, idempotency_key: str | None = None
    ) -> types.Conversation | types.VisitorConversation:
        """Update customer information in chat conversation."""
        result: types.Conversation | types.VisitorConversation = self.call("POST", "/ai/client/chat/customer/{chat_id}", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def send_files(
        self, chat_id: int | str, body: dict[str, Any], *, idempotency_key: str | None = None
    ) -> types.ChatTurn | types.VisitorTurn:
        """Send message with files in chat conversation."""
        result: types.ChatTurn | types.VisitorTurn = self.call("POST", "/ai/client/chat/files/{chat_id}/", {"chat_id": chat_id}, {}, body=body, kind="files", key=idempotency_key)
        return result

    def send_assistant_message(
        self, chat_id: int | str, body: types.ConvMessage, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Send assistant reply message in chat conversation."""
        result: types.Message = self.call("POST", "/ai/client/chat/assistant/{chat_id}", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def generate_reply(
        self, chat_id: int | str, *, idempotency_key: str | None = None
    ) -> types.ChatTurn | types.VisitorTurn:
        """Generate automatic AI response."""
        result: types.ChatTurn | types.VisitorTurn = self.call("POST", "/ai/client/chat/auto-response/{chat_id}", {"chat_id": chat_id}, {}, key=idempotency_key)
        return result

    def report_delivered(
        self, chat_id: int | str, body: types.ArrivalReport, *, idempotency_key: str | None = None
    ) -> None:
        """Report Messages As Delivered."""
        result: None = self.call("POST", "/ai/client/chat/{chat_id}/delivered", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def report_read(
        self, chat_id: int | str, body: types.ArrivalReport, *, idempotency_key: str | None = None
    ) -> None:
        """Report Messages As Read."""
        result: None = self.call("POST", "/ai/client/chat/{chat_id}/read", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def get_transcript(
        self, chat_id: int | str
    ) -> types.Transcript:
        """Get Transcript."""
        result: types.Transcript = self.call("GET", "/ai/client/chat/{chat_id}/transcript", {"chat_id": chat_id}, {})
        return result

    def download_transcript(
        self, chat_id: int | str, *, timezone: str | None = None
    ) -> bytes:
        """Download Transcript."""
        result: bytes = self.call("GET", "/ai/client/chat/{chat_id}/transcript.txt", {"chat_id": chat_id}, {"timezone": timezone})
        return result

    def mail_transcript(
        self, chat_id: int | str, body: types.TranscriptMail, *, idempotency_key: str | None = None
    ) -> None:
        """Mail Transcript."""
        result: None = self.call("POST", "/ai/client/chat/{chat_id}/transcript/mail", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def list_chats(
        self, *, cursor: str | None = None, limit: int | None = None, status: Literal['open', 'snoozed', 'ended'] | None = None, assign_type: types.AssignTypeEnum | None = None, priority: Literal['low', 'normal', 'high', 'urgent'] | None = None, mine: bool | None = None, is_assigned: bool | None = None, is_unread: bool | None = None, is_waiting: bool | None = None, previews: bool | None = None, bot_id: int | None = None, customer_id: int | None = None, channel: Literal['web', 'api', 'socialnet', 'photoapp', 'chatapp', 'localapp', 'telegram'] | None = None, assignee_id: int | None = None, tag: str | None = None, language: str | None = None, min_wait_seconds: int | None = None, sentiment: Literal['positive', 'neutral', 'negative'] | None = None, q: str | None = None, created_from: str | None = None, created_to: str | None = None, sort: Literal['newest', 'longest_wait', 'priority'] | None = None
    ) -> types.ConversationsResponse:
        """Get chat conversation list."""
        result: types.ConversationsResponse = self.call("GET", "/ai/client/chats", {}, {"cursor": cursor, "limit": limit, "status": status, "assign_type": assign_type, "priority": priority, "mine": mine, "is_assigned": is_assigned, "is_unread": is_unread, "is_waiting": is_waiting, "previews": previews, "bot_id": bot_id, "customer_id": customer_id, "channel": channel, "assignee_id": assignee_id, "tag": tag, "language": language, "min_wait_seconds": min_wait_seconds, "sentiment": sentiment, "q": q, "created_from": created_from, "created_to": created_to, "sort": sort})
        return result

    def identify_visitor(
        self, body: types.VisitorIdentity, *, idempotency_key: str | None = None
    ) -> types.KnownVisitor:
        """Identify Visitor."""
        result: types.KnownVisitor = self.call("POST", "/ai/client/visitor", {}, {}, body=body, key=idempotency_key)
        return result

    def get_chat_messages(
        self, chat_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.MessagesResponse | types.VisitorMessages:
        """Get chat conversation history."""
        result: types.MessagesResponse | types.VisitorMessages = self.call("GET", "/ai/client/chat/history/{chat_id}", {"chat_id": chat_id}, {"cursor": cursor, "limit": limit})
        return result

    def get_chat_messages_with_customer(
        self, chat_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ConversationHistory:
        """Get chat conversation history with customer information."""
        result: types.ConversationHistory = self.call("GET", "/ai/client/chat/history-with-customer/{chat_id}", {"chat_id": chat_id}, {"cursor": cursor, "limit": limit})
        return result

    def get_chat_messages_by_code(
        self, chat_code: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.MessagesResponse | types.VisitorMessages:
        """Get messages by chat conversation code."""
        result: types.MessagesResponse | types.VisitorMessages = self.call("GET", "/ai/client/chat/messages/{chat_code}", {"chat_code": chat_code}, {"cursor": cursor, "limit": limit})
        return result

    def download_attachment(
        self, attachment_id: int | str, *, signature: str | None = None
    ) -> bytes:
        """Download Attachment."""
        result: bytes = self.call("GET", "/ai/attachment/{attachment_id}", {"attachment_id": attachment_id}, {"signature": signature})
        return result

    def migrate_messages(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.MessageEntitiesResponse:
        """Migration tool - Migrate chat messages."""
        result: types.MessageEntitiesResponse = self.call("GET", "/ai/client/migrate/messages", {}, {"cursor": cursor, "limit": limit})
        return result

    def migrate_conversations(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ConversationEntitiesResponse:
        """Migration tool - Migrate chat conversations."""
        result: types.ConversationEntitiesResponse = self.call("GET", "/ai/client/migrate/conversations", {}, {"cursor": cursor, "limit": limit})
        return result

    def delete_all_documents(
        self, *, bot_id: int | None = None
    ) -> types.DeletedCount:
        """Delete All Documents."""
        result: types.DeletedCount = self.call("DELETE", "/ai/client/documents", {}, {"bot_id": bot_id})
        return result

    def suggest_replies_by_api_key(
        self, chat_id: int | str, body: types.SuggestionRequest | None = None, *, idempotency_key: str | None = None
    ) -> types.ReplySuggestions:
        """Generate intelligent reply suggestions for chat conversation."""
        result: types.ReplySuggestions = self.call("POST", "/ai/client/chat/suggestions/{chat_id}", {"chat_id": chat_id}, {}, body=body, key=idempotency_key)
        return result

    def translate_text(
        self, body: types.TranslationRequest, *, idempotency_key: str | None = None
    ) -> types.TranslationResponse:
        """Multi-language text translation."""
        result: types.TranslationResponse = self.call("POST", "/client/translate", {}, {}, body=body, key=idempotency_key)
        return result

    def translate_text_old(
        self, body: types.TranslationRequest, *, idempotency_key: str | None = None
    ) -> types.TranslationResponse:
        """AI translation API."""
        result: types.TranslationResponse = self.call("POST", "/ai/translate", {}, {}, body=body, key=idempotency_key)
        return result

    def summarize_text(
        self, body: types.SummarizeRequest, *, idempotency_key: str | None = None
    ) -> types.SummarizeResponse:
        """Intelligent content summarization with AI."""
        result: types.SummarizeResponse = self.call("POST", "/client/summarize", {}, {}, body=body, key=idempotency_key)
        return result

    def get_platform_words(
        self, client_id: int | str
    ) -> types.PlatformWords:
        """Get Platform Words."""
        result: types.PlatformWords = self.call("GET", "/config/{client_id}/words", {"client_id": client_id}, {})
        return result

    def update_platform_words(
        self, client_id: int | str, body: types.PlatformWords
    ) -> types.PlatformWords:
        """Update Platform Words."""
        result: types.PlatformWords = self.call("PUT", "/config/{client_id}/words", {"client_id": client_id}, {}, body=body)
        return result

    def list_conversations(
        self, *, cursor: str | None = None, limit: int | None = None, group_id: str | None = None, status: Literal['open', 'snoozed', 'ended'] | None = None, tags: list[str] | None = None, requester_id: str | None = None, created_from: str | None = None, created_to: str | None = None
    ) -> types.ConversationResponses:
        """List Conversations."""
        result: types.ConversationResponses = self.call("GET", "/mesaging/conversations", {}, {"cursor": cursor, "limit": limit, "group_id": group_id, "status": status, "tags": tags, "requester_id": requester_id, "created_from": created_from, "created_to": created_to})
        return result

    def create_conversation(
        self, body: types.ConversationRequest, *, idempotency_key: str | None = None
    ) -> types.ConversationResponse:
        """Create Conversation."""
        result: types.ConversationResponse = self.call("POST", "/mesaging/conversations", {}, {}, body=body, key=idempotency_key)
        return result

    def get_conversation(
        self, conversation_id: int | str
    ) -> types.ConversationResponse:
        """Get Conversation."""
        result: types.ConversationResponse = self.call("GET", "/mesaging/conversations/{conversation_id}", {"conversation_id": conversation_id}, {})
        return result

    def list_messages(
        self, conversation_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.MessagingMessagesResponse:
        """List Messages."""
        result: types.MessagingMessagesResponse = self.call("GET", "/mesaging/conversations/{conversation_id}/messages", {"conversation_id": conversation_id}, {"cursor": cursor, "limit": limit})
        return result

    def create_message(
        self, conversation_id: int | str, body: types.MessageRequest, *, idempotency_key: str | None = None
    ) -> types.MessageEntity:
        """Create Message."""
        result: types.MessageEntity = self.call("POST", "/mesaging/conversations/{conversation_id}/messages", {"conversation_id": conversation_id}, {}, body=body, key=idempotency_key)
        return result

    def end_conversation(
        self, conversation_id: int | str
    ) -> types.ConversationResponse:
        """End Conversation."""
        result: types.ConversationResponse = self.call("PUT", "/mesaging/conversations/{conversation_id}/end", {"conversation_id": conversation_id}, {})
        return result

    def get_conversation_summary(
        self, conversation_id: int | str
    ) -> types.ChatSummary:
        """Get Conversation Summary."""
        result: types.ChatSummary = self.call("GET", "/mesaging/conversations/{conversation_id}/summary", {"conversation_id": conversation_id}, {})
        return result

    def create_conversation_summary(
        self, conversation_id: int | str, *, idempotency_key: str | None = None
    ) -> types.ChatSummary:
        """Create Conversation Summary."""
        result: types.ChatSummary = self.call("POST", "/mesaging/conversations/{conversation_id}/summary", {"conversation_id": conversation_id}, {}, key=idempotency_key)
        return result

    def get_conversation_ai_tags(
        self, conversation_id: int | str
    ) -> types.Tags:
        """Get Conversation Ai Tags."""
        result: types.Tags = self.call("GET", "/mesaging/conversations/{conversation_id}/ai-tags", {"conversation_id": conversation_id}, {})
        return result

    def create_conversation_ai_tags(
        self, conversation_id: int | str, *, idempotency_key: str | None = None
    ) -> types.Tags:
        """Create Conversation Ai Tags."""
        result: types.Tags = self.call("POST", "/mesaging/conversations/{conversation_id}/ai-tags", {"conversation_id": conversation_id}, {}, key=idempotency_key)
        return result

    def get_socialnet_messages(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, recipient_id: str | None = None
    ) -> types.MessagesResponse:
        """Get Socialnet Messages."""
        result: types.MessagesResponse = self.call("GET", "/socialnet/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit, "recipient_id": recipient_id})
        return result

    def send_socialnet_message(
        self, client_id: int | str, bot_id: int | str, body: types.ChannelMessageRequest, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Post Socialnet."""
        result: types.Message = self.call("POST", "/socialnet/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def list_socialnet_pages(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ChannelAccountsResponse:
        """Client Messenger List Pages."""
        result: types.ChannelAccountsResponse = self.call("GET", "/socialnet/{client_id}/pages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def store_socialnet_token(
        self, client_id: int | str, body: types.SocialnetAccessToken, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Store User Token."""
        result: types.ChannelConnection = self.call("POST", "/socialnet/{client_id}/user-token", {"client_id": client_id}, {}, body=body, key=idempotency_key)
        return result

    def connect_socialnet_page(
        self, client_id: int | str, bot_id: int | str, body: types.MessengerConnectPageDto, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Client Messenger Connect Page."""
        result: types.ChannelConnection = self.call("POST", "/socialnet/{client_id}/connect_page/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def connect_socialnet(
        self, client_id: int | str, bot_id: int | str, body: types.MessengerConnectDto, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Client Messenger Connect."""
        result: types.ChannelConnection = self.call("POST", "/socialnet/{client_id}/connect/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_socialnet_connection(
        self, client_id: int | str, bot_id: int | str
    ) -> types.ChannelConnection:
        """Get Client Socialnet Connection Info."""
        result: types.ChannelConnection = self.call("GET", "/socialnet/{client_id}/connection/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {})
        return result

    def disconnect_socialnet_page(
        self, client_id: int | str, bot_id: int | str, body: types.MessengerConnectPageDto | None = None
    ) -> types.ChannelConnection:
        """Disconnect A Page Of Client."""
        result: types.ChannelConnection = self.call("PUT", "/socialnet/{client_id}/disconnect_page/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body)
        return result

    def reconnect_socialnet_page(
        self, client_id: int | str, bot_id: int | str, body: types.MessengerConnectPageDto | None = None
    ) -> types.ChannelConnection:
        """Reconnect A Page Of Client."""
        result: types.ChannelConnection = self.call("PUT", "/socialnet/{client_id}/reconnect_page/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body)
        return result

    def get_photoapp_messages(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, recipient_id: str | None = None
    ) -> types.MessagesResponse:
        """Get Photoapp Messages."""
        result: types.MessagesResponse = self.call("GET", "/photoapp/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit, "recipient_id": recipient_id})
        return result

    def send_photoapp_message(
        self, client_id: int | str, bot_id: int | str, body: types.ChannelMessageRequest, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Post Photoapp Messages."""
        result: types.Message = self.call("POST", "/photoapp/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def list_photoapp_accounts(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ChannelAccountsResponse:
        """Client Messenger List Photoapp Accounts."""
        result: types.ChannelAccountsResponse = self.call("GET", "/photoapp/{client_id}/accounts/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def store_photoapp_token(
        self, client_id: int | str, body: types.SocialnetAccessToken, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Store User Token."""
        result: types.ChannelConnection = self.call("POST", "/photoapp/{client_id}/user-token", {"client_id": client_id}, {}, body=body, key=idempotency_key)
        return result

    def connect_photoapp_page(
        self, client_id: int | str, bot_id: int | str, body: types.PhotoappConnectPageDto, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Client Messenger Connect Page."""
        result: types.ChannelConnection = self.call("POST", "/photoapp/{client_id}/connect_page/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def connect_photoapp(
        self, client_id: int | str, bot_id: int | str, body: types.PhotoappConnectDto, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Connect Photoapp."""
        result: types.ChannelConnection = self.call("POST", "/photoapp/{client_id}/connect/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def list_photoapp_connections(
        self, client_id: int | str
    ) -> list[types.ChannelConnection]:
        """Get Client Ig Connection By Client Id."""
        result: list[types.ChannelConnection] = self.call("GET", "/photoapp/{client_id}/connection", {"client_id": client_id}, {})
        return result

    def disconnect_photoapp(
        self, client_id: int | str, bot_id: int | str
    ) -> types.ChannelConnection:
        """Disconnect Photoapp."""
        result: types.ChannelConnection = self.call("PUT", "/photoapp/{client_id}/disconnect/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {})
        return result

    def connect_localapp(
        self, client_id: int | str, bot_id: int | str, body: types.LocalappOAConnectDto, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Client Messenger Connect."""
        result: types.ChannelConnection = self.call("POST", "/localapp/{client_id}/connect/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def disconnect_localapp(
        self, client_id: int | str, bot_id: int | str
    ) -> types.ChannelConnection:
        """Disconnect A Page Of Client."""
        result: types.ChannelConnection = self.call("PUT", "/localapp/{client_id}/disconnect_page/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {})
        return result

    def get_localapp_connection(
        self, client_id: int | str, bot_id: int | str
    ) -> types.ChannelConnection:
        """Get Client Localapp Connection Info."""
        result: types.ChannelConnection = self.call("GET", "/localapp/{client_id}/connection/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {})
        return result

    def get_localapp_messages(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, recipient_id: str | None = None
    ) -> types.MessagesResponse:
        """Get Localapp Messages."""
        result: types.MessagesResponse = self.call("GET", "/localapp/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit, "recipient_id": recipient_id})
        return result

    def send_localapp_message(
        self, client_id: int | str, bot_id: int | str, body: types.ChannelMessageRequest, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Post Localapp Messages."""
        result: types.Message = self.call("POST", "/localapp/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def store_chatapp_token(
        self, client_id: int | str, body: types.SocialnetAccessToken, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Store User Token."""
        result: types.ChannelConnection = self.call("POST", "/chatapp/{client_id}/user-token", {"client_id": client_id}, {}, body=body, key=idempotency_key)
        return result

    def list_chatapp_accounts(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ChannelAccountsResponse:
        """Client Chatapp List Accounts."""
        result: types.ChannelAccountsResponse = self.call("GET", "/chatapp/{client_id}/accounts/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def connect_chatapp(
        self, client_id: int | str, bot_id: int | str, body: types.ChatappConnectDto, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Connect Chatapp."""
        result: types.ChannelConnection = self.call("POST", "/chatapp/{client_id}/connect/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def disconnect_chatapp(
        self, client_id: int | str, bot_id: int | str
    ) -> types.ChannelConnection:
        """Disconnect Chatapp."""
        result: types.ChannelConnection = self.call("PUT", "/chatapp/{client_id}/disconnect/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {})
        return result

    def get_chatapp_connection(
        self, client_id: int | str, bot_id: int | str
    ) -> types.ChannelConnection:
        """Get Bot Wa Connection."""
        result: types.ChannelConnection = self.call("GET", "/chatapp/{client_id}/connection/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {})
        return result

    def get_chatapp_messages(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, recipient_id: str | None = None
    ) -> types.MessagesResponse:
        """Get Chatapp Messages."""
        result: types.MessagesResponse = self.call("GET", "/chatapp/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit, "recipient_id": recipient_id})
        return result

    def send_chatapp_message(
        self, client_id: int | str, bot_id: int | str, body: types.ChannelMessageRequest, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Post Chatapp Messages."""
        result: types.Message = self.call("POST", "/chatapp/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_chatapp_templates(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None
    ) -> types.ChatappTemplatesResponse:
        """Get Chatapp Templates."""
        result: types.ChatappTemplatesResponse = self.call("GET", "/chatapp/{client_id}/templates/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit})
        return result

    def send_chatapp_template(
        self, client_id: int | str, bot_id: int | str, body: types.ChatappTemplateRequest, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Post Chatapp Template."""
        result: types.Message = self.call("POST", "/chatapp/{client_id}/templates/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def connect_telegram(
        self, client_id: int | str, bot_id: int | str, body: types.TokenConnectDto, *, idempotency_key: str | None = None
    ) -> types.ChannelConnection:
        """Connect Telegram."""
        result: types.ChannelConnection = self.call("POST", "/telegram/{client_id}/connect/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_telegram_connection(
        self, client_id: int | str, bot_id: int | str
    ) -> types.ChannelConnection:
        """Get Client Telegram Connection Info."""
        result: types.ChannelConnection = self.call("GET", "/telegram/{client_id}/connection/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {})
        return result

    def disconnect_telegram(
        self, client_id: int | str, bot_id: int | str
    ) -> types.ChannelConnection:
        """Disconnect Telegram."""
        result: types.ChannelConnection = self.call("PUT", "/telegram/{client_id}/disconnect/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {})
        return result

    def get_telegram_messages(
        self, client_id: int | str, bot_id: int | str, *, cursor: str | None = None, limit: int | None = None, recipient_id: str | None = None
    ) -> types.MessagesResponse:
        """Get Telegram Messages."""
        result: types.MessagesResponse = self.call("GET", "/telegram/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {"cursor": cursor, "limit": limit, "recipient_id": recipient_id})
        return result

    def send_telegram_message(
        self, client_id: int | str, bot_id: int | str, body: types.ChannelMessageRequest, *, idempotency_key: str | None = None
    ) -> types.Message:
        """Post Telegram Messages."""
        result: types.Message = self.call("POST", "/telegram/{client_id}/messages/{bot_id}", {"client_id": client_id, "bot_id": bot_id}, {}, body=body, key=idempotency_key)
        return result

    def get_report_filters(
        self, *, date_from: str | None = None, date_to: str | None = None, timezone: str | None = None
    ) -> types.AdhocFilterOptions:
        """Getadhocreportfilteroptionsrouter."""
        result: types.AdhocFilterOptions = self.call("GET", "/report/adhoc/filter-options", {}, {"date_from": date_from, "date_to": date_to, "timezone": timezone})
        return result

    def search_report(
        self, body: types.SearchAdhocReportParam, *, idempotency_key: str | None = None
    ) -> types.AdhocReport:
        """Searchadhocreportrouter."""
        result: types.AdhocReport = self.call("POST", "/report/adhoc/search", {}, {}, body=body, key=idempotency_key)
        return result

    def export_report(
        self, body: types.ExportAdhocReportParam, *, idempotency_key: str | None = None
    ) -> bytes:
        """Exportadhocreportrouter."""
        result: bytes = self.call("POST", "/report/adhoc/export", {}, {}, body=body, key=idempotency_key)
        return result

    def get_report_export(
        self, export_id: int | str, *, signature: str | None = None
    ) -> bytes:
        """Get Export."""
        result: bytes = self.call("GET", "/report/adhoc/export/{export_id}", {"export_id": export_id}, {"signature": signature})
        return result

    def get_overview(
        self, *, date_from: str | None = None, date_to: str | None = None, timezone: str | None = None
    ) -> types.ChatOverview:
        """Getchatoverviewrouter."""
        result: types.ChatOverview = self.call("GET", "/report/chat-overview", {}, {"date_from": date_from, "date_to": date_to, "timezone": timezone})
        return result

    def get_bot_overview(
        self, bot_id: int | str, *, date_from: str | None = None, date_to: str | None = None, timezone: str | None = None
    ) -> types.ChatOverview:
        """Getchatoverviewrouter."""
        result: types.ChatOverview = self.call("GET", "/report/chat-overview/{bot_id}", {"bot_id": bot_id}, {"date_from": date_from, "date_to": date_to, "timezone": timezone})
        return result

    def get_warnings(
        self
    ) -> types.WarningDashboard:
        """Getwarningdashboardrouter."""
        result: types.WarningDashboard = self.call("GET", "/report/warning-dashboard", {}, {})
        return result

    def mute_warning(
        self, body: types.MuteWarningDto
    ) -> types.WarningDashboard:
        """Mute Warning."""
        result: types.WarningDashboard = self.call("PUT", "/report/warning-dashboard/mute", {}, {}, body=body)
        return result

    def call_mcp(
        self, body: types.McpRequest, *, idempotency_key: str | None = None
    ) -> types.McpResult | types.McpFault:
        """Call Mcp."""
        result: types.McpResult | types.McpFault = self.call("POST", "/mcp", {}, {}, body=body, key=idempotency_key)
        return result

