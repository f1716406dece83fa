/** The schemas of the API. Made by `make clients` from the API's document; changes belong there. */

export type AddAnswerRequest = { "answer": string; "question"?: string | null; };

export type AdhocExport = { "id": string; "status": "queued" | "running" | "done"; "progress": number; "rows": number; "url": string; "expires_at": string; };

export type AdhocFilterOptions = { "bots": Array<NumberedOption>; "channels": Array<FilterOption>; "statuses": Array<FilterOption>; "assignees": Array<NumberedOption>; "tags": Array<FilterOption>; "sentiments": Array<FilterOption>; "languages": Array<FilterOption>; "ended_by": Array<FilterOption>; "countries": Array<FilterOption>; };

export type AdhocReport = { "columns": Array<ReportColumn>; "rows": Array<Record<string, string | number | boolean | Array<string> | null>>; "totals": Record<string, string | number | boolean | Array<string> | null>; "next_cursor": string | null; };

export type AgentFigures = { "chats": number; "messages": number; "bot_resolved": number; "handed_off": number; "rating_mean": number | null; "agent_id": number | null; "name": string | null; };

export type Alive = { "status": "ok"; };

export type ApiKeyDto = { "id": number; "name": string; "scope": "secret" | "public"; "bot_id": number | null; "prefix": string; "created_at": string; "last_used_at": string | null; "expires_at": string | null; "revoked_at": string | null; "requests_per_minute": number | null; "daily_credits": number | null; "mcp_write": boolean; "key": string | null; };

export type ApiKeyInput = { "id"?: number; "name"?: string; "scope"?: "secret" | "public"; "bot_id"?: number | null; "prefix"?: string; "created_at"?: string; "last_used_at"?: string | null; "expires_at"?: string | null; "revoked_at"?: string | null; "requests_per_minute"?: number | null; "daily_credits"?: number | null; "mcp_write"?: boolean; "key"?: string | null; };

export type ApiKeyRequest = { "name": string; "scope"?: "secret" | "public"; "bot_id"?: number | null; "expires_at"?: string | null; "requests_per_minute"?: number | null; "daily_credits"?: number | null; "mcp_write"?: boolean; };

export type ApiKeysResponse = { "items": Array<ApiKeyDto>; "next_cursor": string | null; };

export type ArrivalReport = { "seq"?: number | null; "message_id"?: string | null; };

export type AskedQuestion = { "message_id": string; "chat_id": string; "chat_code": string; "text": string; "asked_at": string; };

export type AskedQuestionsResponse = { "items": Array<AskedQuestion>; "next_cursor": string | null; };

export type AssignNotification = { "id": string; "chat_id": string; "message_id": string | null; "kind": "assigned" | "unassigned" | "handoff" | "unanswered" | "mentioned"; "assigned_by": Identity | null; "is_read": boolean; "created_at": string; };

export type AssignTypeEnum = "bot" | "queue" | "agent";

export type AuditEvent = { "id": number; "action": string; "subject": string; "changes": Record<string, unknown>; "user_id": number | null; "api_key_id": number | null; "address": string; "request_id": string; "created_at": string; "hash": string | null; };

export type AuditEventsResponse = { "items": Array<AuditEvent>; "next_cursor": string | null; };

export type BannerUploadResponseDto = { "url": string; "mime_type": string; "width": number; "height": number; "size_bytes": number; };

export type Body_generate_client_chat_with_files_by_chat_id_ai_client_chat_files__chat_id___post = { "files": Array<Blob>; "client_message_id"?: string | null; "message"?: string; "reply"?: "wait" | "async" | "stream" | "none"; };

export type Body_login_for_access_token2_identity_token2_post = { "grant_type"?: string; "username"?: string | null; "password"?: string | null; "otp"?: string | null; "refresh_token"?: string | null; "scope"?: string | null; "client_id"?: string | null; "client_secret"?: string | null; };

export type Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post = { "valid_from"?: string | null; "valid_to"?: string | null; "file": Blob; "link"?: string; "alt"?: string; };

export type Body_upload_files_ai__bot_id__train_document_post = { "files": Array<Blob>; };

export type BotBannerDto = { "valid_from": string | null; "valid_to": string | null; "bot_id": number; "url": string | null; "link": string | null; "alt": string | null; };

export type BotBannerInput = { "valid_from"?: string | null; "valid_to"?: string | null; "bot_id"?: number; "url"?: string | null; "link"?: string | null; "alt"?: string | null; };

export type BotConfigDto = { "id": number; "bot_name": string; "bot_icon": string | null; "primary_color": string; "secondary_color": string; "style": BotStyle; "language": string; "default_language": string; "languages": Array<string>; "welcome_message": string | null; "terms": string | null; "bot_question": string | null; "engaging_message": string | null; "engaging_seconds": number; "engaging_pages": string; "engaging_visitors": "all" | "new" | "returning"; "is_open": boolean; "opens_at": string | null; "timezone": string; "business_hours": Array<BusinessHours>; "holidays": Array<Holiday>; "out_of_hours_message": string | null; "person_button": string | null; "agents_online": number; "usual_wait_minutes": number | null; "answers_by_mail": boolean; "banner": BotBannerDto | null; "sample_questions": Array<SampleQuestionDto>; "attach_enabled": boolean; "upload_limits": UploadLimits; "export_enabled": boolean; "auto_pop_up": boolean; "is_fullscreen": boolean; "is_visible": boolean; "customer_info_fields": Array<ConfigField>; };

export type BotDto = { "id": number; "api_key": string | null; "bot_name": string; "description": string; "bot_icon": string | null; "primary_color": string; "secondary_color": string; "allowed_domain": string; "languages": Array<string>; "default_language": string; "style": BotStyle; "welcome_message": Record<string, unknown>; "terms": Record<string, unknown>; "terms_default": string; "bot_question": string; "engaging_message": Record<string, unknown>; "engaging_message_default": string; "engaging_seconds": number; "engaging_pages": string; "engaging_visitors": "all" | "new" | "returning"; "attach_enabled": boolean; "export_enabled": boolean; "mail_answers": boolean; "auto_pop_up": boolean; "is_fullscreen": boolean; "is_visible": boolean; "allow_preview": boolean; "hold_back_worse": boolean; "agent_reply": boolean; "delete_available": boolean; "business_hours": Array<BusinessHours> | null; "holidays": Array<Holiday> | null; "chatbot_setup": boolean | null; "prompt_setup": boolean | null; "file_setup": boolean | null; "url_setup": boolean | null; "client_id": number; "has_model": boolean; "is_disabled": boolean; "created_at": string; "updated_at": string; };

export type BotFigures = { "chats": number; "messages": number; "bot_resolved": number; "handed_off": number; "rating_mean": number | null; "bot_id": number; "name": string; };

export type BotIdentitySecret = { "secret": string; };

export type BotInput = { "id"?: number; "api_key"?: string | null; "bot_name"?: string; "description"?: string; "bot_icon"?: string | null; "primary_color"?: string; "secondary_color"?: string; "allowed_domain"?: string; "languages"?: Array<string>; "default_language"?: string; "style"?: BotStyleInput; "welcome_message"?: string | Record<string, unknown>; "terms"?: Record<string, unknown>; "terms_default"?: string; "bot_question"?: string; "engaging_message"?: Record<string, unknown>; "engaging_message_default"?: string; "engaging_seconds"?: number; "engaging_pages"?: string; "engaging_visitors"?: "all" | "new" | "returning"; "attach_enabled"?: boolean; "export_enabled"?: boolean; "mail_answers"?: boolean; "auto_pop_up"?: boolean; "is_fullscreen"?: boolean; "is_visible"?: boolean; "allow_preview"?: boolean; "hold_back_worse"?: boolean; "agent_reply"?: boolean; "delete_available"?: boolean; "business_hours"?: Array<BusinessHoursInput> | null; "holidays"?: Array<HolidayInput> | null; "chatbot_setup"?: boolean | null; "prompt_setup"?: boolean | null; "file_setup"?: boolean | null; "url_setup"?: boolean | null; "client_id"?: number; "has_model"?: boolean; "is_disabled"?: boolean; "created_at"?: string; "updated_at"?: string; };

export type BotLanguage = { "code": string; "name": string; "native_name": string; "is_default": boolean; };

export type BotLanguageConfigDto = { "default_language": string; "languages": Array<BotLanguage>; };

export type BotLanguageConfigInput = { "default_language": string; "languages": Array<BotLanguageInput>; };

export type BotLanguageInput = { "code": string; "name"?: string; "native_name"?: string; "is_default"?: boolean; };

export type BotStyle = { "position": "bottom-right" | "bottom-left" | "top-right" | "top-left"; "width": number; "height": number; "font": string; "radius": number; "dark_mode": boolean | "system"; };

export type BotStyleInput = { "position"?: "bottom-right" | "bottom-left" | "top-right" | "top-left"; "width"?: number; "height"?: number; "font"?: string; "radius"?: number; "dark_mode"?: boolean | "system"; };

export type BotsResponse = { "items": Array<BotDto>; "next_cursor": string | null; };

export type BusinessHours = { "opens": string; "closes": string; "weekday": number; };

export type BusinessHoursInput = { "opens": string; "closes": string; "weekday": number; };

export type ChannelAccount = { "id": string; "name": string; "picture_url": string | null; "is_connected": boolean; "bot_id": number | null; };

export type ChannelAccountsResponse = { "items": Array<ChannelAccount>; "next_cursor": string | null; };

export type ChannelConnection = { "id": string | null; "channel": "socialnet" | "photoapp" | "chatapp" | "localapp" | "telegram"; "bot_id": number | null; "status": "pending" | "connected" | "disconnected" | "expired" | "error"; "consent_url": string | null; "account_id": string | null; "account_name": string | null; "connected_by": Identity | null; "connected_at": string | null; "token_expires_at": string | null; "last_event_at": string | null; "last_error": string | null; "missing_permissions": Array<string>; "quality": string | null; "sending_limit": string | null; "notices": Array<ChannelNotice>; };

