/** The operations of the API. Made by `make clients` from the API's document; changes belong there. */
import { Core, type ServerEvent } from "./core.js";
import type * as types from "./types.js";

export class Client extends Core {
  /** Check whether the platform works: the database, the message broker, the background processes, how long jobs wait, the disks, the clock and, if there is one, the database's replica. */
  checkHealth(): Promise<types.Health> {
    return this.call("GET", `/health`);
  }
  /** Check that this web process serves requests; the response is then a 200. */
  checkLiveness(): Promise<types.Alive> {
    return this.call("GET", `/health/live`);
  }
  /** Get your company, with its id for paths with `client_id`, its plan and its credits. */
  getClientInfo(): Promise<types.ClientDto> {
    return this.call("GET", `/identity/client`);
  }
  /** Store a person's socialnet access token for your company, replacing any earlier one: the same as *Store User Token* on socialnet, whose description says when you need it and which permissions the token must have. */
  addSocialnetAccessToken(body: types.SocialnetAccessToken, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/identity/socialnet-access-token`, { body, idempotencyKey });
  }
  /** List your company's people, in the order they were added. */
  listUsers(query?: { cursor?: string; limit?: number; }): Promise<types.UsersResponse> {
    return this.call("GET", `/identity/users`, { query });
  }
  /** Add a person to your company. */
  createUser(body: types.UserInput, idempotencyKey?: string): Promise<types.UserDto> {
    return this.call("POST", `/identity/users`, { body, idempotencyKey });
  }
  /** Disable or enable a person. */
  disableUser(user_id: number | string, body: types.UserDisableFlag): Promise<types.UserDto> {
    return this.call("PUT", `/identity/users/${encodeURIComponent(user_id)}/disable`, { body });
  }
  /** Set a person's password: the body has the new password, and no link is mailed. */
  resetUserPassword(user_id: number | string, body: types.UserPassword): Promise<void> {
    return this.call("PUT", `/identity/users/${encodeURIComponent(user_id)}/reset-password`, { body });
  }
  /** Change a person's role, and whether the person may also train bots (`can_train`). */
  updateUserRole(user_id: number | string, body: types.UserRole): Promise<types.UserDto> {
    return this.call("PUT", `/identity/users/${encodeURIComponent(user_id)}/role`, { body });
  }
  /** Sign in with email address and password, or exchange a refresh token. */
  signIn(body: types.Body_login_for_access_token2_identity_token2_post, idempotencyKey?: string): Promise<types.TokenResponse> {
    return this.call("POST", `/identity/token2`, { body, kind: "form", idempotencyKey });
  }
  /** Get the person to whom the access token belongs. */
  getMe(): Promise<types.UserDto> {
    return this.call("GET", `/identity/users/me`);
  }
  /** Change your name, language or picture, or whether you are away; fields left out keep their value. */
  updateMe(body: types.OwnUser): Promise<types.UserDto> {
    return this.call("PUT", `/identity/users/me`, { body });
  }
  /** Change your password. */
  changeMyPassword(body: types.OwnPassword): Promise<types.TokenResponse> {
    return this.call("PUT", `/identity/users/me/password`, { body });
  }
  /** Register a company with its owner and a trial plan. */
  registerTrial(body: types.RegisterTrialDto, idempotencyKey?: string): Promise<types.ClientDto> {
    return this.call("POST", `/identity/register-trial`, { body, idempotencyKey });
  }
  /** Create the company that a mailed link confirms. */
  confirmRegistration(body: types.ConfirmRegistrationRequest, idempotencyKey?: string): Promise<types.ClientDto> {
    return this.call("POST", `/identity/confirm-registration`, { body, idempotencyKey });
  }
  /** Email a new link for the latest registration of an email address. */
  resendRegistration(body: types.ResendRegistrationRequest, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/identity/resend-registration`, { body, idempotencyKey });
  }
  /** Email a link to choose a new password, if the address has an account. */
  forgotPassword(body: types.ForgotPasswordRequest, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/identity/forgot-password`, { body, idempotencyKey });
  }
  /** Check whether a mailed link to choose a password still works; 400 `reset_token_invalid` if it does not. */
  verifyResetToken(body: types.VerifyResetTokenRequest, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/identity/verify-reset-token`, { body, idempotencyKey });
  }
  /** Set a new password with the token of a mailed link. */
  resetPassword(body: types.ResetPasswordRequest, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/identity/reset-password`, { body, idempotencyKey });
  }
  /** Sign out: end the sign-in that the access token belongs to, with its refresh tokens. */
  revokeToken(body?: types.RevokeTokenRequest, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/identity/revoke`, { body, kind: "form", idempotencyKey });
  }
  /** List your company's API keys, newest first, including revoked keys, without their secrets. */
  listApiKeys(query?: { cursor?: string; limit?: number; }): Promise<types.ApiKeysResponse> {
    return this.call("GET", `/identity/api-keys`, { query });
  }
  /** Create an API key. */
  createApiKey(body: types.ApiKeyRequest, idempotencyKey?: string): Promise<types.ApiKeyDto> {
    return this.call("POST", `/identity/api-keys`, { body, idempotencyKey });
  }
  /** Revoke an API key. */
  revokeApiKey(api_key_id: number | string): Promise<void> {
    return this.call("DELETE", `/identity/api-keys/${encodeURIComponent(api_key_id)}`);
  }
  /** Change an API key's name, limits or `mcp_write`; fields left out keep their value. */
  updateApiKey(api_key_id: number | string, body: types.ApiKeyInput): Promise<types.ApiKeyDto> {
    return this.call("PUT", `/identity/api-keys/${encodeURIComponent(api_key_id)}`, { body });
  }
  /** Get your company's plan, the credits left, and the credits used in the plan's current period. */
  getSubscription(): Promise<types.SubscriptionDto> {
    return this.call("GET", `/identity/subscription`);
  }
  /** Order credits. */
  topUpCredits(body: types.TopUpAmount, idempotencyKey?: string): Promise<types.CreditOrder> {
    return this.call("POST", `/identity/subscription/top-up`, { body, idempotencyKey });
  }
  /** List your company's orders for credits, newest first. */
  listCreditOrders(query?: { cursor?: string; limit?: number; }): Promise<types.CreditOrdersResponse> {
    return this.call("GET", `/identity/subscription/orders`, { query });
  }
  /** Get one order for credits, with its status: `pending`, `paid` or `refused`. */
  getCreditOrder(order_id: number | string): Promise<types.CreditOrder> {
    return this.call("GET", `/identity/subscription/orders/${encodeURIComponent(order_id)}`);
  }
  /** Report that an order was paid or refused. */
  receivePayment(body: types.CreditPayment, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/identity/subscription/payments`, { body, idempotencyKey });
  }
  /** Remove the OpenID provider with which your company's people sign in, and the links to their accounts there. */
  removeSignInProvider(): Promise<void> {
    return this.call("DELETE", `/identity/sign-in-provider`);
  }
  /** Get your company's OpenID provider; 404 if it has none. */
  getSignInProvider(): Promise<types.SignInProviderDto> {
    return this.call("GET", `/identity/sign-in-provider`);
  }
  /** Set or change your company's OpenID provider for signing in to the site. */
  setSignInProvider(body: types.SignInProviderInput): Promise<types.SignInProviderDto> {
    return this.call("PUT", `/identity/sign-in-provider`, { body });
  }
  /** List who changed what in your company, newest first: people, API keys, settings, bots, training and credits. */
  getAuditLog(query?: { action?: string; subject?: string; user_id?: number; api_key_id?: number; created_from?: string; created_to?: string; cursor?: string; limit?: number; }): Promise<types.AuditEventsResponse> {
    return this.call("GET", `/identity/audit`, { query });
  }
  /** Download the audit log as a file, oldest first, with the filters of *Get Audit Log*. */
  exportAuditLog(query?: { action?: string; subject?: string; user_id?: number; api_key_id?: number; created_from?: string; created_to?: string; format?: "jsonl" | "csv"; }): Promise<Blob> {
    return this.call("GET", `/identity/audit/export`, { query });
  }
  /** Get the settings for your company's conversations: business hours, assignment to agents, handover, answers, ending, ratings, automatic summaries and retention. */
  getChatConfig(client_id: number | string): Promise<types.ClientConfigDto> {
    return this.call("GET", `/config/${encodeURIComponent(client_id)}/chat`);
  }
  /** Change the settings for your company's conversations; fields left out keep their value. */
  updateChatConfig(client_id: number | string, body: types.ClientConfigInput, idempotencyKey?: string): Promise<types.ClientConfigDto> {
    return this.call("POST", `/config/${encodeURIComponent(client_id)}/chat`, { body, idempotencyKey });
  }
  /** Get the settings for notifications by email: which ones are sent, and who gets them. */
  getEmailNotification(client_id: number | string): Promise<types.EmailNotificationRequest> {
    return this.call("GET", `/config/${encodeURIComponent(client_id)}/email-notification`);
  }
  /** Change the settings for notifications by email: which ones are sent, and who gets them. */
  updateEmailNotification(client_id: number | string, body: types.EmailNotificationInput, idempotencyKey?: string): Promise<types.EmailNotificationRequest> {
    return this.call("POST", `/config/${encodeURIComponent(client_id)}/email-notification`, { body, idempotencyKey });
  }
  /** Send a test email to the recipients of your notifications; the response lists them. */
  testEmailNotification(client_id: number | string, idempotencyKey?: string): Promise<types.TestedRecipients> {
    return this.call("POST", `/config/${encodeURIComponent(client_id)}/email-notification/test`, { idempotencyKey });
  }
  /** Get a webhook endpoint, by default the oldest, without its secret; 404 if you have no endpoint, or none with this id. */
  getWebhookConfig(query?: { config_id?: string; }): Promise<types.WebhookConfig> {
    return this.call("GET", `/webhook/config`, { query });
  }
  /** Create a webhook endpoint, to which events are sent from now on. */
  createWebhookConfig(body: types.WebhookConfigRequest, idempotencyKey?: string): Promise<types.WebhookConfig> {
    return this.call("POST", `/webhook/config`, { body, idempotencyKey });
  }
  /** Deliver a signed `webhook.test` event to a webhook endpoint now, even if the endpoint is off. */
  testWebhook(query?: { config_id?: string; }, idempotencyKey?: string): Promise<types.WebhookDelivery> {
    return this.call("POST", `/webhook/test`, { query, idempotencyKey });
  }
  /** List the event log, each event with its deliveries to your endpoints. */
  getWebhookEvents(query?: { cursor?: string; limit?: number; order?: "desc" | "asc"; type?: "conversation.created" | "conversation.assigned" | "conversation.unassigned" | "conversation.handed_off" | "conversation.prioritized" | "conversation.snoozed" | "conversation.ended" | "conversation.reopened" | "message.created" | "message.delivered" | "message.read" | "message.failed" | "message.updated" | "summary.created" | "tags.updated" | "sentiment.updated" | "customer.updated" | "customer.merged" | "feedback.created" | "feedback.updated" | "notification.created" | "document.trained" | "document.failed" | "channel.connected" | "channel.disconnected" | "channel.notified" | "credits.low" | "webhook.test"; conversation_id?: string; created_from?: string; created_to?: string; state?: "pending" | "succeeded" | "failed" | "gave_up"; config_id?: string; }): Promise<types.EventsResponse> {
    return this.call("GET", `/webhook/events`, { query });
  }
  /** Send an event again, with the same id and body; the retries start over. */
  replayWebhookEvent(event_id: number | string, query?: { config_id?: string; }, idempotencyKey?: string): Promise<types.Event> {
    return this.call("POST", `/webhook/events/${encodeURIComponent(event_id)}/replay`, { query, idempotencyKey });
  }
  /** Create a new signing secret for a webhook endpoint, shown only in this response. */
  rotateWebhookSecret(query?: { config_id?: string; }, idempotencyKey?: string): Promise<types.WebhookConfig> {
    return this.call("POST", `/webhook/config/rotate-secret`, { query, idempotencyKey });
  }
  /** List your company's webhook endpoints, oldest first. */
  listWebhookConfigs(query?: { cursor?: string; limit?: number; }): Promise<types.WebhookConfigsResponse> {
    return this.call("GET", `/webhook/configs`, { query });
  }
  /** Delete a webhook endpoint; deliveries that wait for it end as `gave_up`. */
  deleteWebhookConfig(config_id: number | string): Promise<void> {
    return this.call("DELETE", `/webhook/config/${encodeURIComponent(config_id)}`);
  }
  /** Change a webhook endpoint's settings; fields left out keep their value, and the secret stays. */
  updateWebhookConfig(config_id: number | string, body: types.WebhookConfigRequest): Promise<types.WebhookConfig> {
    return this.call("PUT", `/webhook/config/${encodeURIComponent(config_id)}`, { body });
  }
  /** Get an event with its deliveries and its data, even if the webhook omitted large data. */
  getWebhookEvent(event_id: number | string): Promise<types.Event> {
    return this.call("GET", `/webhook/events/${encodeURIComponent(event_id)}`);
  }
  /** Send the events of a period to a webhook endpoint again, oldest first. */
  replayWebhookEvents(body: types.EventReplayRequest, idempotencyKey?: string): Promise<types.Replay> {
    return this.call("POST", `/webhook/replay`, { body, idempotencyKey });
  }
  /** Find the passages of the bot's content that best answer a question; costs no credits. */
  searchContent(bot_id: number | string, query?: { q?: string; language?: string; limit?: number; }): Promise<types.FoundContent> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/search`, { query });
  }
  /** Get the bot's current instructions or, with `version`, another version of them; 404 if the bot has no instructions, or no version with this number. */
  getCurrentPrompt(bot_id: number | string, query?: { version?: number; }): Promise<types.PromptDto> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/prompt`, { query });
  }
  /** Store a new version of the bot's instructions and make it current; earlier versions are kept. */
  createPrompt(bot_id: number | string, body: types.PromptInput, idempotencyKey?: string): Promise<types.PromptDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/train/prompt`, { body, idempotencyKey });
  }
  /** List the versions of the bot's instructions, newest first. */
  getPromptVersions(bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.PromptVersionsResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/prompt/versions`, { query });
  }
  /** Make an earlier version of the instructions current again, by storing a copy as a new version. */
  restorePromptVersion(bot_id: number | string, version: number | string, idempotencyKey?: string): Promise<types.PromptDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/train/prompt/versions/${encodeURIComponent(version)}/restore`, { idempotencyKey });
  }
  /** List the uploaded files with the progress of their training, newest first. */
  listDocuments(bot_id: number | string, query?: { cursor?: string; limit?: number; status?: types.DocumentStatus; }): Promise<types.DocumentsResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/document`, { query });
  }
  /** Upload files and train the bot on them; `refused` lists the files that are not accepted. */
  uploadDocuments(bot_id: number | string, body: Record<string, unknown>, idempotencyKey?: string): Promise<types.DocumentsResponse> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/train/document`, { body, kind: "files", idempotencyKey });
  }
  /** Train stored documents again; until a document has been read, the bot uses its old passages. */
  retrainDocuments(bot_id: number | string, body: types.ReuploadFilesRequest, idempotencyKey?: string): Promise<types.ReuploadFilesResponse> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/train/document/reupload`, { body, idempotencyKey });
  }
  /** Delete a document; the bot stops using it at once, unless the deletion is held back. */
  deleteDocument(bot_id: number | string, document_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/${encodeURIComponent(bot_id)}/train/document/${encodeURIComponent(document_id)}`);
  }
  /** Get a document with the progress of its training; citations contain its id. */
  getDocument(bot_id: number | string, document_id: number | string): Promise<types.DocumentDto> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/document/${encodeURIComponent(document_id)}`);
  }
  /** Download the original file: for a crawled page, its content as fetched; for a written text or answer, a text file. */
  downloadDocument(bot_id: number | string, document_id: number | string): Promise<Blob> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/document/${encodeURIComponent(document_id)}/original`);
  }
  /** Discard a document's `held_change`, a change that is not live yet; the live version is kept. */
  discardDocumentChange(bot_id: number | string, document_id: number | string, idempotencyKey?: string): Promise<types.DocumentDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/train/document/${encodeURIComponent(document_id)}/discard`, { idempotencyKey });
  }
  /** List the written texts with the progress of their training, newest first. */
  getTexts(bot_id: number | string, query?: { cursor?: string; limit?: number; status?: types.DocumentStatus; }): Promise<types.TextsResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/text`, { query });
  }
  /** Train the bot on a text. */
  createText(bot_id: number | string, body: types.TextInput, idempotencyKey?: string): Promise<types.TextDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/train/text`, { body, idempotencyKey });
  }
  /** Delete a text; the bot stops using it at once, unless the deletion is held back. */
  deleteText(bot_id: number | string, text_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/${encodeURIComponent(bot_id)}/train/text/${encodeURIComponent(text_id)}`);
  }
  /** Get one written text with the progress of its training. */
  getText(bot_id: number | string, text_id: number | string): Promise<types.TextDto> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/text/${encodeURIComponent(text_id)}`);
  }
  /** Replace a text; a new title or text is trained, and the bot uses the old one until then. */
  updateText(bot_id: number | string, text_id: number | string, body: types.TextInput): Promise<types.TextDto> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/train/text/${encodeURIComponent(text_id)}`, { body });
  }
  /** List the questions and answers with the progress of their training, newest first. */
  getQuestionAnswers(bot_id: number | string, query?: { cursor?: string; limit?: number; status?: types.DocumentStatus; }): Promise<types.QuestionAnswersResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/question-answer`, { query });
  }
  /** Give the bot the answer to a question. */
  createQuestionAnswer(bot_id: number | string, body: types.QuestionAnswerInput, idempotencyKey?: string): Promise<types.QuestionAnswerDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/train/question-answer`, { body, idempotencyKey });
  }
  /** Delete a question and its answer; the bot stops using them at once, unless the deletion is held back. */
  deleteQuestionAnswer(bot_id: number | string, question_answer_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/${encodeURIComponent(bot_id)}/train/question-answer/${encodeURIComponent(question_answer_id)}`);
  }
  /** Get one question with its answer and the progress of its training. */
  getQuestionAnswer(bot_id: number | string, question_answer_id: number | string): Promise<types.QuestionAnswerDto> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/question-answer/${encodeURIComponent(question_answer_id)}`);
  }
  /** Replace a question and its answer; if one of them is new, the pair is trained. */
  updateQuestionAnswer(bot_id: number | string, question_answer_id: number | string, body: types.QuestionAnswerInput): Promise<types.QuestionAnswerDto> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/train/question-answer/${encodeURIComponent(question_answer_id)}`, { body });
  }
  /** List the bot's websites with their crawled pages, newest first. */
  getWebUrls(bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.WebUrlsResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/train/web-url`, { query });
  }
  /** Train the bot on a web page, optionally with the pages it links to, or on the pages of a sitemap. */
  addWebUrl(bot_id: number | string, body: types.WebUrlInput, idempotencyKey?: string): Promise<types.WebUrlDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/train/web-url`, { body, idempotencyKey });
  }
  /** Delete a website with its crawled pages; the bot stops using them at once. */
  deleteWebUrl(bot_id: number | string, web_url_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/${encodeURIComponent(bot_id)}/train/web-url/${encodeURIComponent(web_url_id)}`);
  }
  /** Change a website that the bot is trained on; fields left out keep their value. */
  updateWebUrl(bot_id: number | string, web_url_id: number | string, body: types.WebUrlInput): Promise<types.WebUrlDto> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/train/web-url/${encodeURIComponent(web_url_id)}`, { body });
  }
  /** Set whether a document takes precedence, and the period in which the bot uses the document. */
  setImportantDocument(bot_id: number | string, document_id: number | string, body: types.ImportantDocumentDto): Promise<types.DocumentDto> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/train/document/${encodeURIComponent(document_id)}/important`, { body });
  }
  /** List the bot's golden questions, which test its answers: each with what a right answer contains or cites. */
  getGoldenQuestions(bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.GoldenQuestionsResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/golden-questions`, { query });
  }
  /** Add a golden question, with what the bot's answer must contain or cite. */
  createGoldenQuestion(bot_id: number | string, body: types.GoldenQuestionInput, idempotencyKey?: string): Promise<types.GoldenQuestionDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/golden-questions`, { body, idempotencyKey });
  }
  /** Delete a golden question; existing golden runs keep their results. */
  deleteGoldenQuestion(bot_id: number | string, golden_question_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/${encodeURIComponent(bot_id)}/golden-questions/${encodeURIComponent(golden_question_id)}`);
  }
  /** Change a golden question or what the bot's answer must contain or cite; fields left out keep their value. */
  updateGoldenQuestion(bot_id: number | string, golden_question_id: number | string, body: types.GoldenQuestionInput): Promise<types.GoldenQuestionDto> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/golden-questions/${encodeURIComponent(golden_question_id)}`, { body });
  }
  /** List the bot's golden runs (tests with its golden questions), newest first, each with the questions that fail now and passed before (`broke`) and the reverse (`better`). */
  getGoldenRuns(bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.GoldenRunsResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/golden-runs`, { query });
  }
  /** Start a golden run: ask the bot all of its golden questions, as it is now or with a change to test. */
  startGoldenRun(bot_id: number | string, body: types.GoldenRunRequest, idempotencyKey?: string): Promise<types.GoldenRunDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/golden-runs`, { body, idempotencyKey });
  }
  /** Get a golden run with its progress, and the questions asked so far with their answers. */
  getGoldenRun(bot_id: number | string, run_id: number | string): Promise<types.GoldenRunDetail> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/golden-runs/${encodeURIComponent(run_id)}`);
  }
  /** Publish the change that the golden run holds back, even if answers get worse: new instructions, or new, changed or deleted documents. */
  publishHeldChange(bot_id: number | string, run_id: number | string, idempotencyKey?: string): Promise<types.GoldenRunDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/golden-runs/${encodeURIComponent(run_id)}/publish`, { idempotencyKey });
  }
  /** Discard the document changes that the golden run tests or holds back. */
  discardHeldChange(bot_id: number | string, run_id: number | string, idempotencyKey?: string): Promise<types.GoldenRunDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/golden-runs/${encodeURIComponent(run_id)}/discard`, { idempotencyKey });
  }
  /** Remove the language model or, with `purpose=embeddings`, the encoder, and its API key; does nothing if none is connected. */
  removeLanguageModel(query?: { bot_id?: number; purpose?: "chat" | "embeddings"; }): Promise<void> {
    return this.call("DELETE", `/ai/model`, { query });
  }
  /** List the language models and encoders that your company has connected, newest first. */
  getLanguageModels(query?: { cursor?: string; limit?: number; }): Promise<types.LanguageModelsResponse> {
    return this.call("GET", `/ai/model`, { query });
  }
  /** Set the language model for all of your bots or, with `bot_id`, for one bot; with `purpose=embeddings`, set the encoder, with which the search of all bots finds passages. */
  setLanguageModel(body: types.LanguageModelInput, query?: { bot_id?: number; purpose?: "chat" | "embeddings"; }): Promise<types.LanguageModelDto> {
    return this.call("PUT", `/ai/model`, { query, body });
  }
  /** Test the connected language model, which translates one word, or with `purpose=embeddings` the encoder, which encodes two words. */
  testLanguageModel(query?: { bot_id?: number; purpose?: "chat" | "embeddings"; }, idempotencyKey?: string): Promise<types.LanguageModelTest> {
    return this.call("POST", `/ai/model/test`, { query, idempotencyKey });
  }
  /** Get the customer-info fields: what the bot asks a customer for, in this order. */
  getCustomerInfoField(bot_id: number | string): Promise<types.CustomerInfoFields> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/customer-info-field`);
  }
  /** Replace the customer-info fields: what the bot asks a customer for. */
  updateCustomerInfoField(bot_id: number | string, body: types.CustomerInfoFieldsInput): Promise<types.CustomerInfoFields> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/customer-info-field`, { body });
  }
  /** Get the bot's procedures: what the bot does step by step when customers want something. */
  getProcedures(bot_id: number | string): Promise<types.Procedures> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/procedures`);
  }
  /** Replace the bot's procedures: what the bot does step by step when customers want something. */
  updateProcedures(bot_id: number | string, body: types.ProceduresInput): Promise<types.Procedures> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/procedures`, { body });
  }
  /** Get the bot's welcome messages, with which conversations begin, by language. */
  getWelcomeMessages(bot_id: number | string): Promise<types.WelcomeMessages> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/welcome-message`);
  }
  /** Replace the bot's welcome messages, with which conversations begin, by language: a language that is left out has none afterwards. */
  updateWelcomeMessages(bot_id: number | string, body: types.WelcomeMessagesInput): Promise<types.WelcomeMessages> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/welcome-message`, { body });
  }
  /** Upload a picture and replace the banner above the chat: the picture, its link, its alternative text and the period in which it is shown. */
  uploadBanner(bot_id: number | string, body: Record<string, unknown>, idempotencyKey?: string): Promise<types.BannerUploadResponseDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/upload-banner-image`, { body, kind: "files", idempotencyKey });
  }
  /** Remove the bot's banner with its link, text and period; does nothing if the bot has no banner. */
  deleteBotBanner(bot_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/${encodeURIComponent(bot_id)}/banner`);
  }
  /** Get the bot's banner and the period in which it is shown; `url` is null if the bot has no banner. */
  getBanner(bot_id: number | string): Promise<types.BotBannerDto> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/banner`);
  }
  /** Change the link or alternative text of the bot's banner, or the period in which it is shown (`valid_from` to `valid_to`). */
  updateBotBanner(bot_id: number | string, body: types.BotBannerInput): Promise<types.BotBannerDto> {
    return this.call("PUT", `/ai/${encodeURIComponent(bot_id)}/banner`, { body });
  }
  /** Get the banner that the key's bot shows now; `url` is null if it shows none. */
  getBannerByApiKey(query?: { bot_id?: number; }): Promise<types.BotBannerDto> {
    return this.call("GET", `/ai/banner`, { query });
  }
  /** Get the configuration of a bot's widget, with the widget's texts in one language. */
  getBotConfig(query?: { bot_id?: number; language?: string; }): Promise<types.BotConfigDto> {
    return this.call("GET", `/ai/bot/config`, { query });
  }
  /** List your bots with their settings, including disabled ones, oldest first. */
  listBots(query?: { cursor?: string; limit?: number; }): Promise<types.BotsResponse> {
    return this.call("GET", `/ai/bot`, { query });
  }
  /** Create a bot; fields left out get their defaults. */
  createBot(body: types.BotInput, idempotencyKey?: string): Promise<types.BotDto> {
    return this.call("POST", `/ai/bot`, { body, idempotencyKey });
  }
  /** Delete a bot with its documents and revoke its keys. */
  deleteBot(bot_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/bot/${encodeURIComponent(bot_id)}`);
  }
  /** Get one of your bots, with all of its settings. */
  getBot(bot_id: number | string): Promise<types.BotDto> {
    return this.call("GET", `/ai/bot/${encodeURIComponent(bot_id)}`);
  }
  /** Change a bot's settings; fields left out keep their value. */
  updateBot(bot_id: number | string, body: types.BotInput): Promise<types.BotDto> {
    return this.call("PUT", `/ai/bot/${encodeURIComponent(bot_id)}/update-bot`, { body });
  }
  /** Disable a bot, so that people answer its conversations, or enable it again. */
  disableBot(bot_id: number | string, body: types.ToggleDisableBotDto): Promise<types.BotDto> {
    return this.call("PUT", `/ai/bot/${encodeURIComponent(bot_id)}/toggle-disable`, { body });
  }
  /** Create the secret with which your server signs customers' ids; it is shown only once. */
  replaceBotIdentitySecret(bot_id: number | string, idempotencyKey?: string): Promise<types.BotIdentitySecret> {
    return this.call("POST", `/ai/bot/${encodeURIComponent(bot_id)}/identity-secret`, { idempotencyKey });
  }
  /** Get the questions that the widget suggests to customers: the questions that you wrote, in your order. */
  getBotSampleQuestions(bot_id: number | string, query?: { language?: string; }): Promise<types.SampleQuestionsResponse> {
    return this.call("GET", `/ai/bot/${encodeURIComponent(bot_id)}/sample-questions`, { query });
  }
  /** Replace the questions that the widget suggests. */
  updateBotSampleQuestions(bot_id: number | string, body: types.SampleQuestions): Promise<types.SampleQuestionsResponse> {
    return this.call("PUT", `/ai/bot/${encodeURIComponent(bot_id)}/sample-questions`, { body });
  }
  /** Get your company's languages: the languages that you have set or, if you have set none, those that your enabled bots speak. */
  getLanguages(): Promise<types.BotLanguageConfigDto> {
    return this.call("GET", `/identity/languages`);
  }
  /** Set your company's languages and its default language; new bots get them. */
  updateLanguages(body: types.BotLanguageConfigInput): Promise<types.BotLanguageConfigDto> {
    return this.call("PUT", `/identity/languages`, { body });
  }
  /** Get the languages of the key's bot, or your company's if the key serves all bots. */
  getLanguagesByApiKey(): Promise<types.BotLanguageConfigDto> {
    return this.call("GET", `/identity/languages/by-api-key`);
  }
  /** Get the functions that the bot may call: HTTP requests to your systems. */
  getFunctionCallingConfig(bot_id: number | string): Promise<types.FunctionCallingConfigDTO> {
    return this.call("GET", `/function-calling/${encodeURIComponent(bot_id)}`);
  }
  /** Replace the functions that the bot may call: functions left out are removed; tools of MCP servers stay. */
  setFunctionCallingConfig(bot_id: number | string, body: types.FunctionCallingConfigInput, idempotencyKey?: string): Promise<types.FunctionCallingConfigDTO> {
    return this.call("POST", `/function-calling/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** List the MCP servers of the bot with their tools, newest first. */
  getMCPServers(bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.McpServersResponse> {
    return this.call("GET", `/function-calling/${encodeURIComponent(bot_id)}/mcp-servers`, { query });
  }
  /** Connect an MCP server (Model Context Protocol), whose tools the bot can call, and list its tools; the bot may call only the tools in `allowed`. */
  connectMCPServer(bot_id: number | string, body: types.McpServerRequest, idempotencyKey?: string): Promise<types.McpServerDto> {
    return this.call("POST", `/function-calling/${encodeURIComponent(bot_id)}/mcp-servers`, { body, idempotencyKey });
  }
  /** Remove an MCP server, its token and the functions of its tools; the log of calls is kept. */
  removeMCPServer(bot_id: number | string, mcp_server_id: number | string): Promise<void> {
    return this.call("DELETE", `/function-calling/${encodeURIComponent(bot_id)}/mcp-servers/${encodeURIComponent(mcp_server_id)}`);
  }
  /** Change an MCP server, switch it off, or choose which of its tools the bot may call. */
  updateMCPServer(bot_id: number | string, mcp_server_id: number | string, body: types.McpServerChange): Promise<types.McpServerDto> {
    return this.call("PUT", `/function-calling/${encodeURIComponent(bot_id)}/mcp-servers/${encodeURIComponent(mcp_server_id)}`, { body });
  }
  /** Ask an MCP server for its tools again, and store the list. */
  refreshMCPServer(bot_id: number | string, mcp_server_id: number | string, idempotencyKey?: string): Promise<types.McpServerDto> {
    return this.call("POST", `/function-calling/${encodeURIComponent(bot_id)}/mcp-servers/${encodeURIComponent(mcp_server_id)}/refresh`, { idempotencyKey });
  }
  /** List the function calls that the bot requested, with arguments, result and error, newest first. */
  getFunctionCallingEvents(bot_id: number | string, query?: { cursor?: string; limit?: number; function?: string; status?: "waiting" | "running" | "succeeded" | "failed" | "refused" | "rejected"; chat_id?: string; }): Promise<types.FunctionCallingEventsResponse> {
    return this.call("GET", `/function-calling/${encodeURIComponent(bot_id)}/events`, { query });
  }
  /** Approve or reject a function call that waits for an agent; the first decision counts. */
  decideFunctionCall(bot_id: number | string, call_id: number | string, body: types.FunctionCallDecision, idempotencyKey?: string): Promise<types.FunctionCallingEventDTO> {
    return this.call("POST", `/function-calling/${encodeURIComponent(bot_id)}/events/${encodeURIComponent(call_id)}/decision`, { body, idempotencyKey });
  }
  /** Add golden questions from sample questions, your own answers or frequent questions. */
  collectGoldenQuestions(bot_id: number | string, body: types.GoldenCollectRequest, idempotencyKey?: string): Promise<types.GoldenCollected> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/golden-questions/collect`, { body, idempotencyKey });
  }
  /** List the bot's replays, newest first. */
  getReplays(bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.ReplaysResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/replays`, { query });
  }
  /** Start a replay: have the bot answer the customers' questions of one day again, to compare its answers then and now. */
  startReplay(bot_id: number | string, body: types.ReplayRequest, idempotencyKey?: string): Promise<types.ReplayDto> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/replays`, { body, idempotencyKey });
  }
  /** Get a replay, in which the bot answers the customers' questions of one day again, with its progress and the counts of its answers; *Get Replayed Replies* has the replies. */
  getReplay(bot_id: number | string, replay_id: number | string): Promise<types.ReplayDto> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/replays/${encodeURIComponent(replay_id)}`);
  }
  /** List the replies of a replay, in which the bot answered the customers' questions of one day again: each with its conversation, the original reply and the new one. */
  getReplayedReplies(bot_id: number | string, replay_id: number | string, query?: { cursor?: string; limit?: number; change?: types.ReplayChange; }): Promise<types.ReplayedResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/replays/${encodeURIComponent(replay_id)}/replies`, { query });
  }
  /** List the bot's unanswered questions of the last 30 days, most asked first. */
  getUnansweredQuestions(bot_id: number | string, query?: { cursor?: string; limit?: number; status?: "open" | "learning" | "answered"; }): Promise<types.UnansweredResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/unanswered-questions`, { query });
  }
  /** Get a group of unanswered questions, with the result of asking the bot again. */
  getUnansweredQuestion(bot_id: number | string, question_id: number | string): Promise<types.UnansweredQuestion> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/unanswered-questions/${encodeURIComponent(question_id)}`);
  }
  /** List the questions of a group, each with its conversation, newest first. */
  getUnansweredQuestionChats(bot_id: number | string, question_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.AskedQuestionsResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/unanswered-questions/${encodeURIComponent(question_id)}/chats`, { query });
  }
  /** Answer an unanswered question yourself: your answer is stored as a question-answer source of the bot. */
  answerUnansweredQuestion(bot_id: number | string, question_id: number | string, body: types.AddAnswerRequest, idempotencyKey?: string): Promise<types.UnansweredQuestion> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/unanswered-questions/${encodeURIComponent(question_id)}/answer`, { body, idempotencyKey });
  }
  /** Have a worker ask the bot the question again; no customer notices it. */
  askUnansweredQuestionAgain(bot_id: number | string, question_id: number | string, idempotencyKey?: string): Promise<types.UnansweredQuestion> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/unanswered-questions/${encodeURIComponent(question_id)}/ask`, { idempotencyKey });
  }
  /** Try a bot: open a test conversation (preview) with your messages and generate the bot's reply. */
  startPreview(bot_id: number | string, body: types.GenerateChatRequest, idempotencyKey?: string): Promise<types.GeneratedChat> {
    return this.call("POST", `/ai/${encodeURIComponent(bot_id)}/generate-chat`, { body, idempotencyKey });
  }
  /** Generate the bot's next reply in a conversation. */
  continuePreview(chat_id: number | string, body?: types.GenerateChatRequest, idempotencyKey?: string): Promise<types.GeneratedChat> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/generate`, { body, idempotencyKey });
  }
  /** Assign a conversation to an agent, the queue or the bot, as `assign_type` says; `user_id` names the agent. */
  assignChat(chat_id: number | string, body: types.ChatAssignDto, idempotencyKey?: string): Promise<types.Conversation> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/assign`, { body, idempotencyKey });
  }
  /** Return a conversation to the bot, or to the queue if the bot is disabled or its `agent_reply` is true (people answer instead of the bot). */
  chatUnassign(chat_id: number | string, idempotencyKey?: string): Promise<types.Conversation> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/unassign`, { idempotencyKey });
  }
  /** Send a message to the customer, or add an internal note. */
  replyAsAgent(chat_id: number | string, body: types.ManualChatMessageDto, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/manual`, { body, idempotencyKey });
  }
  /** Send files to the customer, or add them to an internal note. */
  replyAsAgentWithFiles(chat_id: number | string, body: Record<string, unknown>, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/manual/files`, { body, kind: "files", idempotencyKey });
  }
  /** List a conversation's messages with its internal notes, oldest first by default. */
  getHistory(chat_id: number | string, query?: { cursor?: string; limit?: number; sort?: "oldest" | "newest"; }): Promise<types.MessagesResponse> {
    return this.call("GET", `/ai/chat/${encodeURIComponent(chat_id)}/history`, { query });
  }
  /** Download a conversation as plain text, as *Download Transcript* gives it to the customer, even if the bot's `export_enabled` is false. */
  downloadChatTranscript(chat_id: number | string, query?: { timezone?: string; }): Promise<Blob> {
    return this.call("GET", `/ai/chat/${encodeURIComponent(chat_id)}/transcript.txt`, { query });
  }
  /** List what happened to a conversation besides messages, such as handover, assignment and end: the newest 200 steps, oldest first. */
  getChatSteps(chat_id: number | string): Promise<types.ChatSteps> {
    return this.call("GET", `/ai/chat/${encodeURIComponent(chat_id)}/steps`);
  }
  /** Delete the text and files of your latest message to the customer, who sees that it was deleted. */
  deleteMessage(chat_id: number | string, message_id: number | string): Promise<types.Message> {
    return this.call("DELETE", `/ai/chat/${encodeURIComponent(chat_id)}/messages/${encodeURIComponent(message_id)}`);
  }
  /** Replace the text of your latest message to the customer, who sees that it was edited. */
  editMessage(chat_id: number | string, message_id: number | string, body: types.MessageEdit): Promise<types.Message> {
    return this.call("PUT", `/ai/chat/${encodeURIComponent(chat_id)}/messages/${encodeURIComponent(message_id)}`, { body });
  }
  /** Get the receipt of a bot's message, which explains how the message came about: the passages found, with scores; the threshold, the instructions, the language model and the credits. */
  getReplyReceipt(chat_id: number | string, message_id: number | string): Promise<types.ReplyReceipt> {
    return this.call("GET", `/ai/chat/${encodeURIComponent(chat_id)}/messages/${encodeURIComponent(message_id)}/receipt`);
  }
  /** Replay a reply: have the bot answer the customer's question again, with its current documents, instructions, settings and language model. */
  replayReply(chat_id: number | string, message_id: number | string, idempotencyKey?: string): Promise<types.ReplayedTurn> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/messages/${encodeURIComponent(message_id)}/replay`, { idempotencyKey });
  }
  /** List all conversations of a customer, newest first, without test conversations (previews). */
  getCustomerHistory(customer_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.ConversationsResponse> {
    return this.call("GET", `/ai/chat/history/customer/${encodeURIComponent(customer_id)}`, { query });
  }
  /** List all conversations of a bot, newest first, without test conversations (previews). */
  getBotHistory(bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.ConversationsResponse> {
    return this.call("GET", `/ai/${encodeURIComponent(bot_id)}/chat-history`, { query });
  }
  /** List your customers, newest first; a key of one bot gets only that bot's customers. */
  getCustomers(query?: { cursor?: string; limit?: number; q?: string; external_id?: string; }): Promise<types.CustomersResponse> {
    return this.call("GET", `/ai/customers`, { query });
  }
  /** Get a customer; 404 if the customer was merged into another one. */
  getCustomer(customer_id: number | string): Promise<types.CustomerDto> {
    return this.call("GET", `/ai/customers/${encodeURIComponent(customer_id)}`);
  }
  /** Change a customer's data; fields left out keep their values, null clears a field. */
  updateCustomer(customer_id: number | string, body: types.CustomerInput): Promise<types.CustomerDto> {
    return this.call("PUT", `/ai/customers/${encodeURIComponent(customer_id)}`, { body });
  }
  /** Export everything stored about a customer as a ZIP: data, conversations, messages, files. */
  exportCustomer(customer_id: number | string): Promise<Blob> {
    return this.call("GET", `/ai/customers/${encodeURIComponent(customer_id)}/export`);
  }
  /** Erase a customer permanently, with conversations, files and events; your company's exported reports are deleted too. */
  eraseCustomer(customer_id: number | string, idempotencyKey?: string): Promise<types.CustomerErasure> {
    return this.call("POST", `/ai/customers/${encodeURIComponent(customer_id)}/erasure`, { idempotencyKey });
  }
  /** Get a customer's erasure, with its `status` and how many conversations are erased. */
  getCustomerErasure(erasure_id: number | string): Promise<types.CustomerErasure> {
    return this.call("GET", `/ai/customers/erasures/${encodeURIComponent(erasure_id)}`);
  }
  /** Merge the customer `merged_id` into `customer_id`, with conversations, channel identities and attributes. */
  mergeCustomers(customer_id: number | string, merged_id: number | string, idempotencyKey?: string): Promise<types.CustomerDto> {
    return this.call("POST", `/ai/customers/${encodeURIComponent(customer_id)}/merge/${encodeURIComponent(merged_id)}`, { idempotencyKey });
  }
  /** List your company's conversations, sorted by newest activity, wait or priority. */
  getChats(query?: { cursor?: string; limit?: number; status?: "open" | "snoozed" | "ended"; assign_type?: types.AssignTypeEnum; priority?: "low" | "normal" | "high" | "urgent"; mine?: boolean; is_assigned?: boolean; is_unread?: boolean; is_waiting?: boolean; previews?: boolean; bot_id?: number; customer_id?: number; channel?: "web" | "api" | "socialnet" | "photoapp" | "chatapp" | "localapp" | "telegram"; assignee_id?: number; tag?: string; language?: string; min_wait_seconds?: number; sentiment?: "positive" | "neutral" | "negative"; q?: string; created_from?: string; created_to?: string; sort?: "newest" | "longest_wait" | "priority"; }): Promise<types.ChatsResponse> {
    return this.call("GET", `/ai/chats`, { query });
  }
  /** Count the conversations in each built-in view of your inbox, without test conversations (previews). */
  getChatCounts(): Promise<types.ChatCounts> {
    return this.call("GET", `/ai/chats/counts`);
  }
  /** Get one conversation, with the same fields as in *Get Chats* and in webhook events. */
  getDeskChat(chat_id: number | string): Promise<types.Conversation> {
    return this.call("GET", `/ai/chat/${encodeURIComponent(chat_id)}`);
  }
  /** End a conversation: as an agent with an access token, or on the customer's behalf with an API key. */
  endChat(chat_id: number | string, idempotencyKey?: string): Promise<types.Conversation | types.VisitorConversation> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/end`, { idempotencyKey });
  }
  /** End a conversation as an agent; `ended_by` becomes `agent`. */
  agentEndChat(chat_id: number | string, idempotencyKey?: string): Promise<types.Conversation> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/agent-end`, { idempotencyKey });
  }
  /** Snooze a conversation until a given time; a message from the customer or an agent reopens it sooner. */
  snoozeChat(chat_id: number | string, body: types.ChatSnoozeDto, idempotencyKey?: string): Promise<types.Conversation> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/snooze`, { body, idempotencyKey });
  }
  /** Set how urgent a conversation is for your team: its `priority`. */
  setChatPriority(chat_id: number | string, body: types.ChatPriorityDto): Promise<types.Conversation> {
    return this.call("PUT", `/ai/chat/${encodeURIComponent(chat_id)}/priority`, { body });
  }
  /** Reopen a conversation. */
  reopenChat(chat_id: number | string, idempotencyKey?: string): Promise<types.Conversation> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/reopen`, { idempotencyKey });
  }
  /** Mark all messages of the customer as read: `unread_count` becomes 0. */
  markChatAsRead(chat_id: number | string, idempotencyKey?: string): Promise<types.Conversation> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/read`, { idempotencyKey });
  }
  /** List your notifications, newest first. */
  getAssignNotification(query?: { cursor?: string; limit?: number; unread?: boolean; personal?: boolean; }): Promise<types.NotificationsResponse> {
    return this.call("GET", `/ai/chat/notifications`, { query });
  }
  /** Mark all of your notifications as read. */
  markAllNotificationsAsRead(): Promise<types.ReadCount> {
    return this.call("PUT", `/ai/chat/notifications/read`);
  }
  /** Mark one of your notifications as read; the response is the notification. */
  markNotificationRead(notification_id: number | string): Promise<types.AssignNotification> {
    return this.call("PUT", `/ai/chat/notifications/${encodeURIComponent(notification_id)}/read`);
  }
  /** Get the key with which a browser subscribes to push notifications. */
  getPushKey(): Promise<types.PushKey> {
    return this.call("GET", `/ai/chat/push-key`);
  }
  /** List the browsers in which you get push notifications, newest first. */
  getPushSubscriptions(query?: { cursor?: string; limit?: number; }): Promise<types.PushSubscriptionsResponse> {
    return this.call("GET", `/ai/chat/push-subscriptions`, { query });
  }
  /** Subscribe this browser to push notifications about what you have not read within five seconds. */
  createPushSubscription(body: types.NewPushSubscription, idempotencyKey?: string): Promise<types.PushSubscription> {
    return this.call("POST", `/ai/chat/push-subscriptions`, { body, idempotencyKey });
  }
  /** Stop push notifications in one of your browsers. */
  deletePushSubscription(subscription_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/chat/push-subscriptions/${encodeURIComponent(subscription_id)}`);
  }
  /** List your saved views of the inbox and the views that colleagues share, sorted by name. */
  getInboxViews(): Promise<types.DeskViews> {
    return this.call("GET", `/ai/chat/views`);
  }
  /** Save a view of the inbox, or replace your view with the same name. */
  saveInboxView(body: types.DeskViewInput, idempotencyKey?: string): Promise<types.DeskView> {
    return this.call("POST", `/ai/chat/views`, { body, idempotencyKey });
  }
  /** Delete one of your saved views of the inbox; owners and admins can also delete a colleague's shared view. */
  deleteInboxView(view_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/chat/views/${encodeURIComponent(view_id)}`);
  }
  /** List your own and the shared saved replies, sorted by shortcut; with `q`, replies whose shortcut begins with it come first. */
  getSavedReplies(query?: { cursor?: string; limit?: number; is_shared?: boolean; q?: string; }): Promise<types.SavedRepliesResponse> {
    return this.call("GET", `/ai/chat/saved-replies`, { query });
  }
  /** Save a text that you send often: for yourself or, with `is_shared`, for the whole team. */
  createSavedReply(body: types.SavedReplyInput, idempotencyKey?: string): Promise<types.SavedReplyDto> {
    return this.call("POST", `/ai/chat/saved-replies`, { body, idempotencyKey });
  }
  /** Delete one of your own saved replies or, as an owner or an admin, a shared saved reply; otherwise 403 for a shared reply, and 404 for a colleague's own reply. */
  deleteSavedReply(saved_reply_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/chat/saved-replies/${encodeURIComponent(saved_reply_id)}`);
  }
  /** Change one of your own saved replies or, as an owner or an admin, a shared saved reply. */
  updateSavedReply(saved_reply_id: number | string, body: types.SavedReplyInput): Promise<types.SavedReplyDto> {
    return this.call("PUT", `/ai/chat/saved-replies/${encodeURIComponent(saved_reply_id)}`, { body });
  }
  /** Get a saved reply with its variables filled in for a conversation; nothing is sent. */
  renderSavedReply(chat_id: number | string, saved_reply_id: number | string, query?: { language?: string; }): Promise<types.RenderedReply> {
    return this.call("GET", `/ai/chat/${encodeURIComponent(chat_id)}/saved-replies/${encodeURIComponent(saved_reply_id)}`, { query });
  }
  /** Start a run that summarizes your company's conversations, or only the conversations that match the filters in the body. */
  startSummaryRun(body?: types.SummaryCalculateRequest, idempotencyKey?: string): Promise<types.SummaryJob> {
    return this.call("POST", `/ai/chat/summary/calculate`, { body, idempotencyKey });
  }
  /** Get a run that summarizes conversations, with its `status` and how many conversations are done. */
  getSummaryRun(job_id: number | string): Promise<types.SummaryJob> {
    return this.call("GET", `/ai/chat/summary/calculate/${encodeURIComponent(job_id)}`);
  }
  /** Get a conversation's summary. */
  summarizeChat(chat_id: number | string, idempotencyKey?: string): Promise<types.ChatSummary> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/summarize`, { idempotencyKey });
  }
  /** List your 1,000 most used tags, each with its number of conversations. */
  getClientTags(): Promise<types.ClientTags> {
    return this.call("GET", `/ai/tags`);
  }
  /** Add a tag to your list. */
  createClientTag(body: types.ClientTagRequest, idempotencyKey?: string): Promise<types.Tag> {
    return this.call("POST", `/ai/tags`, { body, idempotencyKey });
  }
  /** Delete a tag from your list, and in the background from all conversations; each conversation triggers the webhook event `tags.updated`. */
  deleteClientTag(tag_id: number | string): Promise<void> {
    return this.call("DELETE", `/ai/tags/${encodeURIComponent(tag_id)}`);
  }
  /** Rename a tag or change its colour; fields left out keep their value. */
  updateClientTag(tag_id: number | string, body: types.ClientTagRequest): Promise<types.Tag> {
    return this.call("PUT", `/ai/tags/${encodeURIComponent(tag_id)}`, { body });
  }
  /** Replace a tag with the tag `into`, which is returned, and delete it. */
  mergeClientTag(tag_id: number | string, body: types.TagMerge, idempotencyKey?: string): Promise<types.Tag> {
    return this.call("POST", `/ai/tags/${encodeURIComponent(tag_id)}/merge`, { body, idempotencyKey });
  }
  /** Add tags to a conversation; the response has all of its tags. */
  createTagsForChat(chat_id: number | string, body: types.TagsInput, idempotencyKey?: string): Promise<types.Tags> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/tags`, { body, idempotencyKey });
  }
  /** Replace all tags of a conversation, including those added by AI. */
  updateTagsForChat(chat_id: number | string, body: types.TagsInput): Promise<types.Tags> {
    return this.call("PUT", `/ai/chat/${encodeURIComponent(chat_id)}/tags`, { body });
  }
  /** Let AI add the tags that it is confident of; returns all tags of the conversation. */
  generateTags(chat_id: number | string, idempotencyKey?: string): Promise<types.Tags> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/tags/auto`, { idempotencyKey });
  }
  /** Get the tags that AI proposes for a conversation, best first; nothing is stored. */
  suggestTags(chat_id: number | string, idempotencyKey?: string): Promise<types.Tags> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/tags/auto-temp`, { idempotencyKey });
  }
  /** Judge the customer's sentiment in a conversation, and store it with the conversation and its messages. */
  analyzeSentiment(chat_id: number | string, idempotencyKey?: string): Promise<types.ChatSentiment> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/sentiment`, { idempotencyKey });
  }
  /** Rewrite a reply before you send it: shorter, friendlier, corrected or translated. */
  rewriteReply(chat_id: number | string, body: types.RewriteRequest, idempotencyKey?: string): Promise<types.RewrittenText> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/rewrite`, { body, idempotencyKey });
  }
  /** Rate a conversation in stars, or one answer in it in stars or by thumb. */
  createChatFeedBack(chat_id: number | string, body: types.ChatFeedBackInput, idempotencyKey?: string): Promise<types.ChatFeedBackDto> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/feedback`, { body, idempotencyKey });
  }
  /** List your customers' ratings, newest first. */
  getChatFeedbacks(query?: { cursor?: string; limit?: number; bot_id?: number; rating?: number; thumb?: "up" | "down"; reason?: "wrong_answer" | "not_understood" | "no_solution" | "too_slow" | "unfriendly" | "other"; chat_id?: string; customer_id?: number; created_from?: string; created_to?: string; }): Promise<types.FeedbacksResponse> {
    return this.call("GET", `/ai/chat/feedbacks`, { query });
  }
  /** Stream your company's events live, as server-sent events. */
  streamEvents(query?: { last_event_id?: string; ticket?: string; }): AsyncGenerator<ServerEvent> {
    return this.events("GET", `/ai/chat/events`, { query });
  }
  /** Create a one-time ticket for *Chat Events*: a browser's `EventSource`, which cannot send an access token, opens `GET /ai/chat/events?ticket=…`. */
  createEventsTicket(idempotencyKey?: string): Promise<types.FeedTicket> {
    return this.call("POST", `/ai/chat/events/ticket`, { idempotencyKey });
  }
  /** Show that you (with an access token) or the customer (with an API key) is typing, or has stopped; nothing is stored. */
  setTyping(chat_id: number | string, body: types.Typing, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/typing`, { body, idempotencyKey });
  }
  /** Show your colleagues that you are viewing a conversation; nothing is stored. */
  setViewing(chat_id: number | string, body: types.Viewing, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/ai/chat/${encodeURIComponent(chat_id)}/viewing`, { body, idempotencyKey });
  }
  /** Open a conversation, optionally with the customer's first message. */
  createChat(body: types.ChatCreation, idempotencyKey?: string): Promise<types.Conversation | types.VisitorConversation> {
    return this.call("POST", `/ai/client/chat`, { body, idempotencyKey });
  }
  /** Get a conversation; with a public key, as a `VisitorConversation` with a new `visitor_token`. */
  getChat(chat_id: number | string): Promise<types.Conversation | types.VisitorConversation> {
    return this.call("GET", `/ai/client/chat/${encodeURIComponent(chat_id)}`);
  }
  /** Store a customer's message, and wait for the reply, stream it, or get it later. */
  sendMessage(chat_id: number | string, body: types.ConvMessage, idempotencyKey?: string): Promise<types.ChatTurn | types.VisitorTurn> {
    return this.call("POST", `/ai/client/chat/${encodeURIComponent(chat_id)}`, { body, idempotencyKey });
  }
  /** Update the customer's data; fields left out keep their values. */
  updateChatCustomer(chat_id: number | string, body: types.ChatCustomer, idempotencyKey?: string): Promise<types.Conversation | types.VisitorConversation> {
    return this.call("POST", `/ai/client/chat/customer/${encodeURIComponent(chat_id)}`, { body, idempotencyKey });
  }
  /** Store a customer's message with files, and wait for the reply, stream it, or get it later. */
  sendFiles(chat_id: number | string, body: Record<string, unknown>, idempotencyKey?: string): Promise<types.ChatTurn | types.VisitorTurn> {
    return this.call("POST", `/ai/client/chat/files/${encodeURIComponent(chat_id)}/`, { body, kind: "files", idempotencyKey });
  }
  /** Send your own assistant's message to the customer, as the bot; `reply` is ignored. */
  sendAssistantMessage(chat_id: number | string, body: types.ConvMessage, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/ai/client/chat/assistant/${encodeURIComponent(chat_id)}`, { body, idempotencyKey });
  }
  /** Have the bot answer the customer's last message, for example one that was stored with `reply: none`; if the message already has a reply, the response is that reply. */
  generateReply(chat_id: number | string, idempotencyKey?: string): Promise<types.ChatTurn | types.VisitorTurn> {
    return this.call("POST", `/ai/client/chat/auto-response/${encodeURIComponent(chat_id)}`, { idempotencyKey });
  }
  /** Report messages of the bot and of agents as delivered to the customer: all messages up to the given `message_id` or `seq` or, with `{}`, all messages. */
  reportDelivered(chat_id: number | string, body: types.ArrivalReport, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/ai/client/chat/${encodeURIComponent(chat_id)}/delivered`, { body, idempotencyKey });
  }
  /** Report messages of the bot and of agents as read by the customer: all messages up to the given `message_id` or `seq` or, with `{}`, all messages. */
  reportRead(chat_id: number | string, body: types.ArrivalReport, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/ai/client/chat/${encodeURIComponent(chat_id)}/read`, { body, idempotencyKey });
  }
  /** Get the transcript for the customer: each message with its sender and time. */
  getTranscript(chat_id: number | string): Promise<types.Transcript> {
    return this.call("GET", `/ai/client/chat/${encodeURIComponent(chat_id)}/transcript`);
  }
  /** Download the transcript as plain text, named after the `chat_code`. */
  downloadTranscript(chat_id: number | string, query?: { timezone?: string; }): Promise<Blob> {
    return this.call("GET", `/ai/client/chat/${encodeURIComponent(chat_id)}/transcript.txt`, { query });
  }
  /** Email the transcript of a conversation to an address, as a text attachment. */
  mailTranscript(chat_id: number | string, body: types.TranscriptMail, idempotencyKey?: string): Promise<void> {
    return this.call("POST", `/ai/client/chat/${encodeURIComponent(chat_id)}/transcript/mail`, { body, idempotencyKey });
  }
  /** List the conversations of the key's bot, or of all bots if the key serves all. */
  listChats(query?: { cursor?: string; limit?: number; status?: "open" | "snoozed" | "ended"; assign_type?: types.AssignTypeEnum; priority?: "low" | "normal" | "high" | "urgent"; mine?: boolean; is_assigned?: boolean; is_unread?: boolean; is_waiting?: boolean; previews?: boolean; bot_id?: number; customer_id?: number; channel?: "web" | "api" | "socialnet" | "photoapp" | "chatapp" | "localapp" | "telegram"; assignee_id?: number; tag?: string; language?: string; min_wait_seconds?: number; sentiment?: "positive" | "neutral" | "negative"; q?: string; created_from?: string; created_to?: string; sort?: "newest" | "longest_wait" | "priority"; }): Promise<types.ConversationsResponse> {
    return this.call("GET", `/ai/client/chats`, { query });
  }
  /** Get the newest conversations, up to 10, of the customer with your `external_id`. */
  identifyVisitor(body: types.VisitorIdentity, idempotencyKey?: string): Promise<types.KnownVisitor> {
    return this.call("POST", `/ai/client/visitor`, { body, idempotencyKey });
  }
  /** List the messages of a conversation without internal notes, oldest first. */
  getChatMessages(chat_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.MessagesResponse | types.VisitorMessages> {
    return this.call("GET", `/ai/client/chat/history/${encodeURIComponent(chat_id)}`, { query });
  }
  /** Get a conversation with its customer and its messages, oldest first, without internal notes. */
  getChatMessagesWithCustomer(chat_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.ConversationHistory> {
    return this.call("GET", `/ai/client/chat/history-with-customer/${encodeURIComponent(chat_id)}`, { query });
  }
  /** List the messages of the conversation with this `chat_code`, oldest first, without internal notes. */
  getChatMessagesByCode(chat_code: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.MessagesResponse | types.VisitorMessages> {
    return this.call("GET", `/ai/client/chat/messages/${encodeURIComponent(chat_code)}`, { query });
  }
  /** Download a file of a message. */
  downloadAttachment(attachment_id: number | string, query?: { signature?: string; }): Promise<Blob> {
    return this.call("GET", `/ai/attachment/${encodeURIComponent(attachment_id)}`, { query });
  }
  /** List all messages of the key's conversations, oldest first, including internal notes. */
  migrateMessages(query?: { cursor?: string; limit?: number; }): Promise<types.MessageEntitiesResponse> {
    return this.call("GET", `/ai/client/migrate/messages`, { query });
  }
  /** List all conversations of the key, oldest first, without their messages. */
  migrateConversations(query?: { cursor?: string; limit?: number; }): Promise<types.ConversationEntitiesResponse> {
    return this.call("GET", `/ai/client/migrate/conversations`, { query });
  }
  /** Delete all documents of the key's bot, or of the bot `bot_id` if the key serves all bots: files, crawled pages, texts and answers. */
  deleteAllDocuments(query?: { bot_id?: number; }): Promise<types.DeletedCount> {
    return this.call("DELETE", `/ai/client/documents`, { query });
  }
  /** Suggest replies to the customer's open question, for an agent to choose from. */
  suggestRepliesByApiKey(chat_id: number | string, body?: types.SuggestionRequest, idempotencyKey?: string): Promise<types.ReplySuggestions> {
    return this.call("POST", `/ai/client/chat/suggestions/${encodeURIComponent(chat_id)}`, { body, idempotencyKey });
  }
  /** Translate a text with a language model, whose tokens are charged; 503 `engine_not_configured` without a language model. */
  translateText(body: types.TranslationRequest, idempotencyKey?: string): Promise<types.TranslationResponse> {
    return this.call("POST", `/client/translate`, { body, idempotencyKey });
  }
  /** Translate a text. */
  translateTextOld(body: types.TranslationRequest, idempotencyKey?: string): Promise<types.TranslationResponse> {
    return this.call("POST", `/ai/translate`, { body, idempotencyKey });
  }
  /** Summarize a text or messages. */
  summarizeText(body: types.SummarizeRequest, idempotencyKey?: string): Promise<types.SummarizeResponse> {
    return this.call("POST", `/client/summarize`, { body, idempotencyKey });
  }
  /** Get the platform's messages to customers: the platform's texts in every language, and your own texts. */
  getPlatformWords(client_id: number | string): Promise<types.PlatformWords> {
    return this.call("GET", `/config/${encodeURIComponent(client_id)}/words`);
  }
  /** Replace the platform's messages to customers with your own texts, language by language. */
  updatePlatformWords(client_id: number | string, body: types.PlatformWordsInput): Promise<types.PlatformWords> {
    return this.call("PUT", `/config/${encodeURIComponent(client_id)}/words`, { body });
  }
  /** List the conversations of the key's bot, or of all bots if the key serves all, the latest opened first. */
  listConversations(query?: { cursor?: string; limit?: number; group_id?: string; status?: "open" | "snoozed" | "ended"; tags?: Array<string>; requester_id?: string; created_from?: string; created_to?: string; }): Promise<types.ConversationResponses> {
    return this.call("GET", `/mesaging/conversations`, { query });
  }
  /** Open a conversation with the key's bot; agents and webhooks treat it like any other. */
  createConversation(body: types.ConversationRequest, idempotencyKey?: string): Promise<types.ConversationResponse> {
    return this.call("POST", `/mesaging/conversations`, { body, idempotencyKey });
  }
  /** Get a conversation from any channel, with its customer and its agent. */
  getConversation(conversation_id: number | string): Promise<types.ConversationResponse> {
    return this.call("GET", `/mesaging/conversations/${encodeURIComponent(conversation_id)}`);
  }
  /** List the messages of a conversation, including internal notes, oldest first. */
  listMessages(conversation_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.MessagingMessagesResponse> {
    return this.call("GET", `/mesaging/conversations/${encodeURIComponent(conversation_id)}/messages`, { query });
  }
  /** Store a message from any sender. */
  createMessage(conversation_id: number | string, body: types.MessageRequest, idempotencyKey?: string): Promise<types.MessageEntity> {
    return this.call("POST", `/mesaging/conversations/${encodeURIComponent(conversation_id)}/messages`, { body, idempotencyKey });
  }
  /** End a conversation; its `ended_by` becomes `api`. */
  endConversation(conversation_id: number | string): Promise<types.ConversationResponse> {
    return this.call("PUT", `/mesaging/conversations/${encodeURIComponent(conversation_id)}/end`);
  }
  /** Get the newest summary of a conversation; 404 if it has no summary yet. */
  getConversationSummary(conversation_id: number | string): Promise<types.ChatSummary> {
    return this.call("GET", `/mesaging/conversations/${encodeURIComponent(conversation_id)}/summary`);
  }
  /** Get a conversation's summary. */
  createConversationSummary(conversation_id: number | string, idempotencyKey?: string): Promise<types.ChatSummary> {
    return this.call("POST", `/mesaging/conversations/${encodeURIComponent(conversation_id)}/summary`, { idempotencyKey });
  }
  /** List the tags that AI has added to a conversation; tags that people added are left out. */
  getConversationAiTags(conversation_id: number | string): Promise<types.Tags> {
    return this.call("GET", `/mesaging/conversations/${encodeURIComponent(conversation_id)}/ai-tags`);
  }
  /** Let AI add the tags that it is confident of. */
  createConversationAiTags(conversation_id: number | string, idempotencyKey?: string): Promise<types.Tags> {
    return this.call("POST", `/mesaging/conversations/${encodeURIComponent(conversation_id)}/ai-tags`, { idempotencyKey });
  }
  /** List the messages of the bot's conversations on the channel in the path, newest first, without internal notes. */
  getSocialnetMessages(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; recipient_id?: string; }): Promise<types.MessagesResponse> {
    return this.call("GET", `/socialnet/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Send a message to a customer who has written to the bot's account. */
  sendSocialnetMessage(client_id: number | string, bot_id: number | string, body: types.ChannelMessageRequest, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/socialnet/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** List the accounts (on socialnet: pages) at the provider that you can connect to the bot. */
  listSocialnetPages(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.ChannelAccountsResponse> {
    return this.call("GET", `/socialnet/${encodeURIComponent(client_id)}/pages/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Store a person's access token for the channel in the path, with which you then list and connect accounts. */
  storeSocialnetToken(client_id: number | string, body: types.SocialnetAccessToken, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/socialnet/${encodeURIComponent(client_id)}/user-token`, { body, idempotencyKey });
  }
  /** Connect the page with this `page_id` to the bot; repeating the request is safe. */
  connectSocialnetPage(client_id: number | string, bot_id: number | string, body: types.MessengerConnectPageDto, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/socialnet/${encodeURIComponent(client_id)}/connect_page/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Begin the consent of a person to connect their accounts at the provider, or complete it with `code` and `state`. */
  connectSocialnet(client_id: number | string, bot_id: number | string, body: types.MessengerConnectDto, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/socialnet/${encodeURIComponent(client_id)}/connect/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Get the connection between the bot and its account on the channel in the path; its `status` is `disconnected` if the bot never had an account. */
  getSocialnetConnection(client_id: number | string, bot_id: number | string): Promise<types.ChannelConnection> {
    return this.call("GET", `/socialnet/${encodeURIComponent(client_id)}/connection/${encodeURIComponent(bot_id)}`);
  }
  /** Disconnect a page from the bot: the page's token is deleted, and its events are ignored from now on. */
  disconnectSocialnetPage(client_id: number | string, bot_id: number | string, body?: types.MessengerConnectPageDto): Promise<types.ChannelConnection> {
    return this.call("PUT", `/socialnet/${encodeURIComponent(client_id)}/disconnect_page/${encodeURIComponent(bot_id)}`, { body });
  }
  /** Reconnect a page that this bot had before, with the access token that your company has stored for this channel. */
  reconnectSocialnetPage(client_id: number | string, bot_id: number | string, body?: types.MessengerConnectPageDto): Promise<types.ChannelConnection> {
    return this.call("PUT", `/socialnet/${encodeURIComponent(client_id)}/reconnect_page/${encodeURIComponent(bot_id)}`, { body });
  }
  /** List the messages of the bot's conversations on the channel in the path, newest first, without internal notes. */
  getPhotoappMessages(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; recipient_id?: string; }): Promise<types.MessagesResponse> {
    return this.call("GET", `/photoapp/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Send a message to a customer who has written to the bot's account. */
  sendPhotoappMessage(client_id: number | string, bot_id: number | string, body: types.ChannelMessageRequest, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/photoapp/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** List the accounts (on socialnet: pages) at the provider that you can connect to the bot. */
  listPhotoappAccounts(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.ChannelAccountsResponse> {
    return this.call("GET", `/photoapp/${encodeURIComponent(client_id)}/accounts/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Store a person's access token for the channel in the path, with which you then list and connect accounts. */
  storePhotoappToken(client_id: number | string, body: types.SocialnetAccessToken, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/photoapp/${encodeURIComponent(client_id)}/user-token`, { body, idempotencyKey });
  }
  /** Connect the account with this `page_id` to the bot; repeating the request is safe. */
  connectPhotoappPage(client_id: number | string, bot_id: number | string, body: types.PhotoappConnectPageDto, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/photoapp/${encodeURIComponent(client_id)}/connect_page/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Begin the consent of a person to connect their accounts at the provider, or complete it with `code` and `state`. */
  connectPhotoapp(client_id: number | string, bot_id: number | string, body: types.PhotoappConnectDto, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/photoapp/${encodeURIComponent(client_id)}/connect/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** List the connections of your bots to photoapp accounts: the current or latest one of each bot. */
  listPhotoappConnections(client_id: number | string): Promise<Array<types.ChannelConnection>> {
    return this.call("GET", `/photoapp/${encodeURIComponent(client_id)}/connection`);
  }
  /** Disconnect the bot's account: the account's tokens are deleted, and its events are ignored from now on. */
  disconnectPhotoapp(client_id: number | string, bot_id: number | string): Promise<types.ChannelConnection> {
    return this.call("PUT", `/photoapp/${encodeURIComponent(client_id)}/disconnect/${encodeURIComponent(bot_id)}`);
  }
  /** Ask a person for their consent: send them to `consent_url`, where they choose the account. */
  connectLocalapp(client_id: number | string, bot_id: number | string, body: types.LocalappOAConnectDto, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/localapp/${encodeURIComponent(client_id)}/connect/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Disconnect the bot's account: the account's tokens are deleted, and its events are ignored from now on. */
  disconnectLocalapp(client_id: number | string, bot_id: number | string): Promise<types.ChannelConnection> {
    return this.call("PUT", `/localapp/${encodeURIComponent(client_id)}/disconnect_page/${encodeURIComponent(bot_id)}`);
  }
  /** Get the connection between the bot and its account on the channel in the path; its `status` is `disconnected` if the bot never had an account. */
  getLocalappConnection(client_id: number | string, bot_id: number | string): Promise<types.ChannelConnection> {
    return this.call("GET", `/localapp/${encodeURIComponent(client_id)}/connection/${encodeURIComponent(bot_id)}`);
  }
  /** List the messages of the bot's conversations on the channel in the path, newest first, without internal notes. */
  getLocalappMessages(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; recipient_id?: string; }): Promise<types.MessagesResponse> {
    return this.call("GET", `/localapp/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Send a message to a customer who has written to the bot's account. */
  sendLocalappMessage(client_id: number | string, bot_id: number | string, body: types.ChannelMessageRequest, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/localapp/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Store a person's access token for the channel in the path, with which you then list and connect accounts. */
  storeChatappToken(client_id: number | string, body: types.SocialnetAccessToken, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/chatapp/${encodeURIComponent(client_id)}/user-token`, { body, idempotencyKey });
  }
  /** List the accounts (on socialnet: pages) at the provider that you can connect to the bot. */
  listChatappAccounts(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.ChannelAccountsResponse> {
    return this.call("GET", `/chatapp/${encodeURIComponent(client_id)}/accounts/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Connect a phone number to the bot, with the code of the provider's sign-up dialog or with the access token that your company has stored for this channel. */
  connectChatapp(client_id: number | string, bot_id: number | string, body: types.ChatappConnectDto, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/chatapp/${encodeURIComponent(client_id)}/connect/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Disconnect the bot's account: the account's tokens are deleted, and its events are ignored from now on. */
  disconnectChatapp(client_id: number | string, bot_id: number | string): Promise<types.ChannelConnection> {
    return this.call("PUT", `/chatapp/${encodeURIComponent(client_id)}/disconnect/${encodeURIComponent(bot_id)}`);
  }
  /** Get the connection between the bot and its account on the channel in the path; its `status` is `disconnected` if the bot never had an account. */
  getChatappConnection(client_id: number | string, bot_id: number | string): Promise<types.ChannelConnection> {
    return this.call("GET", `/chatapp/${encodeURIComponent(client_id)}/connection/${encodeURIComponent(bot_id)}`);
  }
  /** List the messages of the bot's conversations on the channel in the path, newest first, without internal notes. */
  getChatappMessages(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; recipient_id?: string; }): Promise<types.MessagesResponse> {
    return this.call("GET", `/chatapp/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Send a message to a customer who has written to the bot's account. */
  sendChatappMessage(client_id: number | string, bot_id: number | string, body: types.ChannelMessageRequest, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/chatapp/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** List the message templates of the business account to which the bot's number belongs. */
  getChatappTemplates(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; }): Promise<types.ChatappTemplatesResponse> {
    return this.call("GET", `/chatapp/${encodeURIComponent(client_id)}/templates/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Send an approved message template to a customer, even after the reply window has closed. */
  sendChatappTemplate(client_id: number | string, bot_id: number | string, body: types.ChatappTemplateRequest, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/chatapp/${encodeURIComponent(client_id)}/templates/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Connect an account to the bot with the account's token. */
  connectTelegram(client_id: number | string, bot_id: number | string, body: types.TokenConnectDto, idempotencyKey?: string): Promise<types.ChannelConnection> {
    return this.call("POST", `/telegram/${encodeURIComponent(client_id)}/connect/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** Get the connection between the bot and its account on the channel in the path; its `status` is `disconnected` if the bot never had an account. */
  getTelegramConnection(client_id: number | string, bot_id: number | string): Promise<types.ChannelConnection> {
    return this.call("GET", `/telegram/${encodeURIComponent(client_id)}/connection/${encodeURIComponent(bot_id)}`);
  }
  /** Disconnect the bot's account: the account's tokens are deleted, and its events are ignored from now on. */
  disconnectTelegram(client_id: number | string, bot_id: number | string): Promise<types.ChannelConnection> {
    return this.call("PUT", `/telegram/${encodeURIComponent(client_id)}/disconnect/${encodeURIComponent(bot_id)}`);
  }
  /** List the messages of the bot's conversations on the channel in the path, newest first, without internal notes. */
  getTelegramMessages(client_id: number | string, bot_id: number | string, query?: { cursor?: string; limit?: number; recipient_id?: string; }): Promise<types.MessagesResponse> {
    return this.call("GET", `/telegram/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { query });
  }
  /** Send a message to a customer who has written to the bot's account. */
  sendTelegramMessage(client_id: number | string, bot_id: number | string, body: types.ChannelMessageRequest, idempotencyKey?: string): Promise<types.Message> {
    return this.call("POST", `/telegram/${encodeURIComponent(client_id)}/messages/${encodeURIComponent(bot_id)}`, { body, idempotencyKey });
  }
  /** List the values by which `POST /report/adhoc/search` and `POST /report/adhoc/export` can filter a period's conversations, and how often each occurs. */
  getReportFilters(query?: { date_from?: string; date_to?: string; timezone?: string; }): Promise<types.AdhocFilterOptions> {
    return this.call("GET", `/report/adhoc/filter-options`, { query });
  }
  /** Get a report on a period's conversations: a row of figures for each group or, without `group_by`, a row for each conversation; and the totals of all these conversations. */
  searchReport(body: types.SearchAdhocReportParam, idempotencyKey?: string): Promise<types.AdhocReport> {
    return this.call("POST", `/report/adhoc/search`, { body, idempotencyKey });
  }
  /** Export the table of `POST /report/adhoc/search` as a file: a row of column names, then the conversations or groups. */
  exportReport(body: types.ExportAdhocReportParam, idempotencyKey?: string): Promise<Blob> {
    return this.call("POST", `/report/adhoc/export`, { body, idempotencyKey });
  }
  /** Get a large export of a report: a 202 with the progress until the file is written, then a 200 with the file. */
  getReportExport(export_id: number | string, query?: { signature?: string; }): Promise<Blob> {
    return this.call("GET", `/report/adhoc/export/${encodeURIComponent(export_id)}`, { query });
  }
  /** Get your company's figures for a period of at most 366 days, and for the period before. */
  getOverview(query?: { date_from?: string; date_to?: string; timezone?: string; }): Promise<types.ChatOverview> {
    return this.call("GET", `/report/chat-overview`, { query });
  }
  /** Get the figures of a bot for a period of at most 366 days, and for the period before. */
  getBotOverview(bot_id: number | string, query?: { date_from?: string; date_to?: string; timezone?: string; }): Promise<types.ChatOverview> {
    return this.call("GET", `/report/chat-overview/${encodeURIComponent(bot_id)}`, { query });
  }
  /** List the warnings about your company: what needs attention now or soon, and what to do about it. */
  getWarnings(): Promise<types.WarningDashboard> {
    return this.call("GET", `/report/warning-dashboard`);
  }
  /** Mute or unmute a warning for your company. */
  muteWarning(body: types.MuteWarningDto): Promise<types.WarningDashboard> {
    return this.call("PUT", `/report/warning-dashboard/mute`, { body });
  }
  /** Respond to a message of an MCP client (Model Context Protocol); a notification gets a 202 without a body. */
  callMcp(body: types.McpRequest, idempotencyKey?: string): Promise<types.McpResult | types.McpFault> {
    return this.call("POST", `/mcp`, { body, idempotencyKey });
  }
}
