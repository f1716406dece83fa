/** The operations of the API. Made by `make clients` from the API's document; changes belong there. */
import { Core, type ServerEvent } from "./core.js";
import type * as types from "./types.js";

export class Client extends Core {
  /** Check Health. */
  checkHealth(): Promise<types.Health> {
    return this.call("GET", `/health`);
  }
  /** Live. */
  checkLiveness(): Promise<types.Alive> {
    return this.call("GET", `/health/live`);
  }
  /** Get Client Info. */
  getClientInfo(): Promise<types.ClientDto> {
    return this.call("GET", `/identity/client`);
  }
  /** Add Socialnet Access Token. */
  addSocialnetAccessToken(body: types.SocialnetAccessToken, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/identity/socialnet-access-token`, { body, idempotencyKey });
  }
  /** Get My Company Users. */
  listUsers(query?: { cursor?: string; limit?: number; }): Promise<types.UsersResponse> {
    return this.call("GET", `/identity/users`, { query });
  }
  /** Create Client User. */
  createUser(body: types.UserInput, idempotencyKey?: string): Promise<types.UserDto> {
    return this.call("POST", `/identity/users`, { body, idempotencyKey });
  }
  /** Update User Disable Flag. */
  disableUser(user_id: number | string, body: types.UserDisableFlag): Promise<types.UserDto> {
    return this.call("PUT", `/identity/users/${encodeURIComponent(user_id)}/disable`, { body });
  }
  /** Reset User Password. */
  resetUserPassword(user_id: number | string, body: types.UserPassword): Promise<void> {
    return this.call("PUT", `/identity/users/${encodeURIComponent(user_id)}/reset-password`, { body });
  }
  /** Update User Role. */
  updateUserRole(user_id: number | string, body: types.UserRole): Promise<types.UserDto> {
    return this.call("PUT", `/identity/users/${encodeURIComponent(user_id)}/role`, { body });
  }
  /** Login For Access Token2. */
  signIn(body: types.Body_login_for_access_token2_identity_token2_post, idempotencyKey?: string): Promise<types.TokenResponse> {
    return this.call("POST", `/identity/token2`, { body, kind: "form", idempotencyKey });
  }
  /** Read Users Me. */
  getMe(): Promise<types.UserDto> {
    return this.call("GET", `/identity/users/me`);
  }
  /** Update Users Me. */
  updateMe(body: types.OwnUser): Promise<types.UserDto> {
    return this.call("PUT", `/identity/users/me`, { body });
  }
  /** Change My Password. */
  changeMyPassword(body: types.OwnPassword): Promise<types.TokenResponse> {
    return this.call("PUT", `/identity/users/me/password`, { body });
  }
  /** Register Trial. */
  registerTrial(body: types.RegisterTrialDto, idempotencyKey?: string): Promise<types.ClientDto> {
    return this.call("POST", `/identity/register-trial`, { body, idempotencyKey });
  }
  /** Confirm Registration. */
  confirmRegistration(body: types.ConfirmRegistrationRequest, idempotencyKey?: string): Promise<types.ClientDto> {
    return this.call("POST", `/identity/confirm-registration`, { body, idempotencyKey });
  }
  /** Resend Registration. */
  resendRegistration(body: types.ResendRegistrationRequest, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/identity/resend-registration`, { body, idempotencyKey });
  }
  /** Forgot Password. */
  forgotPassword(body: types.ForgotPasswordRequest, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/identity/forgot-password`, { body, idempotencyKey });
  }
  /** Verify Reset Token. */
  verifyResetToken(body: types.VerifyResetTokenRequest, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/identity/verify-reset-token`, { body, idempotencyKey });
  }
  /** Reset Password. */
  resetPassword(body: types.ResetPasswordRequest, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/identity/reset-password`, { body, idempotencyKey });
  }
  /** Revoke Token. */
  revokeToken(body?: types.RevokeTokenRequest, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/identity/revoke`, { body, kind: "form", idempotencyKey });
  }
  /** List Api Keys. */
  listApiKeys(query?: { cursor?: string; limit?: number; }): Promise<types.ApiKeysResponse> {
    return this.call("GET", `/identity/api-keys`, { query });
  }
  /** Create Api Key. */
  createApiKey(body: types.ApiKeyRequest, idempotencyKey?: string): Promise<types.ApiKeyDto> {
    return this.call("POST", `/identity/api-keys`, { body, idempotencyKey });
  }
  /** Revoke Api Key. */
  revokeApiKey(api_key_id: number | string): Promise<void> {
    return this.call("DELETE", `/identity/api-keys/${encodeURIComponent(api_key_id)}`);
  }
  /** Update Api Key. */
  updateApiKey(api_key_id: number | string, body: types.ApiKeyInput): Promise<types.ApiKeyDto> {
    return this.call("PUT", `/identity/api-keys/${encodeURIComponent(api_key_id)}`, { body });
  }
  /** Get Subscription. */
  getSubscription(): Promise<types.SubscriptionDto> {
    return this.call("GET", `/identity/subscription`);
  }
  /** Top Up. */
  topUpCredits(body: types.TopUpAmount, idempotencyKey?: string): Promise<types.CreditOrder> {
    return this.call("POST", `/identity/subscription/top-up`, { body, idempotencyKey });
  }
  /** List Credit Orders. */
  listCreditOrders(query?: { cursor?: string; limit?: number; }): Promise<types.CreditOrdersResponse> {
    return this.call("GET", `/identity/subscription/orders`, { query });
  }
  /** Get Credit Order. */
  getCreditOrder(order_id: number | string): Promise<types.CreditOrder> {
    return this.call("GET", `/identity/subscription/orders/${encodeURIComponent(order_id)}`);
  }
  /** Receive Payment. */
  receivePayment(body: types.CreditPayment, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/identity/subscription/payments`, { body, idempotencyKey });
  }
  /** Remove Sign In Provider. */
  removeSignInProvider(): Promise<void> {
    return this.call("DELETE", `/identity/sign-in-provider`);
  }
  /** Get Sign In Provider. */
  getSignInProvider(): Promise<types.SignInProviderDto> {
    return this.call("GET", `/identity/sign-in-provider`);
  }
  /** Set Sign In Provider. */
  setSignInProvider(body: types.SignInProviderInput): Promise<types.SignInProviderDto> {
    return this.call("PUT", `/identity/sign-in-provider`, { body });
  }
  /** Get Audit Log. */
  getAuditLog(query?: { action?: string; subject?: string; user_id?: number; api_key_id?: number; created_from?: string; created_to?: string; cursor?: string; limit?: number; }): Promise<types.AuditEventsResponse> {
    return this.call("GET", `/identity/audit`, { query });
  }
  /** Export Audit Log. */
  exportAuditLog(query?: { action?: string; subject?: string; user_id?: number; api_key_id?: number; created_from?: string; created_to?: string; format?: "jsonl" | "csv"; }): Promise<Blob> {
    return this.call("GET", `/identity/audit/export`, { query });
  }
  /** Getclientchatconfigrouter. */
  getChatConfig(client_id: number | string): Promise<types.ClientConfigDto> {
    return this.call("GET", `/config/${encodeURIComponent(client_id)}/chat`);
  }
  /** Updateclientchatconfigrouter. */
  updateChatConfig(client_id: number | string, body: types.ClientConfigInput, idempotencyKey?: string): Promise<types.ClientConfigDto> {
    return this.call("POST", `/config/${encodeURIComponent(client_id)}/chat`, { body, idempotencyKey });
  }
  /** Get Email Notification. */
  getEmailNotification(client_id: number | string): Promise<types.EmailNotificationRequest> {
    return this.call("GET", `/config/${encodeURIComponent(client_id)}/email-notification`);
  }
  /** Update Email Notification. */
  updateEmailNotification(client_id: number | string, body: types.EmailNotificationRequest, idempotencyKey?: string): Promise<types.EmailNotificationRequest> {
    return this.call("POST", `/config/${encodeURIComponent(client_id)}/email-notification`, { body, idempotencyKey });
  }
  /** Test Email Notification. */
  testEmailNotification(client_id: number | string, idempotencyKey?: string): Promise<types.TestedRecipients> {
    return this.call("POST", `/config/${encodeURIComponent(client_id)}/email-notification/test`, { idempotencyKey });
  }
  /** Get Webhook Config. */
  getWebhookConfig(query?: { config_id?: string; }): Promise<types.WebhookConfig> {
    return this.call("GET", `/webhook/config`, { query });
  }
  /** Create Webhook Config. */
  createWebhookConfig(body: types.WebhookConfigRequest, idempotencyKey?: string): Promise<types.WebhookConfig> {
    return this.call("POST", `/webhook/config`, { body, idempotencyKey });
  }
  /** Test Webhook. */
  testWebhook(query?: { config_id?: string; }, idempotencyKey?: string): Promise<types.WebhookDelivery> {
    return this.call("POST", `/webhook/test`, { query, idempotencyKey });
  }
  /** Get Webhook Events. */
  getWebhookEvents(query?: { cursor?: string; limit?: number; order?: "desc" | "asc"; type?: "conversation.created" | "conversation.assigned" | "conversation.unassigned" | "conversation.handed_off" | "conversation.prioritized" | "conversation.snoozed" | "conversation.ended" | "conversation.reopened" | "message.created" | "message.delivered" | "message.read" | "message.failed" | "message.updated" | "summary.created" | "tags.updated" | "sentiment.updated" | "customer.updated" | "customer.merged" | "feedback.created" | "feedback.updated" | "notification.created" | "document.trained" | "document.failed" | "channel.connected" | "channel.disconnected" | "channel.notified" | "credits.low" | "webhook.test"; conversation_id?: string; created_from?: string; created_to?: string; state?: "pending" | "succeeded" | "failed" | "gave_up"; config_id?: string; }): Promise<types.EventsResponse> {
    return this.call("GET", `/webhook/events`, { query });
  }
  /** Replay Webhook Event. */
  replayWebhookEvent(event_id: number | string, query?: { config_id?: string; }, idempotencyKey?: string): Promise<types.Event> {
    return this.call("POST", `/webhook/events/${encodeURIComponent(event_id)}/replay`, { query, idempotencyKey });
  }
  /** Rotate Webhook Secret. */
  rotateWebhookSecret(query?: { config_id?: string; }, idempotencyKey?: string): Promise<types.WebhookConfig> {
    return this.call("POST", `/webhook/config/rotate-secret`, { query, idempotencyKey });
  }
  /** List Webhook Configs. */
  listWebhookConfigs(query?: { cursor?: string; limit?: number; }): Promise<types.WebhookConfigsResponse> {
    return this.call("GET", `/webhook/configs`, { query });
  }
  /** Delete Webhook Config. */
  deleteWebhookConfig(config_id: number | string): Promise<void> {
    return this.call("DELETE", `/webhook/config/${encodeURIComponent(config_id)}`);
  }
  /** Update Webhook Config. */
  updateWebhookConfig(config_id: number | string, body: types.WebhookConfigRequest): Promise<types.WebhookConfig> {
    return this.call("PUT", `/webhook/config/${encodeURIComponent(config_id)}`, { body });
  }
  /** Get Webhook Event. */
  getWebhookEvent(event_id: number | string): Promise<types.Event> {
    return this.call("GET", `/webhook/events/${encodeURIComponent(event_id)}`);
  }
  /** Replay Webhook Events. */
  replayWebhookEvents(body: types.EventReplayRequest, idempotencyKey?: string): Promise<types.Replay> {
    return this.call("POST", `/webhook/replay`, { body, idempotencyKey });
  }
  /** Search Content. */
  searchContent(bot_id: number | string, query?: { q?: string; language?: string; limit?: number; }): Promise<types.FoundContent> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/search`, { query });
  }
  /** Get Current Prompt. */
  getCurrentPrompt(bot_id: number | string, query?: { version?: number; }): Promise<types.PromptDto> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/prompt`, { query });
  }
  /** Create Prompt. */
  createPrompt(bot_id: number | string, body: types.PromptInput, idempotencyKey?: string): Promise<types.PromptDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/train/prompt`, { body, idempotencyKey });
  }
  /** Get Prompt Versions. */
  getPromptVersions(bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.PromptVersionsResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/prompt/versions`, { query });
  }
  /** Restore Prompt Version. */
  restorePromptVersion(bot_id: number | string, version: number | string, idempotencyKey?: string): Promise<types.PromptDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/train/prompt/versions/${encodeURIComponent(version)}/restore`, { idempotencyKey });
  }
  /** Get Files. */
  listDocuments(bot_id: number | string, query?: { cursor?: string; limit?: number; status?: types.DocumentStatus; }): Promise<types.DocumentsResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/document`, { query });
  }
  /** Upload Files. */
  uploadDocuments(bot_id: number | string, body: Record<string, unknown>, idempotencyKey?: string): Promise<types.DocumentsResponse> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/train/document`, { body, kind: "files", idempotencyKey });
  }
  /** Reupload Files. */
  retrainDocuments(bot_id: number | string, body: types.ReuploadFilesRequest, idempotencyKey?: string): Promise<types.ReuploadFilesResponse> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/train/document/reupload`, { body, idempotencyKey });
  }
  /** Delete Document By Id. */
  deleteDocument(bot_id: number | string, document_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/${encodeURIComponent(bot_id)}/train/document/${encodeURIComponent(document_id)}`);
  }
  /** Get Document By Id. */
  getDocument(bot_id: number | string, document_id: number | string): Promise<types.DocumentDto> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/document/${encodeURIComponent(document_id)}`);
  }
  /** Download Document. */
  downloadDocument(bot_id: number | string, document_id: number | string): Promise<Blob> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/document/${encodeURIComponent(document_id)}/original`);
  }
  /** Get Texts. */
  getTexts(bot_id: number | string, query?: { cursor?: string; limit?: number; status?: types.DocumentStatus; }): Promise<types.TextsResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/text`, { query });
  }
  /** Create Text. */
  createText(bot_id: number | string, body: types.TextInput, idempotencyKey?: string): Promise<types.TextDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/train/text`, { body, idempotencyKey });
  }
  /** Delete Text By Id. */
  deleteText(bot_id: number | string, text_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/${encodeURIComponent(bot_id)}/train/text/${encodeURIComponent(text_id)}`);
  }
  /** Get Text By Id. */
  getText(bot_id: number | string, text_id: number | string): Promise<types.TextDto> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/text/${encodeURIComponent(text_id)}`);
  }
  /** Update Text By Id. */
  updateText(bot_id: number | string, text_id: number | string, body: types.TextInput): Promise<types.TextDto> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/train/text/${encodeURIComponent(text_id)}`, { body });
  }
  /** Get Question Answers. */
  getQuestionAnswers(bot_id: number | string, query?: { cursor?: string; limit?: number; status?: types.DocumentStatus; }): Promise<types.QuestionAnswersResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/question-answer`, { query });
  }
  /** Create Question Answer. */
  createQuestionAnswer(bot_id: number | string, body: types.QuestionAnswerInput, idempotencyKey?: string): Promise<types.QuestionAnswerDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/train/question-answer`, { body, idempotencyKey });
  }
  /** Delete Question Answer By Id. */
  deleteQuestionAnswer(bot_id: number | string, question_answer_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/${encodeURIComponent(bot_id)}/train/question-answer/${encodeURIComponent(question_answer_id)}`);
  }
  /** Get Question Answer By Id. */
  getQuestionAnswer(bot_id: number | string, question_answer_id: number | string): Promise<types.QuestionAnswerDto> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/question-answer/${encodeURIComponent(question_answer_id)}`);
  }
  /** Update Question Answer By Id. */
  updateQuestionAnswer(bot_id: number | string, question_answer_id: number | string, body: types.QuestionAnswerInput): Promise<types.QuestionAnswerDto> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/train/question-answer/${encodeURIComponent(question_answer_id)}`, { body });
  }
  /** Get Web Urls. */
  getWebUrls(bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.WebUrlsResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/web-url`, { query });
  }
  /** Add Web Url. */
  addWebUrl(bot_id: number | string, body: types.WebUrlInput, idempotencyKey?: string): Promise<types.WebUrlDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/train/web-url`, { body, idempotencyKey });
  }
  /** Delete Web Url By. */
  deleteWebUrl(bot_id: number | string, web_url_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/${encodeURIComponent(bot_id)}/train/web-url/${encodeURIComponent(web_url_id)}`);
  }
  /** Update Web Url By Id. */
  updateWebUrl(bot_id: number | string, web_url_id: number | string, body: types.WebUrlInput): Promise<types.WebUrlDto> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/train/web-url/${encodeURIComponent(web_url_id)}`, { body });
  }
  /** Set Important Document. */
  setImportantDocument(bot_id: number | string, document_id: number | string, body: types.ImportantDocumentDto): Promise<types.DocumentDto> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/train/document/${encodeURIComponent(document_id)}/important`, { body });
  }
  /** Get Golden Questions. */
  getGoldenQuestions(bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.GoldenQuestionsResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/golden-questions`, { query });
  }
  /** Create Golden Question. */
  createGoldenQuestion(bot_id: number | string, body: types.GoldenQuestionInput, idempotencyKey?: string): Promise<types.GoldenQuestionDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/golden-questions`, { body, idempotencyKey });
  }
  /** Delete Golden Question. */
  deleteGoldenQuestion(bot_id: number | string, golden_question_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/${encodeURIComponent(bot_id)}/golden-questions/${encodeURIComponent(golden_question_id)}`);
  }
  /** Update Golden Question. */
  updateGoldenQuestion(bot_id: number | string, golden_question_id: number | string, body: types.GoldenQuestionInput): Promise<types.GoldenQuestionDto> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/golden-questions/${encodeURIComponent(golden_question_id)}`, { body });
  }
  /** Get Golden Runs. */
  getGoldenRuns(bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.GoldenRunsResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/golden-runs`, { query });
  }
  /** Start Golden Run. */
  startGoldenRun(bot_id: number | string, body: types.GoldenRunRequest, idempotencyKey?: string): Promise<types.GoldenRunDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/golden-runs`, { body, idempotencyKey });
  }
  /** Get Golden Run. */
  getGoldenRun(bot_id: number | string, run_id: number | string): Promise<types.GoldenRunDetail> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/golden-runs/${encodeURIComponent(run_id)}`);
  }
  /** Publish Held Change. */
  publishHeldChange(bot_id: number | string, run_id: number | string, idempotencyKey?: string): Promise<types.GoldenRunDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/golden-runs/${encodeURIComponent(run_id)}/publish`, { idempotencyKey });
  }
  /** Discard Held Change. */
  discardHeldChange(bot_id: number | string, run_id: number | string, idempotencyKey?: string): Promise<types.GoldenRunDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/golden-runs/${encodeURIComponent(run_id)}/discard`, { idempotencyKey });
  }
  /** Remove Language Model. */
  removeLanguageModel(query?: { bot_id?: number; purpose?: "chat" | "embeddings"; }): Promise<void> {
    return this.call("DELETE", `/ai/model`, { query });
  }
  /** Get Language Models. */
  getLanguageModels(query?: { cursor?: string; limit?: number; }): Promise<types.LanguageModelsResponse> {
    return this.call("GET", `/ai/model`, { query });
  }
  /** Set Language Model. */
  setLanguageModel(body: types.LanguageModelInput, query?: { bot_id?: number; purpose?: "chat" | "embeddings"; }): Promise<types.LanguageModelDto> {
    return this.call("PUT", `/ai/model`, { query, body });
  }
  /** Test Language Model. */
  testLanguageModel(query?: { bot_id?: number; purpose?: "chat" | "embeddings"; }, idempotencyKey?: string): Promise<types.LanguageModelTest> {
    return this.call("POST", `/ai/model/test`, { query, idempotencyKey });
  }
  /** Get Customer Info Field. */
  getCustomerInfoField(bot_id: number | string): Promise<types.CustomerInfoFields> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/customer-info-field`);
  }
  /** Update Customer Info Field. */
  updateCustomerInfoField(bot_id: number | string, body: types.CustomerInfoFields): Promise<types.CustomerInfoFields> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/customer-info-field`, { body });
  }
  /** Get Procedures. */
  getProcedures(bot_id: number | string): Promise<types.Procedures> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/procedures`);
  }
  /** Update Procedures. */
  updateProcedures(bot_id: number | string, body: types.Procedures): Promise<types.Procedures> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/procedures`, { body });
  }
  /** Get Client Customer Welcome Message Route. */
  getWelcomeMessages(bot_id: number | string): Promise<types.WelcomeMessages> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/welcome-message`);
  }
  /** Update Client Customer Welcome Message Route. */
  updateWelcomeMessages(bot_id: number | string, body: types.WelcomeMessages): Promise<types.WelcomeMessages> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/welcome-message`, { body });
  }
  /** Upload Banner Image Route. */
  uploadBanner(bot_id: number | string, body: Record<string, unknown>, idempotencyKey?: string): Promise<types.BannerUploadResponseDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/upload-banner-image`, { body, kind: "files", idempotencyKey });
  }
  /** Delete Bot Banner. */
  deleteBotBanner(bot_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/${encodeURIComponent(bot_id)}/banner`);
  }
  /** Get Bot Banner Route. */
  getBanner(bot_id: number | string): Promise<types.BotBannerDto> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/banner`);
  }
  /** Update Bot Banner. */
  updateBotBanner(bot_id: number | string, body: types.BotBannerInput): Promise<types.BotBannerDto> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/banner`, { body });
  }
  /** Get Bot Banner Route. */
  getBannerByApiKey(query?: { bot_id?: number; }): Promise<types.BotBannerDto> {
    return this.call("GET", `/ai/banner`, { query });
  }
  /** Get Config By Api Key With Auth. */
  getBotConfig(query?: { language?: string; bot_id?: number; }): Promise<types.BotConfigDto> {
    return this.call("GET", `/ai/bot/config`, { query });
  }
  /** Get All Bot. */
  listBots(query?: { cursor?: string; limit?: number; }): Promise<types.BotsResponse> {
    return this.call("GET", `/ai/bot`, { query });
  }
  /** Create Bot. */
  createBot(body: types.BotInput, idempotencyKey?: string): Promise<types.BotDto> {
    return this.call("POST", `/ai/bot`, { body, idempotencyKey });
  }
  /** Delete Bot. */
  deleteBot(bot_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/bot/${encodeURIComponent(bot_id)}`);
  }
  /** Get Bot By Id. */
  getBot(bot_id: number | string): Promise<types.BotDto> {
    return this.call("GET", `/ai/bot/${encodeURIComponent(bot_id)}`);
  }
  /** Update Bot. */
  updateBot(bot_id: number | string, body: types.BotInput): Promise<types.BotDto> {
    return this.call("PUT", `/ai/bot/${encodeURIComponent(bot_id)}/update-bot`, { body });
  }
  /** Toggle Disable Bot. */
  disableBot(bot_id: number | string, body: types.ToggleDisableBotDto): Promise<types.BotDto> {
    return this.call("PUT", `/ai/bot/${encodeURIComponent(bot_id)}/toggle-disable`, { body });
  }
  /** Replace Bot Identity Secret. */
  replaceBotIdentitySecret(bot_id: number | string, idempotencyKey?: string): Promise<types.BotIdentitySecret> {
    return this.call("POST", `/ai/bot/${encodeURIComponent(bot_id)}/identity-secret`, { idempotencyKey });
  }
  /** Get Bot Sample Questions. */
  getBotSampleQuestions(bot_id: number | string, query?: { language?: string; }): Promise<types.SampleQuestionsResponse> {
    return this.call("GET", `/ai/bot/${encodeURIComponent(bot_id)}/sample-questions`, { query });
  }
  /** Update Bot Sample Questions. */
  updateBotSampleQuestions(bot_id: number | string, body: types.SampleQuestions): Promise<types.SampleQuestionsResponse> {
    return this.call("PUT", `/ai/bot/${encodeURIComponent(bot_id)}/sample-questions`, { body });
  }
  /** Get Client Config Languages. */
  getLanguages(): Promise<types.BotLanguageConfigDto> {
    return this.call("GET", `/identity/languages`);
  }
  /** Update Client Config Languages. */
  updateLanguages(body: types.BotLanguageConfigDto): Promise<types.BotLanguageConfigDto> {
    return this.call("PUT", `/identity/languages`, { body });
  }
  /** Get Client Config Languages By Api Key. */
  getLanguagesByApiKey(): Promise<types.BotLanguageConfigDto> {
    return this.call("GET", `/identity/languages/by-api-key`);
  }
  /** Get Function Calling Config. */
  getFunctionCallingConfig(bot_id: number | string): Promise<types.FunctionCallingConfigDTO> {
    return this.call("GET", `/function-calling/${encodeURIComponent(bot_id)}`);
  }
  /** Upsert Function Calling Config. */
  setFunctionCallingConfig(bot_id: number | string, body: types.FunctionCallingConfigInput, idempotencyKey?: string): Promise<types.FunctionCallingConfigDTO> {
    return this.call("POST", `/function-calling/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Get MCP Servers. */
  getMCPServers(bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.McpServersResponse> {
    return this.call("GET", `/function-calling/${encodeURIComponent(bot_id)}/mcp-servers`, { query });
  }
  /** Connect MCP Server. */
  connectMCPServer(bot_id: number | string, body: types.McpServerRequest, idempotencyKey?: string): Promise<types.McpServerDto> {
    return this.call("POST", `/function-calling/${encodeURIComponent(bot_id)}/mcp-servers`, { body, idempotencyKey });
  }
  /** Remove MCP Server. */
  removeMCPServer(bot_id: number | string, mcp_server_id: number | string): Promise<void> {
    return this.call("DELETE", `/function-calling/${encodeURIComponent(bot_id)}/mcp-servers/${encodeURIComponent(mcp_server_id)}`);
  }
  /** Update MCP Server. */
  updateMCPServer(bot_id: number | string, mcp_server_id: number | string, body: types.McpServerChange): Promise<types.McpServerDto> {
    return this.call("PUT", `/function-calling/${encodeURIComponent(bot_id)}/mcp-servers/${encodeURIComponent(mcp_server_id)}`, { body });
  }
  /** Refresh MCP Server. */
  refreshMCPServer(bot_id: number | string, mcp_server_id: number | string, idempotencyKey?: string): Promise<types.McpServerDto> {
    return this.call("POST", `/function-calling/${encodeURIComponent(bot_id)}/mcp-servers/${encodeURIComponent(mcp_server_id)}/refresh`, { idempotencyKey });
  }
  /** Get Function Calling Events. */
  getFunctionCallingEvents(bot_id: number | string, query?: { cursor?: string; limit?: number; function?: string; status?: "waiting" | "running" | "succeeded" | "failed" | "refused" | "rejected"; chat_id?: string; }): Promise<types.FunctionCallingEventsResponse> {
    return this.call("GET", `/function-calling/${encodeURIComponent(bot_id)}/events`, { query });
  }
  /** Decide Function Call. */
  decideFunctionCall(bot_id: number | string, call_id: number | string, body: types.FunctionCallDecision, idempotencyKey?: string): Promise<types.FunctionCallingEventDTO> {
    return this.call("POST", `/function-calling/${encodeURIComponent(bot_id)}/events/${encodeURIComponent(call_id)}/decision`, { body, idempotencyKey });
  }
  /** Collect Golden Questions. */
  collectGoldenQuestions(bot_id: number | string, body: types.GoldenCollectRequest, idempotencyKey?: string): Promise<types.GoldenCollected> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/golden-questions/collect`, { body, idempotencyKey });
  }
  /** Get Replays. */
  getReplays(bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.ReplaysResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/replays`, { query });
  }
  /** Start Replay. */
  startReplay(bot_id: number | string, body: types.ReplayRequest, idempotencyKey?: string): Promise<types.ReplayDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/replays`, { body, idempotencyKey });
  }
  /** Get Replay. */
  getReplay(bot_id: number | string, replay_id: number | string): Promise<types.ReplayDto> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/replays/${encodeURIComponent(replay_id)}`);
  }
  /** Get Replayed Replies. */
  getReplayedReplies(bot_id: number | string, replay_id: number | string, query?: { cursor?: string; limit?: number; change?: types.ReplayChange; }): Promise<types.ReplayedResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/replays/${encodeURIComponent(replay_id)}/replies`, { query });
  }
  /** Get Unanswered Questions. */
  getUnansweredQuestions(bot_id: number | string, query?: { cursor?: string; limit?: number; status?: "open" | "learning" | "answered"; }): Promise<types.UnansweredResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/unanswered-questions`, { query });
  }
  /** Get Unanswered Question. */
  getUnansweredQuestion(bot_id: number | string, question_id: number | string): Promise<types.UnansweredQuestion> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/unanswered-questions/${encodeURIComponent(question_id)}`);
  }
  /** Get Unanswered Question Chats. */
  getUnansweredQuestionChats(bot_id: number | string, question_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.AskedQuestionsResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/unanswered-questions/${encodeURIComponent(question_id)}/chats`, { query });
  }
  /** Answer Unanswered Question. */
  answerUnansweredQuestion(bot_id: number | string, question_id: number | string, body: types.AddAnswerRequest, idempotencyKey?: string): Promise<types.UnansweredQuestion> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/unanswered-questions/${encodeURIComponent(question_id)}/answer`, { body, idempotencyKey });
  }
  /** Ask Unanswered Question Again. */
  askUnansweredQuestionAgain(bot_id: number | string, question_id: number | string, idempotencyKey?: string): Promise<types.UnansweredQuestion> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/unanswered-questions/${encodeURIComponent(question_id)}/ask`, { idempotencyKey });
  }
  /** Generate Chat. */
  startPreview(bot_id: number | string, body: types.GenerateChatRequest, idempotencyKey?: string): Promise<types.GeneratedChat> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/generate-chat`, { body, idempotencyKey });
  }
  /** Generate Chat. */
  continuePreview(chat_id: number | string, body?: types.GenerateChatRequest, idempotencyKey?: string): Promise<types.GeneratedChat> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/generate`, { body, idempotencyKey });
  }
  /** Assign Chat. */
  assignChat(chat_id: number | string, body: types.ChatAssignDto, idempotencyKey?: string): Promise<types.Conversation> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/assign`, { body, idempotencyKey });
  }
  /** Chat Unassign. */
  chatUnassign(chat_id: number | string, idempotencyKey?: string): Promise<types.Conversation> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/unassign`, { idempotencyKey });
  }
  /** Manual Chat. */
  replyAsAgent(chat_id: number | string, body: types.ManualChatMessageDto, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/manual`, { body, idempotencyKey });
  }
  /** Manual Chat With Files. */
  replyAsAgentWithFiles(chat_id: number | string, body: Record<string, unknown>, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/manual/files`, { body, kind: "files", idempotencyKey });
  }
  /** Get Chat History. */
  getHistory(chat_id: number | string, query?: { cursor?: string; limit?: number; sort?: "oldest" | "newest"; }): Promise<types.MessagesResponse> {
    return this.call("GET", `/ai/chat/${encodeURIComponent(chat_id)}/history`, { query });
  }
  /** Get Chat Steps. */
  getChatSteps(chat_id: number | string): Promise<types.ChatSteps> {
    return this.call("GET", `/ai/chat/${encodeURIComponent(chat_id)}/steps`);
  }
  /** Delete Message. */
  deleteMessage(chat_id: number | string, message_id: number | string): Promise<types.Message> {
    return this.call("DELETE", `/ai/chat/${encodeURIComponent(chat_id)}/messages/${encodeURIComponent(message_id)}`);
  }
  /** Edit Message. */
  editMessage(chat_id: number | string, message_id: number | string, body: types.MessageEdit): Promise<types.Message> {
    return this.call("PUT", `/ai/chat/${encodeURIComponent(chat_id)}/messages/${encodeURIComponent(message_id)}`, { body });
  }
  /** Get Reply Receipt. */
  getReplyReceipt(chat_id: number | string, message_id: number | string): Promise<types.ReplyReceipt> {
    return this.call("GET", `/ai/chat/${encodeURIComponent(chat_id)}/messages/${encodeURIComponent(message_id)}/receipt`);
  }
  /** Replay Reply. */
  replayReply(chat_id: number | string, message_id: number | string, idempotencyKey?: string): Promise<types.ReplayedTurn> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/messages/${encodeURIComponent(message_id)}/replay`, { idempotencyKey });
  }
  /** Get Chat History. */
  getCustomerHistory(customer_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.ConversationsResponse> {
    return this.call("GET", `/ai/chat/history/customer/${encodeURIComponent(customer_id)}`, { query });
  }
  /** Get Chat History. */
  getBotHistory(bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.ConversationsResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/chat-history`, { query });
  }
  /** Get Customers. */
  getCustomers(query?: { cursor?: string; limit?: number; q?: string; external_id?: string; }): Promise<types.CustomersResponse> {
    return this.call("GET", `/ai/customers`, { query });
  }
  /** Get Customer By Id. */
  getCustomer(customer_id: number | string): Promise<types.CustomerDto> {
    return this.call("GET", `/ai/customers/${encodeURIComponent(customer_id)}`);
  }
  /** Update Customer. */
  updateCustomer(customer_id: number | string, body: types.CustomerInput): Promise<types.CustomerDto> {
    return this.call("PUT", `/ai/customers/${encodeURIComponent(customer_id)}`, { body });
  }
  /** Export Customer. */
  exportCustomer(customer_id: number | string): Promise<Blob> {
    return this.call("GET", `/ai/customers/${encodeURIComponent(customer_id)}/export`);
  }
  /** Erase Customer. */
  eraseCustomer(customer_id: number | string, idempotencyKey?: string): Promise<types.CustomerErasure> {
    return this.call("POST", `/ai/customers/${encodeURIComponent(customer_id)}/erasure`, { idempotencyKey });
  }
  /** Get Customer Erasure. */
  getCustomerErasure(erasure_id: number | string): Promise<types.CustomerErasure> {
    return this.call("GET", `/ai/customers/erasures/${encodeURIComponent(erasure_id)}`);
  }
  /** Merge Customers. */
  mergeCustomers(customer_id: number | string, merged_id: number | string, idempotencyKey?: string): Promise<types.CustomerDto> {
    return this.call("POST", `/ai/customers/${encodeURIComponent(customer_id)}/merge/${encodeURIComponent(merged_id)}`, { idempotencyKey });
  }
  /** Get Chats. */
  getChats(query?: { cursor?: string; limit?: number; status?: "open" | "snoozed" | "ended"; assign_type?: types.AssignTypeEnum; priority?: "low" | "normal" | "high" | "urgent"; mine?: boolean; is_assigned?: boolean; is_unread?: boolean; is_waiting?: boolean; previews?: boolean; bot_id?: number; customer_id?: number; channel?: "web" | "api" | "socialnet" | "photoapp" | "chatapp" | "localapp" | "telegram"; assignee_id?: number; tag?: string; language?: string; min_wait_seconds?: number; sentiment?: "positive" | "neutral" | "negative"; q?: string; created_from?: string; created_to?: string; sort?: "newest" | "longest_wait" | "priority"; }): Promise<types.ChatsResponse> {
    return this.call("GET", `/ai/chats`, { query });
  }
  /** Get Chat Counts. */
  getChatCounts(): Promise<types.ChatCounts> {
    return this.call("GET", `/ai/chats/counts`);
  }
  /** Get Chat By Id. */
  getDeskChat(chat_id: number | string): Promise<types.Conversation> {
    return this.call("GET", `/ai/chat/${encodeURIComponent(chat_id)}`);
  }
  /** End A Chat By Id. */
  endChat(chat_id: number | string, idempotencyKey?: string): Promise<types.Conversation | types.VisitorConversation> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/end`, { idempotencyKey });
  }
  /** Agent End A Chat By Id. */
  agentEndChat(chat_id: number | string, idempotencyKey?: string): Promise<types.Conversation> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/agent-end`, { idempotencyKey });
  }
  /** Snooze Chat. */
  snoozeChat(chat_id: number | string, body: types.ChatSnoozeDto, idempotencyKey?: string): Promise<types.Conversation> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/snooze`, { body, idempotencyKey });
  }
  /** Set Chat Priority. */
  setChatPriority(chat_id: number | string, body: types.ChatPriorityDto): Promise<types.Conversation> {
    return this.call("PUT", `/ai/chat/${encodeURIComponent(chat_id)}/priority`, { body });
  }
  /** Reopen Chat. */
  reopenChat(chat_id: number | string, idempotencyKey?: string): Promise<types.Conversation> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/reopen`, { idempotencyKey });
  }
  /** Mark Chat As Read. */
  markChatAsRead(chat_id: number | string, idempotencyKey?: string): Promise<types.Conversation> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/read`, { idempotencyKey });
  }
  /** Get Assign Notification. */
  getAssignNotification(query?: { cursor?: string; limit?: number; unread?: boolean; personal?: boolean; }): Promise<types.NotificationsResponse> {
    return this.call("GET", `/ai/chat/notifications`, { query });
  }
  /** Mark All Notifications As Read. */
  markAllNotificationsAsRead(): Promise<types.ReadCount> {
    return this.call("PUT", `/ai/chat/notifications/read`);
  }
  /** Mark Notification As Read By Notification Id. */
  markNotificationRead(notification_id: number | string): Promise<types.AssignNotification> {
    return this.call("PUT", `/ai/chat/notifications/${encodeURIComponent(notification_id)}/read`);
  }
  /** Get Push Key. */
  getPushKey(): Promise<types.PushKey> {
    return this.call("GET", `/ai/chat/push-key`);
  }
  /** Get Push Subscriptions. */
  getPushSubscriptions(query?: { cursor?: string; limit?: number; }): Promise<types.PushSubscriptionsResponse> {
    return this.call("GET", `/ai/chat/push-subscriptions`, { query });
  }
  /** Create Push Subscription. */
  createPushSubscription(body: types.NewPushSubscription, idempotencyKey?: string): Promise<types.PushSubscription> {
    return this.call("POST", `/ai/chat/push-subscriptions`, { body, idempotencyKey });
  }
  /** Delete Push Subscription. */
  deletePushSubscription(subscription_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/chat/push-subscriptions/${encodeURIComponent(subscription_id)}`);
  }
  /** Get Inbox Views. */
  getInboxViews(): Promise<types.DeskViews> {
    return this.call("GET", `/ai/chat/views`);
  }
  /** Save Inbox View. */
  saveInboxView(body: types.DeskViewInput, idempotencyKey?: string): Promise<types.DeskView> {
    return this.call("POST", `/ai/chat/views`, { body, idempotencyKey });
  }
  /** Delete Inbox View. */
  deleteInboxView(view_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/chat/views/${encodeURIComponent(view_id)}`);
  }
  /** Get Saved Replies. */
  getSavedReplies(query?: { cursor?: string; limit?: number; is_shared?: boolean; q?: string; }): Promise<types.SavedRepliesResponse> {
    return this.call("GET", `/ai/chat/saved-replies`, { query });
  }
  /** Create Saved Reply. */
  createSavedReply(body: types.SavedReplyInput, idempotencyKey?: string): Promise<types.SavedReplyDto> {
    return this.call("POST", `/ai/chat/saved-replies`, { body, idempotencyKey });
  }
  /** Delete Saved Reply. */
  deleteSavedReply(saved_reply_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/chat/saved-replies/${encodeURIComponent(saved_reply_id)}`);
  }
  /** Update Saved Reply. */
  updateSavedReply(saved_reply_id: number | string, body: types.SavedReplyInput): Promise<types.SavedReplyDto> {
    return this.call("PUT", `/ai/chat/saved-replies/${encodeURIComponent(saved_reply_id)}`, { body });
  }
  /** Render Saved Reply. */
  renderSavedReply(chat_id: number | string, saved_reply_id: number | string, query?: { language?: string; }): Promise<types.RenderedReply> {
    return this.call("GET", `/ai/chat/${encodeURIComponent(chat_id)}/saved-replies/${encodeURIComponent(saved_reply_id)}`, { query });
  }
  /** Chat Summary Calculate. */
  startSummaryRun(body?: types.SummaryCalculateRequest, idempotencyKey?: string): Promise<types.SummaryJob> {
    return this.call("POST", `/ai/chat/summary/calculate`, { body, idempotencyKey });
  }
  /** Chat Summary Calculate. */
  getSummaryRun(job_id: number | string): Promise<types.SummaryJob> {
    return this.call("GET", `/ai/chat/summary/calculate/${encodeURIComponent(job_id)}`);
  }
  /** Summarize Chat By Id. */
  summarizeChat(chat_id: number | string, idempotencyKey?: string): Promise<types.ChatSummary> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/summarize`, { idempotencyKey });
  }
  /** Get Client Tags. */
  getClientTags(): Promise<types.Tags> {
    return this.call("GET", `/ai/tags`);
  }
  /** Create Client Tag. */
  createClientTag(body: types.ClientTagRequest, idempotencyKey?: string): Promise<types.Tag> {
    return this.call("POST", `/ai/tags`, { body, idempotencyKey });
  }
  /** Delete Client Tag. */
  deleteClientTag(tag_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/tags/${encodeURIComponent(tag_id)}`);
  }
  /** Update Client Tag. */
  updateClientTag(tag_id: number | string, body: types.ClientTagRequest): Promise<types.Tag> {
    return this.call("PUT", `/ai/tags/${encodeURIComponent(tag_id)}`, { body });
  }
  /** Merge Client Tag. */
  mergeClientTag(tag_id: number | string, body: types.TagMerge, idempotencyKey?: string): Promise<types.Tag> {
    return this.call("POST", `/ai/tags/${encodeURIComponent(tag_id)}/merge`, { body, idempotencyKey });
  }
  /** Create Tags For Chat. */
  createTagsForChat(chat_id: number | string, body: types.Tags, idempotencyKey?: string): Promise<types.Tags> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/tags`, { body, idempotencyKey });
  }
  /** Update Tags For Chat. */
  updateTagsForChat(chat_id: number | string, body: types.Tags): Promise<types.Tags> {
    return this.call("PUT", `/ai/chat/${encodeURIComponent(chat_id)}/tags`, { body });
  }
  /** Auto Generate Tag With Ai. */
  generateTags(chat_id: number | string, idempotencyKey?: string): Promise<types.Tags> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/tags/auto`, { idempotencyKey });
  }
  /** Auto Generate Tag With Ai Temp. */
  suggestTags(chat_id: number | string, idempotencyKey?: string): Promise<types.Tags> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/tags/auto-temp`, { idempotencyKey });
  }
  /** Generate Sentiment Manual. */
  analyzeSentiment(chat_id: number | string, idempotencyKey?: string): Promise<types.ChatSentiment> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/sentiment`, { idempotencyKey });
  }
  /** Rewrite Reply. */
  rewriteReply(chat_id: number | string, body: types.RewriteRequest, idempotencyKey?: string): Promise<types.RewrittenText> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/rewrite`, { body, idempotencyKey });
  }
  /** Create Chat Feed Back. */
  createChatFeedBack(chat_id: number | string, body: types.ChatFeedBackInput, idempotencyKey?: string): Promise<types.ChatFeedBackDto> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/feedback`, { body, idempotencyKey });
  }
  /** Get Chat Feedbacks. */
  getChatFeedbacks(query?: { cursor?: string; limit?: number; bot_id?: number; rating?: number; thumb?: "up" | "down"; reason?: "wrong_answer" | "not_understood" | "no_solution" | "too_slow" | "unfriendly" | "other"; chat_id?: string; customer_id?: number; created_from?: string; created_to?: string; }): Promise<types.FeedbacksResponse> {
    return this.call("GET", `/ai/chat/feedbacks`, { query });
  }
  /** Chat Events. */
  streamEvents(query?: { last_event_id?: string; ticket?: string; }): AsyncGenerator<ServerEvent> {
    return this.events("GET", `/ai/chat/events`, { query });
  }
  /** Create Chat Events Ticket. */
  createEventsTicket(idempotencyKey?: string): Promise<types.FeedTicket> {
    return this.call("POST", `/ai/chat/events/ticket`, { idempotencyKey });
  }
  /** Set Typing. */
  setTyping(chat_id: number | string, body: types.Typing, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/typing`, { body, idempotencyKey });
  }
  /** Set Viewing. */
  setViewing(chat_id: number | string, body: types.Viewing, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/viewing`, { body, idempotencyKey });
  }
  /** Create new chat conversation. */
  createChat(body: types.ChatCreation, idempotencyKey?: string): Promise<types.Conversation | types.VisitorConversation> {
    return this.call("POST", `/ai/client/chat`, { body, idempotencyKey });
  }
  /** Get chat conversation. */
  getChat(chat_id: number | string): Promise<types.Conversation | types.VisitorConversation> {
    return this.call("GET", `/ai/client/chat/${encodeURIComponent(chat_id)}`);
  }
  /** Send message in existing chat conversation. */
  sendMessage(chat_id: number | string, body: types.ConvMessage, idempotencyKey?: string): Promise<types.ChatTurn | types.VisitorTurn> {
    return this.call("POST", `/ai/client/chat/${encodeURIComponent(chat_id)}`, { body, idempotencyKey });
  }
  /** Update customer information in chat conversation. */
  updateChatCustomer(chat_id: number | string, body: types.ChatCustomer, idempotencyKey?: string): Promise<types.Conversation | types.VisitorConversation> {
    return this.call("POST", `/ai/client/chat/customer/${encodeURIComponent(chat_id)}`, { body, idempotencyKey });
  }
  /** Send message with files in chat conversation. */
  sendFiles(chat_id: number | string, body: Record<string, unknown>, idempotencyKey?: string): Promise<types.ChatTurn | types.VisitorTurn> {
    return this.call("POST", `/ai/client/chat/files/${encodeURIComponent(chat_id)}/`, { body, kind: "files", idempotencyKey });
  }
  /** Send assistant reply message in chat conversation. */
  sendAssistantMessage(chat_id: number | string, body: types.ConvMessage, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/ai/client/chat/assistant/${encodeURIComponent(chat_id)}`, { body, idempotencyKey });
  }
  /** Generate automatic AI response. */
  generateReply(chat_id: number | string, idempotencyKey?: string): Promise<types.ChatTurn | types.VisitorTurn> {
    return this.call("POST", `/ai/client/chat/auto-response/${encodeURIComponent(chat_id)}`, { idempotencyKey });
  }
  /** Report Messages As Delivered. */
  reportDelivered(chat_id: number | string, body: types.ArrivalReport, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/ai/client/chat/${encodeURIComponent(chat_id)}/delivered`, { body, idempotencyKey });
  }
  /** Report Messages As Read. */
  reportRead(chat_id: number | string, body: types.ArrivalReport, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/ai/client/chat/${encodeURIComponent(chat_id)}/read`, { body, idempotencyKey });
  }
  /** Get Transcript. */
  getTranscript(chat_id: number | string): Promise<types.Transcript> {
    return this.call("GET", `/ai/client/chat/${encodeURIComponent(chat_id)}/transcript`);
  }
  /** Download Transcript. */
  downloadTranscript(chat_id: number | string, query?: { timezone?: string; }): Promise<Blob> {
    return this.call("GET", `/ai/client/chat/${encodeURIComponent(chat_id)}/transcript.txt`, { query });
  }
  /** Mail Transcript. */
  mailTranscript(chat_id: number | string, body: types.TranscriptMail, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/ai/client/chat/${encodeURIComponent(chat_id)}/transcript/mail`, { body, idempotencyKey });
  }
  /** Get chat conversation list. */
  listChats(query?: { cursor?: string; limit?: number; status?: "open" | "snoozed" | "ended"; assign_type?: types.AssignTypeEnum; priority?: "low" | "normal" | "high" | "urgent"; mine?: boolean; is_assigned?: boolean; is_unread?: boolean; is_waiting?: boolean; previews?: boolean; bot_id?: number; customer_id?: number; channel?: "web" | "api" | "socialnet" | "photoapp" | "chatapp" | "localapp" | "telegram"; assignee_id?: number; tag?: string; language?: string; min_wait_seconds?: number; sentiment?: "positive" | "neutral" | "negative"; q?: string; created_from?: string; created_to?: string; sort?: "newest" | "longest_wait" | "priority"; }): Promise<types.ConversationsResponse> {
    return this.call("GET", `/ai/client/chats`, { query });
  }
  /** Identify Visitor. */
  identifyVisitor(body: types.VisitorIdentity, idempotencyKey?: string): Promise<types.KnownVisitor> {
    return this.call("POST", `/ai/client/visitor`, { body, idempotencyKey });
  }
  /** Get chat conversation history. */
  getChatMessages(chat_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.MessagesResponse | types.VisitorMessages> {
    return this.call("GET", `/ai/client/chat/history/${encodeURIComponent(chat_id)}`, { query });
  }
  /** Get chat conversation history with customer information. */
  getChatMessagesWithCustomer(chat_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.ConversationHistory> {
    return this.call("GET", `/ai/client/chat/history-with-customer/${encodeURIComponent(chat_id)}`, { query });
  }
  /** Get messages by chat conversation code. */
  getChatMessagesByCode(chat_code: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.MessagesResponse | types.VisitorMessages> {
    return this.call("GET", `/ai/client/chat/messages/${encodeURIComponent(chat_code)}`, { query });
  }
  /** Download Attachment. */
  downloadAttachment(attachment_id: number | string, query?: { signature?: string; }): Promise<Blob> {
    return this.call("GET", `/ai/attachment/${encodeURIComponent(attachment_id)}`, { query });
  }
  /** Migration tool - Migrate chat messages. */
  migrateMessages(query?: { cursor?: string; limit?: number; }): Promise<types.MessageEntitiesResponse> {
    return this.call("GET", `/ai/client/migrate/messages`, { query });
  }
  /** Migration tool - Migrate chat conversations. */
  migrateConversations(query?: { cursor?: string; limit?: number; }): Promise<types.ConversationEntitiesResponse> {
    return this.call("GET", `/ai/client/migrate/conversations`, { query });
  }
  /** Delete All Documents. */
  deleteAllDocuments(query?: { bot_id?: number; }): Promise<types.DeletedCount> {
    return this.call("DELETE", `/ai/client/documents`, { query });
  }
  /** Generate intelligent reply suggestions for chat conversation. */
  suggestRepliesByApiKey(chat_id: number | string, body?: types.SuggestionRequest, idempotencyKey?: string): Promise<types.ReplySuggestions> {
    return this.call("POST", `/ai/client/chat/suggestions/${encodeURIComponent(chat_id)}`, { body, idempotencyKey });
  }
  /** Multi-language text translation. */
  translateText(body: types.TranslationRequest, idempotencyKey?: string): Promise<types.TranslationResponse> {
    return this.call("POST", `/client/translate`, { body, idempotencyKey });
  }
  /** AI translation API. */
  translateTextOld(body: types.TranslationRequest, idempotencyKey?: string): Promise<types.TranslationResponse> {
    return this.call("POST", `/ai/translate`, { body, idempotencyKey });
  }
  /** Intelligent content summarization with AI. */
  summarizeText(body: types.SummarizeRequest, idempotencyKey?: string): Promise<types.SummarizeResponse> {
    return this.call("POST", `/client/summarize`, { body, idempotencyKey });
  }
  /** Get Platform Words. */
  getPlatformWords(client_id: number | string): Promise<types.PlatformWords> {
    return this.call("GET", `/config/${encodeURIComponent(client_id)}/words`);
  }
  /** Update Platform Words. */
  updatePlatformWords(client_id: number | string, body: types.PlatformWords): Promise<types.PlatformWords> {
    return this.call("PUT", `/config/${encodeURIComponent(client_id)}/words`, { body });
  }
  /** List Conversations. */
  listConversations(query?: { cursor?: string; limit?: number; group_id?: string; status?: "open" | "snoozed" | "ended"; tags?: Array<string>; requester_id?: string; created_from?: string; created_to?: string; }): Promise<types.ConversationResponses> {
    return this.call("GET", `/mesaging/conversations`, { query });
  }
  /** Create Conversation. */
  createConversation(body: types.ConversationRequest, idempotencyKey?: string): Promise<types.ConversationResponse> {
    return this.call("POST", `/mesaging/conversations`, { body, idempotencyKey });
  }
  /** Get Conversation. */
  getConversation(conversation_id: number | string): Promise<types.ConversationResponse> {
    return this.call("GET", `/mesaging/conversations/${encodeURIComponent(conversation_id)}`);
  }
  /** List Messages. */
  listMessages(conversation_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.MessagingMessagesResponse> {
    return this.call("GET", `/mesaging/conversations/${encodeURIComponent(conversation_id)}/messages`, { query });
  }
  /** Create Message. */
  createMessage(conversation_id: number | string, body: types.MessageRequest, idempotencyKey?: string): Promise<types.MessageEntity> {
    return this.call("POST", `/mesaging/conversations/${encodeURIComponent(conversation_id)}/messages`, { body, idempotencyKey });
  }
  /** End Conversation. */
  endConversation(conversation_id: number | string): Promise<types.ConversationResponse> {
    return this.call("PUT", `/mesaging/conversations/${encodeURIComponent(conversation_id)}/end`);
  }
  /** Get Conversation Summary. */
  getConversationSummary(conversation_id: number | string): Promise<types.ChatSummary> {
    return this.call("GET", `/mesaging/conversations/${encodeURIComponent(conversation_id)}/summary`);
  }
  /** Create Conversation Summary. */
  createConversationSummary(conversation_id: number | string, idempotencyKey?: string): Promise<types.ChatSummary> {
    return this.call("POST", `/mesaging/conversations/${encodeURIComponent(conversation_id)}/summary`, { idempotencyKey });
  }
  /** Get Conversation Ai Tags. */
  getConversationAiTags(conversation_id: number | string): Promise<types.Tags> {
    return this.call("GET", `/mesaging/conversations/${encodeURIComponent(conversation_id)}/ai-tags`);
  }
  /** Create Conversation Ai Tags. */
  createConversationAiTags(conversation_id: number | string, idempotencyKey?: string): Promise<types.Tags> {
    return this.call("POST", `/mesaging/conversations/${encodeURIComponent(conversation_id)}/ai-tags`, { idempotencyKey });
  }
  /** Get Socialnet Messages. */
  getSocialnetMessages(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; recipient_id?: string; }): Promise<types.MessagesResponse> {
    return this.call("GET", `/socialnet/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Post Socialnet. */
  sendSocialnetMessage(client_id: number | string, bot_id: number | string, body: types.ChannelMessageRequest, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/socialnet/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Client Messenger List Pages. */
  listSocialnetPages(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.ChannelAccountsResponse> {
    return this.call("GET", `/socialnet/${encodeURIComponent(client_id)}/pages/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Store User Token. */
  storeSocialnetToken(client_id: number | string, body: types.SocialnetAccessToken, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/socialnet/${encodeURIComponent(client_id)}/user-token`, { body, idempotencyKey });
  }
  /** Client Messenger Connect Page. */
  connectSocialnetPage(client_id: number | string, bot_id: number | string, body: types.MessengerConnectPageDto, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/socialnet/${encodeURIComponent(client_id)}/connect_page/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Client Messenger Connect. */
  connectSocialnet(client_id: number | string, bot_id: number | string, body: types.MessengerConnectDto, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/socialnet/${encodeURIComponent(client_id)}/connect/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Get Client Socialnet Connection Info. */
  getSocialnetConnection(client_id: number | string, bot_id: number | string): Promise<types.ChannelConnection> {
    return this.call("GET", `/socialnet/${encodeURIComponent(client_id)}/connection/${encodeURIComponent(bot_id)}`);
  }
  /** Disconnect A Page Of Client. */
  disconnectSocialnetPage(client_id: number | string, bot_id: number | string, body?: types.MessengerConnectPageDto): Promise<types.ChannelConnection> {
    return this.call("PUT", `/socialnet/${encodeURIComponent(client_id)}/disconnect_page/${encodeURIComponent(bot_id)}`, { body });
  }
  /** Reconnect A Page Of Client. */
  reconnectSocialnetPage(client_id: number | string, bot_id: number | string, body?: types.MessengerConnectPageDto): Promise<types.ChannelConnection> {
    return this.call("PUT", `/socialnet/${encodeURIComponent(client_id)}/reconnect_page/${encodeURIComponent(bot_id)}`, { body });
  }
  /** Get Photoapp Messages. */
  getPhotoappMessages(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; recipient_id?: string; }): Promise<types.MessagesResponse> {
    return this.call("GET", `/photoapp/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Post Photoapp Messages. */
  sendPhotoappMessage(client_id: number | string, bot_id: number | string, body: types.ChannelMessageRequest, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/photoapp/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Client Messenger List Photoapp Accounts. */
  listPhotoappAccounts(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.ChannelAccountsResponse> {
    return this.call("GET", `/photoapp/${encodeURIComponent(client_id)}/accounts/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Store User Token. */
  storePhotoappToken(client_id: number | string, body: types.SocialnetAccessToken, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/photoapp/${encodeURIComponent(client_id)}/user-token`, { body, idempotencyKey });
  }
  /** Client Messenger Connect Page. */
  connectPhotoappPage(client_id: number | string, bot_id: number | string, body: types.PhotoappConnectPageDto, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/photoapp/${encodeURIComponent(client_id)}/connect_page/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Connect Photoapp. */
  connectPhotoapp(client_id: number | string, bot_id: number | string, body: types.PhotoappConnectDto, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/photoapp/${encodeURIComponent(client_id)}/connect/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Get Client Ig Connection By Client Id. */
  listPhotoappConnections(client_id: number | string): Promise<Array<types.ChannelConnection>> {
    return this.call("GET", `/photoapp/${encodeURIComponent(client_id)}/connection`);
  }
  /** Disconnect Photoapp. */
  disconnectPhotoapp(client_id: number | string, bot_id: number | string): Promise<types.ChannelConnection> {
    return this.call("PUT", `/photoapp/${encodeURIComponent(client_id)}/disconnect/${encodeURIComponent(bot_id)}`);
  }
  /** Client Messenger Connect. */
  connectLocalapp(client_id: number | string, bot_id: number | string, body: types.LocalappOAConnectDto, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/localapp/${encodeURIComponent(client_id)}/connect/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Disconnect A Page Of Client. */
  disconnectLocalapp(client_id: number | string, bot_id: number | string): Promise<types.ChannelConnection> {
    return this.call("PUT", `/localapp/${encodeURIComponent(client_id)}/disconnect_page/${encodeURIComponent(bot_id)}`);
  }
  /** Get Client Localapp Connection Info. */
  getLocalappConnection(client_id: number | string, bot_id: number | string): Promise<types.ChannelConnection> {
    return this.call("GET", `/localapp/${encodeURIComponent(client_id)}/connection/${encodeURIComponent(bot_id)}`);
  }
  /** Get Localapp Messages. */
  getLocalappMessages(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; recipient_id?: string; }): Promise<types.MessagesResponse> {
    return this.call("GET", `/localapp/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Post Localapp Messages. */
  sendLocalappMessage(client_id: number | string, bot_id: number | string, body: types.ChannelMessageRequest, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/localapp/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Store User Token. */
  storeChatappToken(client_id: number | string, body: types.SocialnetAccessToken, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/chatapp/${encodeURIComponent(client_id)}/user-token`, { body, idempotencyKey });
  }
  /** Client Chatapp List Accounts. */
  listChatappAccounts(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.ChannelAccountsResponse> {
    return this.call("GET", `/chatapp/${encodeURIComponent(client_id)}/accounts/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Connect Chatapp. */
  connectChatapp(client_id: number | string, bot_id: number | string, body: types.ChatappConnectDto, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/chatapp/${encodeURIComponent(client_id)}/connect/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Disconnect Chatapp. */
  disconnectChatapp(client_id: number | string, bot_id: number | string): Promise<types.ChannelConnection> {
    return this.call("PUT", `/chatapp/${encodeURIComponent(client_id)}/disconnect/${encodeURIComponent(bot_id)}`);
  }
  /** Get Bot Wa Connection. */
  getChatappConnection(client_id: number | string, bot_id: number | string): Promise<types.ChannelConnection> {
    return this.call("GET", `/chatapp/${encodeURIComponent(client_id)}/connection/${encodeURIComponent(bot_id)}`);
  }
  /** Get Chatapp Messages. */
  getChatappMessages(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; recipient_id?: string; }): Promise<types.MessagesResponse> {
    return this.call("GET", `/chatapp/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Post Chatapp Messages. */
  sendChatappMessage(client_id: number | string, bot_id: number | string, body: types.ChannelMessageRequest, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/chatapp/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Get Chatapp Templates. */
  getChatappTemplates(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.ChatappTemplatesResponse> {
    return this.call("GET", `/chatapp/${encodeURIComponent(client_id)}/templates/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Post Chatapp Template. */
  sendChatappTemplate(client_id: number | string, bot_id: number | string, body: types.ChatappTemplateRequest, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/chatapp/${encodeURIComponent(client_id)}/templates/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Connect Telegram. */
  connectTelegram(client_id: number | string, bot_id: number | string, body: types.TokenConnectDto, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/telegram/${encodeURIComponent(client_id)}/connect/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Get Client Telegram Connection Info. */
  getTelegramConnection(client_id: number | string, bot_id: number | string): Promise<types.ChannelConnection> {
    return this.call("GET", `/telegram/${encodeURIComponent(client_id)}/connection/${encodeURIComponent(bot_id)}`);
  }
  /** Disconnect Telegram. */
  disconnectTelegram(client_id: number | string, bot_id: number | string): Promise<types.ChannelConnection> {
    return this.call("PUT", `/telegram/${encodeURIComponent(client_id)}/disconnect/${encodeURIComponent(bot_id)}`);
  }
  /** Get Telegram Messages. */
  getTelegramMessages(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; recipient_id?: string; }): Promise<types.MessagesResponse> {
    return this.call("GET", `/telegram/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Post Telegram Messages. */
  sendTelegramMessage(client_id: number | string, bot_id: number | string, body: types.ChannelMessageRequest, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/telegram/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Getadhocreportfilteroptionsrouter. */
  getReportFilters(query?: { date_from?: string; date_to?: string; timezone?: string; }): Promise<types.AdhocFilterOptions> {
    return this.call("GET", `/report/adhoc/filter-options`, { query });
  }
  /** Searchadhocreportrouter. */
  searchReport(body: types.SearchAdhocReportParam, idempotencyKey?: string): Promise<types.AdhocReport> {
    return this.call("POST", `/report/adhoc/search`, { body, idempotencyKey });
  }
  /** Exportadhocreportrouter. */
  exportReport(body: types.ExportAdhocReportParam, idempotencyKey?: string): Promise<Blob> {
    return this.call("POST", `/report/adhoc/export`, { body, idempotencyKey });
  }
  /** Get Export. */
  getReportExport(export_id: number | string, query?: { signature?: string; }): Promise<Blob> {
    return this.call("GET", `/report/adhoc/export/${encodeURIComponent(export_id)}`, { query });
  }
  /** Getchatoverviewrouter. */
  getOverview(query?: { date_from?: string; date_to?: string; timezone?: string; }): Promise<types.ChatOverview> {
    return this.call("GET", `/report/chat-overview`, { query });
  }
  /** Getchatoverviewrouter. */
  getBotOverview(bot_id: number | string, query?: { date_from?: string; date_to?: string; timezone?: string; }): Promise<types.ChatOverview> {
    return this.call("GET", `/report/chat-overview/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Getwarningdashboardrouter. */
  getWarnings(): Promise<types.WarningDashboard> {
    return this.call("GET", `/report/warning-dashboard`);
  }
  /** Mute Warning. */
  muteWarning(body: types.MuteWarningDto): Promise<types.WarningDashboard> {
    return this.call("PUT", `/report/warning-dashboard/mute`, { body });
  }
  /** Call Mcp. */
  callMcp(body: types.McpRequest, idempotencyKey?: string): Promise<types.McpResult | types.McpFault> {
    return this.call("POST", `/mcp`, { body, idempotencyKey });
  }
}