export type ChannelFigures = { "chats": number; "messages": number; "bot_resolved": number; "handed_off": number; "rating_mean": number | null; "channel": string; };

export type ChannelMessageRequest = { "conversation_id"?: string | null; "recipient_id"?: string | null; "text"?: string | null; "content"?: Array<MessageContentInput>; "tag"?: string | null; "client_message_id"?: string | null; };

export type ChannelNotice = { "id": string; "kind": "template_status" | "template_quality" | "template_category" | "quality" | "sending_limit" | "name" | "review" | "alert"; "template": string; "language": string; "value": string; "previous": string; "reason": string; "is_bad": boolean; "at": string; };

export type ChatAssignDto = { "assign_type": AssignTypeEnum; "user_id"?: number | null; "note"?: string | null; "return_after_seconds"?: number | null; "expected_version"?: number | null; };

export type ChatCounts = { "mine": number; "unassigned": number; "all": number; "snoozed": number; "ended": number; "unread": number; "mine_unread": number; };

export type ChatCreation = { "bot_id"?: number | null; "customer"?: CustomerInfo; "identity_signature"?: string | null; "language"?: string | null; "message"?: string | null; "channel"?: "web" | "api"; "location"?: LocationInput | null; "tags"?: Array<string>; "metadata"?: Record<string, unknown>; };

export type ChatCustomer = { "external_id"?: string | null; "name"?: string | null; "email"?: string | null; "phone"?: string | null; "avatar_url"?: string | null; "attributes"?: Record<string, unknown>; "identity_signature"?: string | null; };

export type ChatFeedBackDto = { "rating": number | null; "thumb": "up" | "down" | null; "reason": "wrong_answer" | "not_understood" | "no_solution" | "too_slow" | "unfriendly" | "other" | null; "resolved": boolean | null; "comment": string | null; "message_id": string | null; "id": number; "chat_id": string; "created_at": string; "updated_at": string | null; };

export type ChatFeedBackInput = { "rating"?: number | null; "thumb"?: "up" | "down" | null; "reason"?: "wrong_answer" | "not_understood" | "no_solution" | "too_slow" | "unfriendly" | "other" | null; "resolved"?: boolean | null; "comment"?: string | null; "message_id"?: string | null; "id"?: number; "chat_id"?: string; "created_at"?: string; "updated_at"?: string | null; };

export type ChatGptMessage = { "role": "system" | "user" | "assistant" | "tool"; "content": string; };

export type ChatOverview = { "current": Figures; "previous": Figures; "series": Array<DayFigures>; "by_hour": Array<HourFigures>; "by_channel": Array<ChannelFigures>; "by_bot": Array<BotFigures>; "by_agent": Array<AgentFigures>; "by_tag": Array<TagFigures>; "by_language": Array<LanguageFigures>; "by_handoff_reason": Array<HandoverFigures>; };

export type ChatPriorityDto = { "priority": "low" | "normal" | "high" | "urgent"; };

export type ChatSentiment = { "chat_id": string; "sentiment": "positive" | "neutral" | "negative"; "score": number; "engine": string; "created_at": string; };

export type ChatSnoozeDto = { "until": string; };

export type ChatStep = { "id": string; "type": string; "created_at": string; "by": Identity | null; "assignee": Identity | null; "assign_type": AssignTypeEnum; "priority": "low" | "normal" | "high" | "urgent"; "reason": string | null; "snoozed_until": string | null; "ended_by": "customer" | "agent" | "bot" | "inactivity" | "api" | "merged" | null; };

export type ChatSteps = { "items": Array<ChatStep>; };

export type ChatSummary = { "chat_id": string; "summary": string; "language": string; "key_points": Array<string>; "customer_intent": string; "resolution": string; "message_count": number; "engine": string; "created_at": string; };

export type ChatTurn = { "message": Message; "reply": Message | null; "status": "answered" | "asked_again" | "pending" | "handed_off" | "not_expected"; "handoff_reason": string | null; };

export type ChatappCall = { "id": string; "from"?: string | null; "from_user_id"?: string | null; "event"?: string | null; "direction"?: string | null; "status"?: string | null; "duration"?: number | null; "timestamp"?: number | null; };

export type ChatappChange = { "field"?: string | null; "value"?: ChatappChangeValue | null; };

export type ChatappChangeValue = { "messaging_product"?: string | null; "metadata"?: ChatappMetadata | null; "contacts"?: Array<ChatappContact>; "messages"?: Array<ChatappMessage>; "statuses"?: Array<ChatappStatus>; "message_echoes"?: Array<ChatappMessage>; "calls"?: Array<ChatappCall>; "user_preferences"?: Array<ChatappPreference>; };

export type ChatappConnectDto = { "code"?: string | null; "business_account_id"?: string | null; "phone": ChatappConnectPhoneDto; };

export type ChatappConnectPhoneDto = { "phone_number_id": string; "pin"?: string | null; };

export type ChatappContact = { "profile"?: ChatappProfile | null; "wa_id"?: string | null; "user_id"?: string | null; };

export type ChatappContext = { "id"?: string | null; "forwarded"?: boolean | null; "frequently_forwarded"?: boolean | null; "referred_product"?: Record<string, unknown> | null; };

export type ChatappEntry = { "id"?: string | null; "time"?: number | null; "changes"?: Array<ChatappChange>; };

export type ChatappLocation = { "latitude"?: number | null; "longitude"?: number | null; "name"?: string | null; "address"?: string | null; };

export type ChatappMedia = { "id"?: string | null; "mime_type"?: string | null; "caption"?: string | null; "filename"?: string | null; "voice"?: boolean | null; };

export type ChatappMessage = { "from"?: string | null; "from_user_id"?: string | null; "to"?: string | null; "to_user_id"?: string | null; "id"?: string | null; "timestamp"?: string | null; "type"?: string; "text"?: ChatappText | null; "image"?: ChatappMedia | null; "video"?: ChatappMedia | null; "audio"?: ChatappMedia | null; "document"?: ChatappMedia | null; "sticker"?: ChatappMedia | null; "location"?: ChatappLocation | null; "contacts"?: Array<Record<string, unknown>> | null; "interactive"?: Record<string, unknown> | null; "button"?: Record<string, unknown> | null; "reaction"?: ChatappReaction | null; "edit"?: ChatappTarget | null; "revoke"?: ChatappTarget | null; "order"?: Record<string, unknown> | null; "system"?: Record<string, unknown> | null; "context"?: ChatappContext | null; "referral"?: Record<string, unknown> | null; "group_id"?: string | null; "unsupported"?: Record<string, unknown> | null; };

export type ChatappMetadata = { "display_phone_number"?: string | null; "phone_number_id"?: string | null; };

export type ChatappPreference = { "wa_id"?: string | null; "user_id"?: string | null; "value"?: string | null; "timestamp"?: number | null; };

export type ChatappProfile = { "name"?: string | null; "username"?: string | null; };

export type ChatappReaction = { "message_id": string; "emoji"?: string | null; };

export type ChatappStatus = { "id": string; "status": string; "timestamp"?: number | null; "recipient_id"?: string | null; "recipient_user_id"?: string | null; "biz_opaque_callback_data"?: string | null; "errors"?: Array<Record<string, unknown>> | null; "pricing"?: Record<string, unknown> | null; };

export type ChatappTarget = { "original_message_id": string; "message"?: Record<string, unknown> | null; };

export type ChatappTemplate = { "name": string; "language": string; "status": string; "category": string; "quality": string | null; "text": string; "variables": Array<string>; "header_file": "image" | "video" | "file" | null; "problem": string | null; };

export type ChatappTemplateRequest = { "conversation_id"?: string | null; "recipient_id"?: string | null; "consent"?: string | null; "name": string; "language": string; "values"?: Array<string>; "header"?: MessageContentInput | null; "client_message_id"?: string | null; };

export type ChatappTemplatesResponse = { "items": Array<ChatappTemplate>; "next_cursor": string | null; };

export type ChatappText = { "body"?: string | null; };

export type ChatappWebhook = { "object"?: string | null; "entry"?: Array<ChatappEntry>; };

export type ChatsResponse = { "items": Array<ListedConversation>; "next_cursor": string | null; };

export type Citation = { "document_id": number; "title": string; "url"?: string | null; "page"?: number | null; "quote": string; "section"?: string | null; "number"?: number | null; };

export type CitationInput = { "document_id": number; "title": string; "url"?: string | null; "page"?: number | null; "quote": string; "section"?: string | null; "number"?: number | null; };

export type ClientConfigDto = { "client_id": number; "timezone": string; "business_hours": Array<BusinessHours>; "holidays": Array<Holiday>; "out_of_hours_message": Record<string, unknown>; "assign_strategy": "manual" | "round_robin" | "least_busy"; "agent_capacity": number; "handoff_on_request": boolean; "handoff_on_no_answer": boolean; "ask_again_before_handoff": boolean | null; "answer_while_waiting": boolean; "handoff_message": Record<string, unknown>; "answer_threshold": number; "fallback_to_extractive": boolean; "confirm_answers": boolean; "read_attachments": boolean; "burst_wait_ms": number; "inactivity_end_minutes": number; "reopen_window_minutes": number; "reuse_open": boolean; "ask_feedback": boolean; "feedback_edit_minutes": number; "first_response_target_seconds": number; "auto_summary": boolean; "auto_tag": boolean; "auto_sentiment": boolean; "auto_translate": boolean; "mask_personal_data": boolean; "silent_channels": Array<"socialnet" | "photoapp" | "chatapp" | "localapp" | "telegram">; "message_prices": Record<string, unknown>; "retention_days": number | null; "version": number | null; };

export type ClientConfigInput = { "client_id"?: number; "timezone"?: string; "business_hours"?: Array<BusinessHoursInput>; "holidays"?: Array<HolidayInput>; "out_of_hours_message"?: Record<string, unknown>; "assign_strategy"?: "manual" | "round_robin" | "least_busy"; "agent_capacity"?: number; "handoff_on_request"?: boolean; "handoff_on_no_answer"?: boolean; "ask_again_before_handoff"?: boolean | null; "answer_while_waiting"?: boolean; "handoff_message"?: Record<string, unknown>; "answer_threshold"?: number; "fallback_to_extractive"?: boolean; "confirm_answers"?: boolean; "read_attachments"?: boolean; "burst_wait_ms"?: number; "inactivity_end_minutes"?: number; "reopen_window_minutes"?: number; "reuse_open"?: boolean; "ask_feedback"?: boolean; "feedback_edit_minutes"?: number; "first_response_target_seconds"?: number; "auto_summary"?: boolean; "auto_tag"?: boolean; "auto_sentiment"?: boolean; "auto_translate"?: boolean; "mask_personal_data"?: boolean; "silent_channels"?: Array<"socialnet" | "photoapp" | "chatapp" | "localapp" | "telegram">; "message_prices"?: Record<string, unknown>; "retention_days"?: number | null; "version"?: number | null; };

export type ClientDto = { "id": number; "name": string; "code": string; "default_language": string; "timezone": string; "is_disabled": boolean; "subscription": SubscriptionDto; "created_at": string; };

export type ClientTagRequest = { "name"?: string | null; "colour"?: string | null; "id"?: number; "source"?: string | null; "confidence"?: number | null; "count"?: number; };

export type ClientTags = { "tags": Array<Tag>; };

export type ConfigField = { "name": string; "label": string; "type": "text" | "email" | "phone" | "number" | "date" | "select"; "required": boolean; "options": Array<Option>; "ask_before_chat": boolean; "ask_before_person": boolean; };

export type ConfirmRegistrationRequest = { "token": string; "password": string; };

export type ConvMessage = { "text": string; "client_message_id"?: string | null; "attachments"?: Array<MessageContentInput>; "language"?: string | null; "reply"?: "wait" | "async" | "stream" | "none"; };

export type Conversation = { "id": string; "chat_code": string; "bot_id": number; "channel": "web" | "api" | "socialnet" | "photoapp" | "chatapp" | "localapp" | "telegram"; "status": "open" | "snoozed" | "ended"; "assign_type": AssignTypeEnum; "assignee": Identity | null; "priority": "low" | "normal" | "high" | "urgent"; "version": number; "customer_id": number; "customer": ConversationCustomer; "is_preview": boolean; "waiting_since": string | null; "snoozed_until": string | null; "handoff_reason": string | null; "previous_chat_id": string | null; "language": string; "tags": Array<string>; "sentiment": "positive" | "neutral" | "negative" | null; "summary": string | null; "unread_count": number; "message_count": number; "last_message": Message | null; "last_message_at": string | null; "first_response_at": string | null; "ended_at": string | null; "ended_by": "customer" | "agent" | "bot" | "inactivity" | "api" | "merged" | null; "can_reply": boolean; "is_reachable": boolean; "reply_window_expires_at": string | null; "location": Location | null; "metadata": Record<string, unknown>; "created_at": string; };

export type ConversationCustomer = { "external_id": string | null; "name": string | null; "email": string | null; "phone": string | null; "avatar_url": string | null; "attributes": Record<string, unknown>; "provider_user_id": string | null; };

export type ConversationEntitiesResponse = { "items": Array<ConversationEntity>; "next_cursor": string | null; "resume_cursor": string | null; };

export type ConversationEntity = { "id": string; "chat_code": string; "bot_id": number; "channel": "web" | "api" | "socialnet" | "photoapp" | "chatapp" | "localapp" | "telegram"; "status": "open" | "snoozed" | "ended"; "assign_type": AssignTypeEnum; "assignee": Identity | null; "priority": "low" | "normal" | "high" | "urgent"; "version": number; "customer_id": number; "customer": ConversationCustomer; "is_preview": boolean; "waiting_since": string | null; "snoozed_until": string | null; "handoff_reason": string | null; "previous_chat_id": string | null; "language": string; "tags": Array<string>; "sentiment": "positive" | "neutral" | "negative" | null; "summary": string | null; "unread_count": number; "message_count": number; "last_message": Message | null; "last_message_at": string | null; "first_response_at": string | null; "ended_at": string | null; "ended_by": "customer" | "agent" | "bot" | "inactivity" | "api" | "merged" | null; "can_reply": boolean; "is_reachable": boolean; "reply_window_expires_at": string | null; "location": Location | null; "metadata": Record<string, unknown>; "created_at": string; "assignee_email": string | null; "provider": string; "group_id": string; "requester": Identity | null; "responsible": Identity | null; "external_id": string | null; "handed_off_at": string | null; "assigned_at": string | null; "return_at": string | null; "last_seq": number; "read_from_seq": number; "sentiment_score": number | null; "taggings": Array<PortableTag>; "feedback": PortableFeedback | null; "summaries": Array<PortableSummary>; };

export type ConversationHistory = { "conversation": Conversation; "customer": ConversationCustomer; "items": Array<Message>; "next_cursor": string | null; };

export type ConversationRequest = { "requester": IdentityInput; "responsible"?: IdentityInput | null; "provider"?: string; "location"?: LocationInput | null; "tags"?: Array<string>; "group_id"?: string | null; };

export type ConversationResponse = { "id": string; "requester": Identity; "responsible": Responsible | null; "provider": string; "location": Location | null; "tags": Array<string>; "group_id": string | null; "status": "open" | "snoozed" | "ended"; "created_at": string; };

export type ConversationResponses = { "items": Array<ConversationResponse>; "next_cursor": string | null; };

export type ConversationsResponse = { "items": Array<Conversation>; "next_cursor": string | null; };

export type CreditOrder = { "id": string; "amount": number; "reference": string; "status": "pending" | "paid" | "refused"; "created_at": string; };

export type CreditOrdersResponse = { "items": Array<CreditOrder>; "next_cursor": string | null; };

export type CreditPayment = { "order_id": string; "amount": number; "reference": string; "status": "paid" | "refused"; };

export type CurrentReply = { "text": string; "is_answered": boolean; "decision": string; "sources": Array<string>; "handoff_reason": string | null; "engine": string | null; "confidence": number | null; };

export type CustomerDto = { "external_id": string | null; "name": string | null; "email": string | null; "phone": string | null; "avatar_url": string | null; "attributes": Record<string, unknown>; "id": number; "blocked_until": string | null; "block_reason": string | null; "opt_out": "none" | "offers" | "all"; "created_at": string; };

export type CustomerErasure = { "id": string; "customer_id": number; "status": "queued" | "running" | "done" | "failed"; "chats_total": number; "chats_erased": number; "created_at": string; "finished_at": string | null; };

export type CustomerInfo = { "external_id"?: string | null; "name"?: string | null; "email"?: string | null; "phone"?: string | null; "avatar_url"?: string | null; "attributes"?: Record<string, unknown>; };

export type CustomerInfoField = { "name": string; "label": Record<string, unknown>; "type": "text" | "email" | "phone" | "number" | "date" | "select"; "required": boolean; "question": Record<string, unknown>; "options": Array<Option>; "ask_before_chat": boolean; "ask_before_person": boolean; };

export type CustomerInfoFieldInput = { "name": string; "label": Record<string, unknown>; "type": "text" | "email" | "phone" | "number" | "date" | "select"; "required"?: boolean; "question"?: Record<string, unknown>; "options"?: Array<OptionInput>; "ask_before_chat"?: boolean; "ask_before_person"?: boolean; };

export type CustomerInfoFields = { "fields": Array<CustomerInfoField>; };

export type CustomerInfoFieldsInput = { "fields": Array<CustomerInfoFieldInput>; };

export type CustomerInput = { "external_id"?: string | null; "name"?: string | null; "email"?: string | null; "phone"?: string | null; "avatar_url"?: string | null; "attributes"?: Record<string, unknown>; "id"?: number; "blocked_until"?: string | null; "block_reason"?: string | null; "opt_out"?: "none" | "offers" | "all"; "created_at"?: string; };

export type CustomersResponse = { "items": Array<CustomerDto>; "next_cursor": string | null; };

export type DayFigures = { "chats": number; "messages": number; "bot_resolved": number; "handed_off": number; "rating_mean": number | null; "day": string; };

export type DayHours = { "opens": string; "closes": string; };

export type DayHoursInput = { "opens": string; "closes": string; };

export type DeletedCount = { "deleted": number; };

export type DeskView = { "name": string; "query": string; "is_shared": boolean; "id": number; "may_delete": boolean; };

export type DeskViewInput = { "name": string; "query": string; "is_shared"?: boolean; "id"?: number; "may_delete"?: boolean; };

export type DeskViews = { "items": Array<DeskView>; };

export type DocumentDto = { "id": number; "source": "file" | "web_page" | "text" | "question_answer"; "url": string | null; "file_name": string; "title": string | null; "mime_type": string; "size_bytes": number; "status": DocumentStatus; "stage": DocumentStage; "is_answering": boolean; "progress": number; "error": DocumentError | null; "warning": string | null; "chunk_count": number; "is_important": boolean; "is_held": boolean; "held_change": HeldChange | null; "valid_from": string | null; "valid_to": string | null; "language": string | null; "sha256": string; "created_at": string; "started_at": string | null; "trained_at": string | null; };

export type DocumentError = { "code": string; "message": string; };

export type DocumentStage = "waiting" | "reading" | "passages" | "sentences" | "complete";

export type DocumentStatus = "queued" | "training" | "trained" | "failed";

export type DocumentsResponse = { "items": Array<DocumentDto>; "next_cursor": string | null; "refused": Array<RefusedFile>; };

export type EmailNotificationInput = { "recipients"?: Array<string>; "on_assigned"?: boolean; "on_unanswered"?: boolean; "on_handoff"?: boolean; "on_channel_error"?: boolean; "on_low_credit"?: boolean; "to_assignee"?: boolean; "unanswered_after_minutes"?: number; };

export type EmailNotificationRequest = { "recipients": Array<string>; "on_assigned": boolean; "on_unanswered": boolean; "on_handoff": boolean; "on_channel_error": boolean; "on_low_credit": boolean; "to_assignee": boolean; "unanswered_after_minutes": number; };

export type Entry = { "id"?: string | null; "time"?: number | null; "messaging"?: Array<Messaging>; };

export type Error = { "detail": string; "code": "account_taken" | "agent_gone" | "agent_has_chat" | "already_answered" | "already_assigned" | "already_decided" | "already_joined" | "attachments_off" | "bad_request" | "bad_signature" | "bot_disabled" | "bot_has_account" | "bot_has_chats" | "bot_limit" | "channel_not_configured" | "channel_not_connected" | "channel_reports" | "chat_continued" | "chat_ended" | "client_frozen" | "client_message_id_taken" | "consent_refused" | "customer_blocked" | "customer_opted_out" | "delete_not_available" | "deletion_held" | "document_limit" | "email_taken" | "endpoint_disabled" | "engine_not_configured" | "engine_unavailable" | "export_failed" | "export_off" | "external_id_taken" | "feedback_given" | "file_missing" | "files_unavailable" | "forbidden" | "golden_limit" | "golden_question_exists" | "golden_running" | "headers_too_large" | "idempotency_key_reused" | "identity_not_signed" | "insufficient_credits" | "internal_error" | "invalid_grant" | "invalid_state" | "invalid_visitor_token" | "last_owner" | "last_staff" | "mail_failed" | "mail_not_configured" | "mcp_limit" | "mcp_unusable" | "method_not_allowed" | "no_banner" | "no_recipients" | "no_templates" | "not_a_preview" | "not_admitted" | "not_authenticated" | "not_found" | "not_held" | "not_latest_message" | "nothing_to_answer" | "nothing_to_replay" | "order_closed" | "otp_required" | "payment_differs" | "payments_not_configured" | "pin_missing" | "preview_off" | "provider_refused" | "provider_required" | "provider_sign_in_failed" | "reference_taken" | "registration_closed" | "registration_token_invalid" | "replay_running" | "reply_window_closed" | "request_in_flight" | "reset_token_invalid" | "same_customer" | "sent_by_channel" | "shortcut_taken" | "source_exists" | "stale_version" | "subscription_inactive" | "summary_running" | "tag_exists" | "template_not_sendable" | "token_missing" | "too_large" | "too_many_endpoints" | "too_many_events" | "too_many_exports" | "too_many_feeds" | "too_many_files" | "too_many_requests" | "too_many_rows" | "too_many_views" | "too_slow" | "unavailable" | "unsupported_grant_type" | "unsupported_media_type" | "web_url_exists" | "web_url_limit" | "wrong_account" | "wrong_signature" | string; "request_id": string; "field"?: string; "version"?: number; "error"?: string; "error_description"?: string; "setting"?: string; "balance"?: number; "required"?: number; "amount"?: number; "order_status"?: string; "document_id"?: number; "assignee"?: Identity; "reply_window_expires_at"?: string; "run_id"?: string; "replay_id"?: string; "kind"?: string; "provider_code"?: string | null; "provider_message"?: string; "job_id"?: string; "export_id"?: string; };

export type Event = { "id": string; "type": string; "timestamp": string; "client_id": number; "conversation_id": string | null; "sequence": number | null; "data": Record<string, unknown>; "is_thin": boolean; "deliveries": Array<WebhookDelivery>; };

export type EventReplayRequest = { "created_from": string; "created_to"?: string | null; "state"?: "gave_up" | "missing" | "undelivered" | "all"; "type"?: "conversation.created" | "conversation.assigned" | "conversation.unassigned" | "conversation.handed_off" | "conversation.prioritized" | "conversation.snoozed" | "conversation.ended" | "conversation.reopened" | "message.created" | "message.delivered" | "message.read" | "message.failed" | "message.updated" | "summary.created" | "tags.updated" | "sentiment.updated" | "customer.updated" | "customer.merged" | "feedback.created" | "feedback.updated" | "notification.created" | "document.trained" | "document.failed" | "channel.connected" | "channel.disconnected" | "channel.notified" | "credits.low" | "webhook.test" | null; "config_id"?: string | null; };

export type EventsResponse = { "items": Array<Event>; "next_cursor": string | null; };

export type ExportAdhocReportParam = { "date_from"?: string | null; "date_to"?: string | null; "timezone"?: string | null; "bot_ids"?: Array<number>; "channels"?: Array<string>; "statuses"?: Array<"open" | "snoozed" | "ended">; "assignee_ids"?: Array<number>; "tags"?: Array<string>; "sentiments"?: Array<"positive" | "neutral" | "negative">; "languages"?: Array<string>; "ended_by"?: Array<string>; "countries"?: Array<string>; "handed_off"?: boolean | null; "bot_resolved"?: boolean | null; "has_feedback"?: boolean | null; "rating_min"?: number | null; "rating_max"?: number | null; "q"?: string | null; "group_by"?: Array<"day" | "week" | "month" | "hour" | "weekday" | "bot" | "channel" | "agent" | "tag" | "sentiment" | "language" | "country" | "handoff_reason" | "price_category">; "metrics"?: Array<"chats" | "messages" | "customers" | "bot_resolved" | "handed_off" | "ended" | "open" | "first_response_p50" | "first_response_p90" | "first_response_mean" | "resolution_p50" | "resolution_p90" | "resolution_mean" | "rating_mean" | "rating_count" | "sentiment_positive" | "sentiment_neutral" | "sentiment_negative" | "credits_used" | "charged_messages" | "message_cost">; "sort"?: string | null; "format"?: "csv" | "xlsx"; "columns"?: Array<string>; "file_name"?: string | null; };

export type FeedAway = { "user_id": number; "is_away": boolean; };

export type FeedDeleted = { "conversation_id": string; };

export type FeedPresence = { "user_id": number; "name": string; "is_online": boolean; };

export type FeedReady = { "user_id": number; "online": Array<number>; "away": Array<number>; };

export type FeedTicket = { "ticket": string; "expires_in": number; };

export type FeedTyping = { "conversation_id": string; "sender": Typist; "is_typing": boolean; };

export type FeedViewing = { "conversation_id": string; "user_id": number; "name": string; "is_viewing": boolean; };

export type FeedbackScreens = { "screen_id"?: number | null; "questions"?: Record<string, Questions>; };

export type FeedbacksResponse = { "items": Array<ChatFeedBackDto>; "next_cursor": string | null; };

export type Figures = { "chats": number; "messages": number; "bot_resolved": number; "handed_off": number; "rating_mean": number | null; "date_from": string; "date_to": string; "customers": number; "ended": number; "open": number; "first_response_seconds": Times; "bot_response_seconds": Times; "person_response_seconds": Times; "resolution_seconds": Times; "rating_count": number; "sentiment": Sentiments; "credits_used": number; };

export type FilterOption = { "value": string; "label": string; "chats": number; };

export type FollowUp = { "type"?: string | null; "payload"?: string | null; };

export type ForgotPasswordRequest = { "email": string; };

export type FoundContent = { "passages": Array<FoundPassage>; "confidence": number; };

export type FoundPassage = { "document_id": number; "title": string; "url": string | null; "page": number | null; "section": string | null; "text": string; "score": number; };

export type FunctionCallDecision = { "approve": boolean; };

export type FunctionCallingConfigDTO = { "is_enabled": boolean; "max_calls_per_reply": number; "functions": Array<FunctionDTO>; "is_available": boolean; "unavailable_reason": string | null; "updated_at": string | null; };

export type FunctionCallingConfigInput = { "is_enabled": boolean; "max_calls_per_reply"?: number; "functions": Array<FunctionInput>; "is_available"?: boolean; "unavailable_reason"?: string | null; "updated_at"?: string | null; };

export type FunctionCallingEventDTO = { "id": string; "bot_id": number; "chat_id": string | null; "function": string; "arguments": Record<string, unknown>; "status": "waiting" | "running" | "succeeded" | "failed" | "refused" | "rejected"; "http_status": number | null; "result_excerpt": string; "duration_ms": number | null; "error": string | null; "requires_approval": "none" | "agent" | "customer"; "decided_by": number | null; "decided_at": string | null; "created_at": string; };

export type FunctionCallingEventsResponse = { "items": Array<FunctionCallingEventDTO>; "next_cursor": string | null; };

export type FunctionDTO = { "name": string; "description": string; "parameters": Record<string, unknown>; "http": FunctionHttpDTO; "secret_header_names": Array<string>; "requires_approval": "none" | "agent" | "customer"; };

export type FunctionHttpDTO = { "method": "GET" | "POST" | "PUT" | "PATCH" | "DELETE"; "url": string; "headers": Record<string, string>; "timeout_seconds": number; "body_template": string; };

export type FunctionHttpInput = { "method": "GET" | "POST" | "PUT" | "PATCH" | "DELETE"; "url": string; "headers"?: Record<string, string>; "timeout_seconds"?: number; "body_template"?: string; };

export type FunctionInput = { "name": string; "description": string; "parameters": Record<string, unknown>; "http": FunctionHttpInput; "secret_headers"?: Record<string, string> | null; "secret_header_names"?: Array<string>; "requires_approval"?: "none" | "agent" | "customer"; };

export type GenerateChatRequest = { "messages"?: Array<PreviewMessage>; "language"?: string | null; "stream"?: boolean; };

export type GeneratedChat = { "chat_id": string; "message": Message | null; "status": "answered" | "asked_again" | "pending" | "handed_off" | "not_expected"; "handoff_reason": string | null; "usage": Usage; "engine": string | null; "model": string | null; "citations": Array<Citation>; };

export type GoldenCollectRequest = { "source": "samples" | "answers" | "asked"; };

export type GoldenCollected = { "added": Array<GoldenQuestionDto>; };

export type GoldenOrigin = "written" | "samples" | "answers" | "asked";

export type GoldenQuestionDto = { "id": number; "question": string; "expected_source": string | null; "expected_words": Array<string>; "expected_answer": string | null; "turns": Array<GoldenTurn>; "origin": GoldenOrigin; "created_at": string; };

export type GoldenQuestionInput = { "id"?: number; "question"?: string; "expected_source"?: string | null; "expected_words"?: Array<string>; "expected_answer"?: string | null; "turns"?: Array<GoldenTurnInput>; "origin"?: GoldenOrigin; "created_at"?: string; };

export type GoldenQuestionsResponse = { "items": Array<GoldenQuestionDto>; "next_cursor": string | null; };

export type GoldenResult = { "question": string; "fault": "no_answer" | "engine_failed" | "words_missing" | "other_source" | "other_answer" | null; "answer": string; "sources": Array<string>; "is_passed": boolean; "turns": Array<GoldenTurnResult>; "was_passed": boolean | null; };

export type GoldenRunDetail = { "id": string; "status": GoldenStatus; "error": string | null; "total": number; "done": number; "passed": number; "broke": Array<string>; "better": Array<string>; "prompt_version": number | null; "threshold": number | null; "document_ids": Array<number>; "outcome": "published" | "held" | "overtaken" | null; "engine": string | null; "knowledge_version": number; "created_by": number | null; "created_at": string; "finished_at": string | null; "results": Array<GoldenResult>; };

export type GoldenRunDto = { "id": string; "status": GoldenStatus; "error": string | null; "total": number; "done": number; "passed": number; "broke": Array<string>; "better": Array<string>; "prompt_version": number | null; "threshold": number | null; "document_ids": Array<number>; "outcome": "published" | "held" | "overtaken" | null; "engine": string | null; "knowledge_version": number; "created_by": number | null; "created_at": string; "finished_at": string | null; };

export type GoldenRunRequest = { "threshold"?: number | null; "prompt_version"?: number | null; };

export type GoldenRunsResponse = { "items": Array<GoldenRunDto>; "next_cursor": string | null; };

export type GoldenStatus = "queued" | "running" | "done" | "failed";

export type GoldenTurn = { "question": string; "expected_source": string | null; "expected_words": Array<string>; "expected_answer": string | null; };

export type GoldenTurnInput = { "question": string; "expected_source"?: string | null; "expected_words"?: Array<string>; "expected_answer"?: string | null; };

export type GoldenTurnResult = { "question": string; "fault": "no_answer" | "engine_failed" | "words_missing" | "other_source" | "other_answer" | null; "answer": string; "sources": Array<string>; };

export type GroupStatus = "open" | "learning" | "answered";

export type HTTPValidationError = { "detail": Array<ValidationError>; };

export type HandoverFigures = { "chats": number; "messages": number; "bot_resolved": number; "handed_off": number; "rating_mean": number | null; "handoff_reason": string | null; };

export type Health = { "status": "ok" | "failed"; "parts": Array<Part>; };

export type HeldChange = { "is_deleted": boolean; "title": string | null; "content": string | null; "file_name": string | null; "changed": Array<string>; };

export type Holiday = { "date": string; "name": string; "hours": Array<DayHours>; };

export type HolidayInput = { "date": string; "name"?: string; "hours"?: Array<DayHoursInput>; };

export type HookAttachment = { "type"?: string | null; "title"?: string | null; "url"?: string | null; "payload"?: Record<string, unknown> | null; };

export type HookDelivery = { "mids"?: Array<string> | null; "watermark"?: number | null; };

export type HookEdit = { "mid": string; "text"?: string | null; "num_edit"?: number | null; };

export type HookMessage = { "mid"?: string | null; "text"?: string | null; "is_echo"?: boolean | null; "is_deleted"?: boolean | null; "is_unsupported"?: boolean | null; "app_id"?: string | null; "metadata"?: string | null; "quick_reply"?: Record<string, unknown> | null; "reply_to"?: HookReply | null; "attachments"?: Array<HookAttachment> | null; "referral"?: Record<string, unknown> | null; };

export type HookPostback = { "mid"?: string | null; "title"?: string | null; "payload"?: string | null; "referral"?: Record<string, unknown> | null; };

export type HookReaction = { "mid": string; "action"?: string | null; "reaction"?: string | null; "emoji"?: string | null; };

export type HookRead = { "mid"?: string | null; "watermark"?: number | null; };

export type HookReply = { "mid"?: string | null; "story"?: Record<string, unknown> | null; };

export type HookThumb = { "mid": string; "feedback"?: string | null; };

export type HourFigures = { "chats": number; "messages": number; "bot_resolved": number; "handed_off": number; "rating_mean": number | null; "hour": number; };

export type Identity = { "external_id": string; "name": string; };

export type IdentityInput = { "external_id": string; "name"?: string; };

export type ImportantDocumentDto = { "is_important"?: boolean; "valid_from"?: string | null; "valid_to"?: string | null; };

export type KnownVisitor = { "visitor_token": string | null; "chats": Array<VisitorChat>; };

export type LanguageFigures = { "chats": number; "messages": number; "bot_resolved": number; "handed_off": number; "rating_mean": number | null; "language": string; };

export type LanguageModelDto = { "bot_id": number | null; "purpose": "chat" | "embeddings"; "base_url": string; "model": string; "has_api_key": boolean; "reads_pictures": boolean; "transcription_model": string; "credits_per_1000_tokens": number; "indexed_percent": number | null; "updated_at": string; };

export type LanguageModelInput = { "bot_id"?: number | null; "purpose"?: "chat" | "embeddings"; "base_url": string; "model": string; "api_key"?: string | null; "has_api_key"?: boolean; "reads_pictures"?: boolean; "transcription_model"?: string; "credits_per_1000_tokens"?: number; "indexed_percent"?: number | null; "updated_at"?: string; };

export type LanguageModelTest = { "is_working": boolean; "error": string | null; "answered_by": string | null; "tokens": number; "duration_ms": number; };

export type LanguageModelsResponse = { "items": Array<LanguageModelDto>; "next_cursor": string | null; };

export type ListedConversation = { "id": string; "chat_code": string; "bot_id": number; "channel": "web" | "api" | "socialnet" | "photoapp" | "chatapp" | "localapp" | "telegram"; "status": "open" | "snoozed" | "ended"; "assign_type": AssignTypeEnum; "assignee": Identity | null; "priority": "low" | "normal" | "high" | "urgent"; "version": number; "customer_id": number; "customer": ConversationCustomer; "is_preview": boolean; "waiting_since": string | null; "snoozed_until": string | null; "handoff_reason": string | null; "previous_chat_id": string | null; "language": string; "tags": Array<string>; "sentiment": "positive" | "neutral" | "negative" | null; "summary": string | null; "unread_count": number; "message_count": number; "last_message": Message | null; "last_message_at": string | null; "first_response_at": string | null; "ended_at": string | null; "ended_by": "customer" | "agent" | "bot" | "inactivity" | "api" | "merged" | null; "can_reply": boolean; "is_reachable": boolean; "reply_window_expires_at": string | null; "location": Location | null; "metadata": Record<string, unknown>; "created_at": string; "queue_details": QueueDetails | null; "found_message": Message | null; };

export type LocalappAttachment = { "type"?: string | null; "payload"?: Record<string, unknown> | null; };

export type LocalappEvent = { "event_name"?: string | null; "app_id"?: string | null; "oa_id"?: string | null; "timestamp"?: string | null; "sender"?: Party | null; "recipient"?: Party | null; "message"?: LocalappMessage | null; "info"?: Record<string, unknown> | null; };

export type LocalappMessage = { "msg_id"?: string | null; "msg_ids"?: Array<string> | null; "text"?: string | null; "quote_msg_id"?: string | null; "react_icon"?: string | null; "attachments"?: Array<LocalappAttachment> | null; "product_id"?: string | null; "rate"?: string | null; "note"?: string | null; "feedbacks"?: Array<string> | null; };

export type LocalappOAConnectDto = { "redirect_uri": string; "oa_id"?: string | null; };

export type Location = { "country"?: string | null; "region"?: string | null; "city"?: string | null; "timezone"?: string | null; "latitude"?: number | null; "longitude"?: number | null; };

export type LocationInput = { "country"?: string | null; "region"?: string | null; "city"?: string | null; "timezone"?: string | null; "latitude"?: number | null; "longitude"?: number | null; };

export type ManualChatFilesDto = { "files": Array<Blob>; "client_message_id"?: string | null; "text"?: string; "is_note"?: boolean; };

export type ManualChatMessageDto = { "text": string; "client_message_id"?: string | null; "attachments"?: Array<MessageContentInput>; "is_note"?: boolean; };

export type McpFault = { "jsonrpc": "2.0"; "id": number | string; "error": Record<string, unknown>; };

export type McpRequest = { "jsonrpc": "2.0"; "id"?: number | string | null; "method": string; "params"?: Record<string, unknown> | null; };

export type McpResult = { "jsonrpc": "2.0"; "id": number | string; "result": Record<string, unknown>; };

export type McpServerChange = { "name"?: string | null; "url"?: string | null; "token"?: string | null; "is_enabled"?: boolean | null; "allowed"?: Array<McpToolChoice> | null; "id"?: string; "has_token"?: boolean; "tools"?: Array<Record<string, unknown>>; "listed_at"?: string; "created_at"?: string; };

export type McpServerDto = { "id": string; "name": string; "url": string; "has_token": boolean; "is_enabled": boolean; "tools": Array<McpToolDto>; "listed_at": string; "created_at": string; };

export type McpServerRequest = { "name"?: string | null; "url"?: string | null; "token"?: string | null; "is_enabled"?: boolean | null; "allowed"?: Array<McpToolChoice> | null; };

export type McpServersResponse = { "items": Array<McpServerDto>; "next_cursor": string | null; };

export type McpToolChoice = { "name": string; "requires_approval"?: "none" | "agent" | "customer"; "version"?: string | null; };

export type McpToolDto = { "name": string; "description": string; "parameters": Record<string, unknown>; "version": string; "state": "allowed" | "not_allowed" | "changed" | "gone" | "unusable"; "requires_approval": "none" | "agent" | "customer" | null; "function": string | null; "problem": string | null; };

export type Message = { "id": string; "conversation_id": string; "seq": number; "sender": Sender; "recipient": Recipient | null; "content": Array<MessageContent>; "status": "pending" | "sent" | "delivered" | "read" | "failed"; "error": string | null; "in_reply_to": string | null; "is_note": boolean; "is_welcome": boolean; "client_message_id": string | null; "provider_message_id": string | null; "language": string | null; "translations": Record<string, string>; "sentiment": "positive" | "neutral" | "negative" | null; "citations": Array<Citation>; "created_at": string; "delivered_at": string | null; "read_at": string | null; "edited_at": string | null; "deleted_at": string | null; "customer_reaction": string | null; "metadata": Record<string, unknown>; };

export type MessageContent = { "type": "text" | "image" | "file" | "audio" | "video" | "location" | "template" | "feedback"; "text": string | null; "url": string | null; "file_name": string | null; "mime_type": string | null; "size_bytes": number | null; "error": string | null; "location": Location | null; "options": Array<MessageOption> | null; "citations": Array<Citation> | null; "template": SentTemplate | null; "transcript": string | null; };

export type MessageContentInput = { "type": "text" | "image" | "file" | "audio" | "video" | "location"; "text"?: string | null; "url"?: string | null; "file_name"?: string | null; "mime_type"?: string | null; "size_bytes"?: number | null; "error"?: string | null; "location"?: LocationInput | null; "options"?: Array<MessageOptionInput> | null; "citations"?: Array<CitationInput> | null; "template"?: SentTemplate | null; "transcript"?: string | null; };

export type MessageEdit = { "text": string; };

export type MessageEntitiesResponse = { "items": Array<MessageEntity>; "next_cursor": string | null; "resume_cursor": string | null; };

export type MessageEntity = { "id": string; "conversation_id": string; "seq": number; "sender": Sender; "recipient": Recipient | null; "content": Array<MessageContent>; "status": "pending" | "sent" | "delivered" | "read" | "failed"; "error": string | null; "in_reply_to": string | null; "is_note": boolean; "is_welcome": boolean; "client_message_id": string | null; "provider_message_id": string | null; "language": string | null; "translations": Record<string, string>; "sentiment": "positive" | "neutral" | "negative" | null; "citations": Array<Citation>; "created_at": string; "delivered_at": string | null; "read_at": string | null; "edited_at": string | null; "deleted_at": string | null; "customer_reaction": string | null; "metadata": Record<string, unknown>; "external_id": string | null; "sent_at": string | null; "receipt": Record<string, unknown> | null; "feedback": PortableFeedback | null; };

export type MessageHook = { "object"?: string | null; "entry"?: Array<Entry>; };

export type MessageOption = { "label": string; "value": string; };

export type MessageOptionInput = { "label": string; "value": string; };

export type MessageRequest = { "sender": SenderInput; "recipient"?: RecipientInput | null; "content"?: Array<MessageContentInput>; "text"?: string | null; "client_message_id"?: string | null; "in_reply_to"?: string | null; "sent_at"?: string | null; "generate_reply"?: boolean; "metadata"?: Record<string, unknown>; };

export type MessagesResponse = { "items": Array<Message>; "next_cursor": string | null; };

export type Messaging = { "sender"?: Party | null; "recipient"?: Party | null; "timestamp"?: number | null; "message"?: HookMessage | null; "postback"?: HookPostback | null; "reaction"?: HookReaction | null; "delivery"?: HookDelivery | null; "read"?: HookRead | null; "referral"?: Record<string, unknown> | null; "message_edit"?: HookEdit | null; "messaging_feedback"?: MessagingFeedback | null; "response_feedback"?: HookThumb | null; "take_thread_control"?: Record<string, unknown> | null; "pass_thread_control"?: Record<string, unknown> | null; "policy_enforcement"?: Record<string, unknown> | null; };

export type MessagingFeedback = { "feedback_screens"?: Array<FeedbackScreens>; };

export type MessagingMessagesResponse = { "items": Array<MessageEntity>; "next_cursor": string | null; };

export type MessengerConnectDto = { "redirect_uri": string; "code"?: string | null; "state"?: string | null; };

export type MessengerConnectPageDto = { "page_id"?: string | null; };

export type MuteWarningDto = { "code": "chats_unanswered" | "chats_unanswered_soon" | "queue_growing" | "negative_sentiment" | "low_ratings" | "channel_broken" | "channel_notices" | "channel_token_expiring" | "webhook_failing" | "training_failed" | "documents_held" | "functions_without_model" | "credits_used_up" | "credits_low" | "credits_end_soon" | "model_errors"; "until": string | null; };

export type NewPushSubscription = { "endpoint": string; "keys": PushKeys; "expirationTime"?: number | null; };

export type NotificationsResponse = { "items": Array<AssignNotification>; "next_cursor": string | null; };

export type NumberedOption = { "id": number; "name": string; "chats": number; };

export type Option = { "label": string; "value": string; };

export type OptionInput = { "label": string; "value": string; };

export type OriginalReply = { "text": string; "is_answered": boolean; "decision": string; "sources": Array<string>; };

export type OwnPassword = { "current_password": string; "new_password": string; };

export type OwnUser = { "full_name"?: string | null; "language"?: string | null; "avatar_url"?: string | null; "is_away"?: boolean | null; "id"?: number; "client_id"?: number; "email"?: string; "role"?: string; "can_train"?: boolean; "is_disabled"?: boolean; "last_login_at"?: string; "created_at"?: string; };

export type PageCounts = { "training": number; "trained": number; "unchanged": number; "refused": number; "failed": number; };

export type Part = { "name": string; "status": "ok" | "failed"; "detail": string; "duration_ms": number; };

export type Party = { "id"?: string | null; };

export type Passage = { "chunk_id": number; "score": number; "document_id": number | null; "title": string | null; "url": string | null; "page": number | null; "text": string | null; };

export type PhotoappConnectDto = { "redirect_uri": string; "code"?: string | null; "state"?: string | null; "login"?: "page" | "direct"; };

export type PhotoappConnectPageDto = { "page_id": string; };

export type PlatformWord = { "name": "greeting" | "thanks" | "goodbye" | "about_bot" | "person_possible" | "unknown" | "nearest" | "person_button" | "part_unknown" | "found" | "found_foreign" | "handover" | "handover_no_answer" | "closed" | "no_person" | "approval_needed" | "confirm" | "done" | "declined" | "call_failed" | "agent_declined" | "before_person" | "ask_info" | "info_noted" | "info_declined" | "not_email" | "not_phone" | "not_number" | "not_date" | "not_option" | "survey_question" | "survey_note" | "survey_button"; "said_when": string; "default": Record<string, string>; "own": Record<string, unknown>; };

export type PlatformWordInput = { "name": "greeting" | "thanks" | "goodbye" | "about_bot" | "person_possible" | "unknown" | "nearest" | "person_button" | "part_unknown" | "found" | "found_foreign" | "handover" | "handover_no_answer" | "closed" | "no_person" | "approval_needed" | "confirm" | "done" | "declined" | "call_failed" | "agent_declined" | "before_person" | "ask_info" | "info_noted" | "info_declined" | "not_email" | "not_phone" | "not_number" | "not_date" | "not_option" | "survey_question" | "survey_note" | "survey_button"; "said_when"?: string; "default"?: Record<string, string>; "own"?: Record<string, unknown>; };

export type PlatformWords = { "words": Array<PlatformWord>; };

export type PlatformWordsInput = { "words": Array<PlatformWordInput>; };

export type PortableFeedback = { "rating": number | null; "thumb": "up" | "down" | null; "reason": "wrong_answer" | "not_understood" | "no_solution" | "too_slow" | "unfriendly" | "other" | null; "resolved": boolean | null; "comment": string; "created_at": string; "updated_at": string | null; };

export type PortableSummary = { "summary": string; "language": string; "key_points": Array<string>; "customer_intent": string; "resolution": string; "message_count": number; "engine": string; "created_at": string; };

export type PortableTag = { "name": string; "source": "agent" | "ai" | "customer"; "confidence": number | null; "created_at": string; };

export type PreviewMessage = { "role": "user" | "assistant"; "content": string; };

export type Procedure = { "name": string; "starts_with": Array<string>; "steps": string; "is_enabled": boolean; };

export type ProcedureInput = { "name": string; "starts_with": Array<string>; "steps": string; "is_enabled"?: boolean; };

export type ProcedureStep = { "line": number | null; "kind": string; "name": string | null; "result": string; "by": string | null; "call_id": string | null; "error": string | null; };

export type ProcedureTrace = { "name": string; "waits_for": string | null; "steps": Array<ProcedureStep>; };

export type Procedures = { "procedures": Array<Procedure>; };

export type ProceduresInput = { "procedures": Array<ProcedureInput>; };

export type PromptDto = { "id": number; "version": number; "content": string; "tone": string | null; "language": string | null; "model": string | null; "temperature": number | null; "is_current": boolean; "created_by": number | null; "created_at": string; };

export type PromptInput = { "id"?: number; "version"?: number; "content": string; "tone"?: string | null; "language"?: string | null; "model"?: string | null; "temperature"?: number | null; "is_current"?: boolean; "created_by"?: number | null; "created_at"?: string; };

export type PromptVersionsResponse = { "items": Array<PromptDto>; "next_cursor": string | null; };

export type PushKey = { "public_key": string; };

export type PushKeys = { "p256dh": string; "auth": string; };

export type PushSubscription = { "id": string; "device": string; "created_at": string; };

export type PushSubscriptionsResponse = { "items": Array<PushSubscription>; "next_cursor": string | null; };

export type QuestionAnswerDto = { "status": DocumentStatus; "stage": DocumentStage; "is_answering": boolean; "progress": number; "error": DocumentError | null; "language": string | null; "held_change": HeldChange | null; "created_at": string; "updated_at": string; "trained_at": string | null; "id": number; "question": string; "answer": string; };

export type QuestionAnswerInput = { "status"?: DocumentStatus; "stage"?: DocumentStage; "is_answering"?: boolean; "progress"?: number; "error"?: DocumentError | null; "language"?: string | null; "held_change"?: HeldChange | null; "created_at"?: string; "updated_at"?: string; "trained_at"?: string | null; "id"?: number; "question": string; "answer": string; };

export type QuestionAnswersResponse = { "items": Array<QuestionAnswerDto>; "next_cursor": string | null; };

export type Questions = { "type"?: string | null; "payload"?: string | null; "follow_up"?: FollowUp | null; };

export type QueueDetails = { "messages": Array<QueuedMessage>; "note": QueueNote | null; "returned": QueueReturn | null; "previous_rating": number | null; };

export type QueueNote = { "name": string; "text": string; };

export type QueueReturn = { "name": string | null; "reason": string; };

export type QueuedFile = { "type": "image" | "file" | "audio" | "video"; "file_name": string | null; "line": Record<string, unknown> | null; };

export type QueuedMessage = { "seq": number; "text": string; "files": Array<QueuedFile>; "translations": Record<string, string>; "is_earlier": boolean; "is_request": boolean; };

export type ReadCount = { "count": number; };

export type Recipient = { "type": "customer" | "bot" | "agent" | "system"; "id": string | null; "name": string; };

export type RecipientInput = { "type": "customer" | "bot" | "agent" | "system"; "id"?: string | null; "name"?: string; };

export type RefusedFile = { "position": number; "file_name": string; "code": string; "message": string; };

export type RegisterTrialDto = { "company_name": string; "full_name": string; "email": string; "language"?: string; "timezone"?: string; "password": string; };

export type RegistrationPending = { "status": "unconfirmed"; };

export type RenderedReply = { "text": string; "language": string; "missing": Array<string>; };

export type Replay = { "config_id": string; "created_from": string; "created_to": string; "state": "gave_up" | "missing" | "undelivered" | "all"; "type": string | null; };

export type ReplayChange = "gained" | "lost" | "changed" | "answered" | "unanswered";

export type ReplayDto = { "id": string; "day": string; "status": ReplayStatus; "error": string | null; "total": number; "is_cut": boolean; "with_calls": number; "done": number; "gained": number; "lost": number; "changed": number; "answered": number; "unanswered": number; "engine": string | null; "knowledge_version": number | null; "created_at": string; "finished_at": string | null; };

export type ReplayRequest = { "day": string; "limit"?: number; };

export type ReplayStatus = "queued" | "running" | "done" | "failed";

export type ReplayedReplyDto = { "chat_id": string; "chat_code": string; "message_id": string; "change": ReplayChange; "question": string; "then": OriginalReply; "today": OriginalReply; };

export type ReplayedResponse = { "items": Array<ReplayedReplyDto>; "next_cursor": string | null; };

export type ReplayedTurn = { "message_id": string; "question": string; "said_at": string; "called_functions": boolean; "then": OriginalReply; "today": CurrentReply; };

export type ReplaysResponse = { "items": Array<ReplayDto>; "next_cursor": string | null; };

export type ReplyDelta = { "text": string; };

export type ReplyReceipt = { "message_id": string; "answers": Array<string>; "decision": string | null; "asks_for": string | null; "before_handoff": string | null; "filled": Array<string>; "passed_over": string | null; "asked_again": boolean; "while_waiting": boolean; "handoff_reason": string | null; "confidence": number | null; "threshold": number | null; "passages": Array<Passage>; "knowledge_version": number | null; "prompt_version": number | null; "engine": string | null; "model": string | null; "engine_error": string | null; "call_ids": Array<string>; "usage": Usage; "procedure": ProcedureTrace | null; };

export type ReplyReset = {  };

export type ReplySuggestions = { "suggestions": Array<Suggestion>; };

export type ReportColumn = { "name": string; "label": string; "type": "text" | "number" | "boolean" | "date" | "moment" | "texts"; "unit": "seconds" | "credits" | "stars" | null; };

export type ResendRegistrationRequest = { "email": string; };

export type ResetPasswordRequest = { "token": string; "new_password": string; };

export type Responsible = { "external_id": string; "name": string; "user_id": number | null; };

export type ReuploadFilesRequest = { "document_ids": Array<number>; };

export type ReuploadFilesResponse = { "queued": Array<number>; "skipped": Array<SkippedFile>; };

export type RevokeTokenRequest = { "token"?: string; "token_type_hint"?: "access_token" | "refresh_token" | null; "client_id"?: string | null; };

export type RewriteRequest = { "text": string; "style": "shorter" | "friendlier" | "spelling" | "translated"; };

export type RewrittenText = { "text": string; };

export type SampleQuestionDto = { "id": number | null; "question": string; "language": string | null; "position": number; };

export type SampleQuestionInput = { "id"?: number | null; "question": string; "language"?: string | null; "position"?: number; };

export type SampleQuestions = { "questions": Array<SampleQuestionInput>; };

export type SampleQuestionsResponse = { "items": Array<SampleQuestionDto>; "next_cursor": string | null; };

export type SavedRepliesResponse = { "items": Array<SavedReplyDto>; "next_cursor": string | null; };

export type SavedReplyDto = { "shortcut": string; "texts": Record<string, unknown>; "is_shared": boolean; "id": number; "created_at": string; "updated_at": string; };

export type SavedReplyInput = { "shortcut"?: string; "texts"?: Record<string, unknown>; "is_shared"?: boolean; "id"?: number; "created_at"?: string; "updated_at"?: string; };

export type SearchAdhocReportParam = { "date_from"?: string | null; "date_to"?: string | null; "timezone"?: string | null; "bot_ids"?: Array<number>; "channels"?: Array<string>; "statuses"?: Array<"open" | "snoozed" | "ended">; "assignee_ids"?: Array<number>; "tags"?: Array<string>; "sentiments"?: Array<"positive" | "neutral" | "negative">; "languages"?: Array<string>; "ended_by"?: Array<string>; "countries"?: Array<string>; "handed_off"?: boolean | null; "bot_resolved"?: boolean | null; "has_feedback"?: boolean | null; "rating_min"?: number | null; "rating_max"?: number | null; "q"?: string | null; "group_by"?: Array<"day" | "week" | "month" | "hour" | "weekday" | "bot" | "channel" | "agent" | "tag" | "sentiment" | "language" | "country" | "handoff_reason" | "price_category">; "metrics"?: Array<"chats" | "messages" | "customers" | "bot_resolved" | "handed_off" | "ended" | "open" | "first_response_p50" | "first_response_p90" | "first_response_mean" | "resolution_p50" | "resolution_p90" | "resolution_mean" | "rating_mean" | "rating_count" | "sentiment_positive" | "sentiment_neutral" | "sentiment_negative" | "credits_used" | "charged_messages" | "message_cost">; "sort"?: string | null; "cursor"?: string | null; "limit"?: number; };

export type Sender = { "type": "customer" | "bot" | "agent" | "system"; "id": string | null; "name": string; };

export type SenderInput = { "type": "customer" | "bot" | "agent" | "system"; "id"?: string | null; "name"?: string; };

export type SentTemplate = { "name": string; "language": string; "values": Array<string>; };

export type Sentiments = { "positive": number; "neutral": number; "negative": number; };

export type SignInProviderDto = { "issuer": string; "application_id": string; "email_domains": Array<string>; "is_required": boolean; "creates_agents": boolean; "admits_owners": boolean; "sign_in_url": string; "redirect_url": string; "updated_at": string; };

export type SignInProviderInput = { "issuer": string; "application_id": string; "application_secret"?: string | null; "email_domains": Array<string>; "is_required"?: boolean; "creates_agents"?: boolean; "admits_owners"?: boolean; "sign_in_url"?: string; "redirect_url"?: string; "updated_at"?: string; };

export type SkippedFile = { "id": number; "reason": string; };

export type SocialnetAccessToken = { "access_token": string; "expires_in"?: number | null; "user_external_id"?: string; };

export type StoredEvent = { "id": string; "type": string; "timestamp": string; "client_id": number; "conversation_id": string | null; "sequence": number | null; "data": Record<string, unknown>; };

export type SubscriptionDto = { "plan": "trial" | "standard" | "unlimited"; "credits_included": number; "credits_left": number; "credits_used": number; "period_start": string; "period_end": string | null; "is_active": boolean; };

export type Suggestion = { "text": string; "citations": Array<Citation>; };

export type SuggestionRequest = { "count"?: number; "tone"?: string | null; };

export type SummarizeRequest = { "text"?: string | null; "messages"?: Array<ChatGptMessage> | null; "max_words"?: number; "language"?: string | null; };

export type SummarizeResponse = { "summary": string; "key_points": Array<string>; "engine": string; };

export type SummaryCalculateRequest = { "bot_id"?: number | null; "created_from"?: string | null; "created_to"?: string | null; "force"?: boolean; };

export type SummaryJob = { "id": string; "status": "queued" | "running" | "done" | "failed"; "total": number; "done": number; "failed": number; "created_at": string; "finished_at": string | null; };

export type Tag = { "id": number | null; "name": string; "source": "agent" | "ai" | "customer" | null; "confidence": number | null; "count": number | null; "colour": string | null; };

export type TagFigures = { "chats": number; "messages": number; "bot_resolved": number; "handed_off": number; "rating_mean": number | null; "tag": string | null; };

export type TagInput = { "id"?: number | null; "name": string; "source"?: "agent" | "ai" | "customer" | null; "confidence"?: number | null; "count"?: number | null; "colour"?: string | null; };

export type TagMerge = { "into": string; };

export type Tags = { "tags": Array<Tag>; };

export type TagsInput = { "tags": Array<TagInput | string>; };

export type TelegramUpdate = { "update_id"?: number | null; "message"?: Record<string, unknown> | null; "edited_message"?: Record<string, unknown> | null; "callback_query"?: Record<string, unknown> | null; "my_chat_member"?: Record<string, unknown> | null; "message_reaction"?: Record<string, unknown> | null; };

export type TestedRecipients = { "recipients": Array<string>; };

export type TextDto = { "status": DocumentStatus; "stage": DocumentStage; "is_answering": boolean; "progress": number; "error": DocumentError | null; "language": string | null; "held_change": HeldChange | null; "created_at": string; "updated_at": string; "trained_at": string | null; "id": number; "title": string; "text": string; };

export type TextInput = { "status"?: DocumentStatus; "stage"?: DocumentStage; "is_answering"?: boolean; "progress"?: number; "error"?: DocumentError | null; "language"?: string | null; "held_change"?: HeldChange | null; "created_at"?: string; "updated_at"?: string; "trained_at"?: string | null; "id"?: number; "title": string; "text": string; };

export type TextsResponse = { "items": Array<TextDto>; "next_cursor": string | null; };

export type Times = { "p50": number | null; "p90": number | null; "mean": number | null; };

export type ToggleDisableBotDto = { "is_disabled": boolean; };

export type TokenConnectDto = { "token": string; };

export type TokenResponse = { "access_token": string; "token_type": "bearer"; "expires_in": number; "refresh_token": string; "scope": string; };

export type TopUpAmount = { "amount": number; "reference": string; };

export type Transcript = { "chat_code": string; "bot_name": string; "created_at": string; "ended_at": string | null; "messages": Array<TranscriptLine>; };

export type TranscriptLine = { "sender": string; "name": string; "text": string; "options": Array<string>; "files": Array<string>; "created_at": string; };

export type TranscriptMail = { "email": string; "timezone"?: string | null; };

export type TranslationRequest = { "text": string; "out_lang_code": string; };

export type TranslationResponse = { "text": string; "in_lang_code": string; "out_lang_code": string; "engine": string; };

export type Typing = { "is_typing"?: boolean; };

export type Typist = { "type": "agent" | "customer"; "id": string; "name": string; };

export type UnansweredQuestion = { "id": number; "question": string; "count": number; "latest_at": string | null; "status": GroupStatus; "document_id": number | null; "asked_again_at": string | null; "answer": string | null; "sources": Array<string>; "fault": string | null; };

export type UnansweredResponse = { "items": Array<UnansweredQuestion>; "next_cursor": string | null; };

export type UploadLimits = { "max_files": number; "max_file_bytes": number; "max_request_bytes": number; };

export type Usage = { "prompt_tokens": number; "completion_tokens": number; "credits": number; };

export type UserDisableFlag = { "is_disabled": boolean; };

export type UserDto = { "id": number; "client_id": number; "email": string; "full_name": string; "role": "owner" | "admin" | "agent" | "viewer"; "can_train": boolean; "is_disabled": boolean; "is_away": boolean; "language": string; "avatar_url": string | null; "last_login_at": string | null; "is_invited": boolean; "created_at": string; };

export type UserInput = { "id"?: number; "client_id"?: number; "email": string; "full_name": string; "role"?: "owner" | "admin" | "agent" | "viewer"; "can_train"?: boolean; "is_disabled"?: boolean; "is_away"?: boolean; "language"?: string; "avatar_url"?: string | null; "last_login_at"?: string | null; "is_invited"?: boolean; "created_at"?: string; "password"?: string | null; };

export type UserPassword = { "password": string; };

export type UserRole = { "role": "owner" | "admin" | "agent" | "viewer"; "can_train"?: boolean | null; };

export type UsersResponse = { "items": Array<UserDto>; "next_cursor": string | null; };

export type ValidationError = { "loc": Array<string | number>; "msg": string; "type": string; };

export type VerifyResetTokenRequest = { "token": string; };

export type Viewing = { "is_viewing"?: boolean; };

export type VisitorAgent = { "name": string; "avatar_url": string | null; "is_typing": boolean; };

export type VisitorChat = { "id": string; "status": "open" | "snoozed" | "ended"; "last_message_at": string; "text": string; };

export type VisitorConversation = { "id": string; "chat_code": string; "bot_id": number; "visitor_token": string; "status": "open" | "snoozed" | "ended"; "assign_type": AssignTypeEnum; "agent": VisitorAgent | null; "customer": VisitorCustomer; "previous_chat_id": string | null; "language": string; "message_count": number; "last_message_at": string | null; "last_event_seq": number; "waiting_since": string | null; "place_in_queue": number | null; "ended_at": string | null; "is_rated": boolean; "can_reply": boolean; "is_blocked": boolean; "created_at": string; };

export type VisitorCustomer = { "name": string | null; "email": string | null; "phone": string | null; };

export type VisitorIdentity = { "external_id": string; "identity_signature"?: string | null; };

export type VisitorMessage = { "id": string; "conversation_id": string; "seq": number; "sender": VisitorSender; "content": Array<MessageContent>; "in_reply_to": string | null; "is_welcome": boolean; "client_message_id": string | null; "language": string | null; "translations": Record<string, string>; "citations": Array<Citation>; "is_seen": boolean; "created_at": string; "edited_at": string | null; "deleted_at": string | null; };

export type VisitorMessages = { "items": Array<VisitorMessage>; "next_cursor": string | null; };

export type VisitorSender = { "type": "customer" | "bot" | "agent" | "system"; "name": string; };

export type VisitorTurn = { "message": VisitorMessage; "reply": VisitorMessage | null; "status": "answered" | "asked_again" | "pending" | "handed_off" | "not_expected"; };

export type Warning = { "code": "chats_unanswered" | "chats_unanswered_soon" | "queue_growing" | "negative_sentiment" | "low_ratings" | "channel_broken" | "channel_notices" | "channel_token_expiring" | "webhook_failing" | "training_failed" | "documents_held" | "functions_without_model" | "credits_used_up" | "credits_low" | "credits_end_soon" | "model_errors"; "severity": "critical" | "warning"; "title": string; "what_to_do": string; "count": number; "since": string | null; "due_at": string | null; "samples": Array<WarningSample>; "link": string; "muted_until": string | null; "muted_by": string | null; };

export type WarningDashboard = { "warnings": Array<Warning>; };

export type WarningSample = { "id": string; "label": string; };

export type WebPageDto = { "url": string; "status": "training" | "trained" | "unchanged" | "refused" | "failed"; "reason": string | null; "http_status": number | null; "fetched_at": string; };

export type WebUrlDto = { "id": number; "url": string; "crawl_depth": number; "refresh_hours": number | null; "status": WebUrlStatus; "progress": number; "error": WebUrlError | null; "page_count": number; "last_fetched_at": string | null; "page_counts": PageCounts; "pages": Array<WebPageDto>; };

export type WebUrlError = { "code": string; "message": string; };

export type WebUrlInput = { "id"?: number; "url"?: string; "crawl_depth"?: number; "refresh_hours"?: number | null; "status"?: WebUrlStatus; "progress"?: number; "error"?: WebUrlError | null; "page_count"?: number; "last_fetched_at"?: string | null; "page_counts"?: PageCounts; "pages"?: Array<WebPageDto>; };

export type WebUrlStatus = "queued" | "training" | "trained" | "failed";

export type WebUrlsResponse = { "items": Array<WebUrlDto>; "next_cursor": string | null; };

export type WebhookAttempt = { "attempt": number; "http_status": number | null; "duration_ms": number | null; "error": string | null; "response_excerpt": string | null; "created_at": string; };

export type WebhookConfig = { "id": string; "url": string; "event_types": Array<"conversation.created" | "conversation.assigned" | "conversation.unassigned" | "conversation.handed_off" | "conversation.prioritized" | "conversation.snoozed" | "conversation.ended" | "conversation.reopened" | "message.created" | "message.delivered" | "message.read" | "message.failed" | "message.updated" | "summary.created" | "tags.updated" | "sentiment.updated" | "customer.updated" | "customer.merged" | "feedback.created" | "feedback.updated" | "notification.created" | "document.trained" | "document.failed" | "channel.connected" | "channel.disconnected" | "channel.notified" | "credits.low" | "webhook.test">; "description": string; "is_active": boolean; "disabled_reason": "by_hand" | "gone" | "failing" | null; "disabled_at": string | null; "failing_since": string | null; "paused_until": string | null; "previous_secret_until": string | null; "secret": string | null; "created_at": string; };

export type WebhookConfigRequest = { "id"?: string; "url"?: string; "event_types"?: Array<"conversation.created" | "conversation.assigned" | "conversation.unassigned" | "conversation.handed_off" | "conversation.prioritized" | "conversation.snoozed" | "conversation.ended" | "conversation.reopened" | "message.created" | "message.delivered" | "message.read" | "message.failed" | "message.updated" | "summary.created" | "tags.updated" | "sentiment.updated" | "customer.updated" | "customer.merged" | "feedback.created" | "feedback.updated" | "notification.created" | "document.trained" | "document.failed" | "channel.connected" | "channel.disconnected" | "channel.notified" | "credits.low" | "webhook.test">; "description"?: string; "is_active"?: boolean; "disabled_reason"?: "by_hand" | "gone" | "failing" | null; "disabled_at"?: string | null; "failing_since"?: string | null; "paused_until"?: string | null; "previous_secret_until"?: string | null; "secret"?: string | null; "created_at"?: string; };

export type WebhookConfigsResponse = { "items": Array<WebhookConfig>; "next_cursor": string | null; };

export type WebhookDelivery = { "id": number; "config_id": string; "event_id": string; "attempt": number; "status": "pending" | "succeeded" | "failed" | "gave_up"; "http_status": number | null; "duration_ms": number | null; "error": string | null; "response_excerpt": string | null; "next_attempt_at": string | null; "attempts": Array<WebhookAttempt>; "created_at": string; };

export type WelcomeMessages = { "messages": Record<string, unknown>; };

export type WelcomeMessagesInput = { "messages": Record<string, unknown>; };
