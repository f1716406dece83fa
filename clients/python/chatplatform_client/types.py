"""The schemas of the API. Made by `make clients` from the API's document; changes belong there."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class AddAnswerRequest(TypedDict):
    answer: str
    question: NotRequired[str | None]


class AdhocExport(TypedDict):
    id: str
    status: Literal['queued', 'running', 'done']
    progress: int
    rows: int
    url: str
    expires_at: str


class AdhocFilterOptions(TypedDict):
    bots: list[NumberedOption]
    channels: list[FilterOption]
    statuses: list[FilterOption]
    assignees: list[NumberedOption]
    tags: list[FilterOption]
    sentiments: list[FilterOption]
    languages: list[FilterOption]
    ended_by: list[FilterOption]
    countries: list[FilterOption]


class AdhocReport(TypedDict):
    columns: list[ReportColumn]
    rows: list[dict[str, str | int | float | bool | list[str] | None]]
    totals: dict[str, str | int | float | bool | list[str] | None]
    next_cursor: str | None


class AgentFigures(TypedDict):
    chats: int
    messages: int
    bot_resolved: int
    handed_off: int
    rating_mean: float | None
    agent_id: int | None
    name: str | None


class Alive(TypedDict):
    status: Literal['ok']


class ApiKeyDto(TypedDict):
    id: int
    name: str
    scope: Literal['secret', 'public']
    bot_id: int | None
    prefix: str
    created_at: str
    last_used_at: str | None
    expires_at: str | None
    revoked_at: str | None
    requests_per_minute: int | None
    daily_credits: int | None
    mcp_write: bool
    key: str | None


class ApiKeyInput(TypedDict):
    id: NotRequired[int]
    name: NotRequired[str]
    scope: NotRequired[Literal['secret', 'public']]
    bot_id: NotRequired[int | None]
    prefix: NotRequired[str]
    created_at: NotRequired[str]
    last_used_at: NotRequired[str | None]
    expires_at: NotRequired[str | None]
    revoked_at: NotRequired[str | None]
    requests_per_minute: NotRequired[int | None]
    daily_credits: NotRequired[int | None]
    mcp_write: NotRequired[bool]
    key: NotRequired[str | None]


class ApiKeyRequest(TypedDict):
    name: str
    scope: NotRequired[Literal['secret', 'public']]
    bot_id: NotRequired[int | None]
    expires_at: NotRequired[str | None]
    requests_per_minute: NotRequired[int | None]
    daily_credits: NotRequired[int | None]
    mcp_write: NotRequired[bool]


class ApiKeysResponse(TypedDict):
    items: list[ApiKeyDto]
    next_cursor: str | None


class ArrivalReport(TypedDict):
    seq: NotRequired[int | None]
    message_id: NotRequired[str | None]


class AskedQuestion(TypedDict):
    message_id: str
    chat_id: str
    chat_code: str
    text: str
    asked_at: str


class AskedQuestionsResponse(TypedDict):
    items: list[AskedQuestion]
    next_cursor: str | None


class AssignNotification(TypedDict):
    id: str
    chat_id: str
    message_id: str | None
    kind: Literal['assigned', 'unassigned', 'handoff', 'unanswered', 'mentioned']
    assigned_by: Identity | None
    is_read: bool
    created_at: str

AssignTypeEnum: TypeAlias = "Literal['bot', 'queue', 'agent']"


class AuditEvent(TypedDict):
    id: int
    action: str
    subject: str
    changes: dict[str, Any]
    user_id: int | None
    api_key_id: int | None
    address: str
    request_id: str
    created_at: str
    hash: str | None


class AuditEventsResponse(TypedDict):
    items: list[AuditEvent]
    next_cursor: str | None


class BannerUploadResponseDto(TypedDict):
    url: str
    mime_type: str
    width: int
    height: int
    size_bytes: int


class Body_generate_client_chat_with_files_by_chat_id_ai_client_chat_files__chat_id___post(TypedDict):
    files: list[bytes]
    client_message_id: NotRequired[str | None]
    message: NotRequired[str]
    reply: NotRequired[Literal['wait', 'async', 'stream', 'none']]


class Body_login_for_access_token2_identity_token2_post(TypedDict):
    grant_type: NotRequired[str]
    username: NotRequired[str | None]
    password: NotRequired[str | None]
    otp: NotRequired[str | None]
    refresh_token: NotRequired[str | None]
    scope: NotRequired[str | None]
    client_id: NotRequired[str | None]
    client_secret: NotRequired[str | None]


class Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post(TypedDict):
    valid_from: NotRequired[str | None]
    valid_to: NotRequired[str | None]
    file: bytes
    link: NotRequired[str]
    alt: NotRequired[str]


class Body_upload_files_ai__bot_id__train_document_post(TypedDict):
    files: list[bytes]


class BotBannerDto(TypedDict):
    valid_from: str | None
    valid_to: str | None
    bot_id: int
    url: str | None
    link: str | None
    alt: str | None


class BotBannerInput(TypedDict):
    valid_from: NotRequired[str | None]
    valid_to: NotRequired[str | None]
    bot_id: NotRequired[int]
    url: NotRequired[str | None]
    link: NotRequired[str | None]
    alt: NotRequired[str | None]


class BotConfigDto(TypedDict):
    id: int
    bot_name: str
    bot_icon: str | None
    primary_color: str
    secondary_color: str
    style: BotStyle
    language: str
    default_language: str
    languages: list[str]
    welcome_message: str | None
    terms: str | None
    bot_question: str | None
    engaging_message: str | None
    engaging_seconds: int
    engaging_pages: str
    engaging_visitors: Literal['all', 'new', 'returning']
    is_open: bool
    opens_at: str | None
    timezone: str
    business_hours: list[BusinessHours]
    holidays: list[Holiday]
    out_of_hours_message: str | None
    person_button: str | None
    agents_online: int
    usual_wait_minutes: int | None
    answers_by_mail: bool
    banner: BotBannerDto | None
    sample_questions: list[SampleQuestionDto]
    attach_enabled: bool
    upload_limits: UploadLimits
    export_enabled: bool
    auto_pop_up: bool
    is_fullscreen: bool
    is_visible: bool
    customer_info_fields: list[ConfigField]


class BotDto(TypedDict):
    id: int
    api_key: str | None
    bot_name: str
    description: str
    bot_icon: str | None
    primary_color: str
    secondary_color: str
    allowed_domain: str
    languages: list[str]
    default_language: str
    style: BotStyle
    welcome_message: dict[str, Any]
    terms: dict[str, Any]
    terms_default: str
    bot_question: str
    engaging_message: dict[str, Any]
    engaging_message_default: str
    engaging_seconds: int
    engaging_pages: str
    engaging_visitors: Literal['all', 'new', 'returning']
    attach_enabled: bool
    export_enabled: bool
    mail_answers: bool
    auto_pop_up: bool
    is_fullscreen: bool
    is_visible: bool
    allow_preview: bool
    hold_back_worse: bool
    agent_reply: bool
    delete_available: bool
    business_hours: list[BusinessHours] | None
    holidays: list[Holiday] | None
    chatbot_setup: bool | None
    prompt_setup: bool | None
    file_setup: bool | None
    url_setup: bool | None
    client_id: int
    has_model: bool
    is_disabled: bool
    created_at: str
    updated_at: str


class BotFigures(TypedDict):
    chats: int
    messages: int
    bot_resolved: int
    handed_off: int
    rating_mean: float | None
    bot_id: int
    name: str


class BotIdentitySecret(TypedDict):
    secret: str


class BotInput(TypedDict):
    id: NotRequired[int]
    api_key: NotRequired[str | None]
    bot_name: NotRequired[str]
    description: NotRequired[str]
    bot_icon: NotRequired[str | None]
    primary_color: NotRequired[str]
    secondary_color: NotRequired[str]
    allowed_domain: NotRequired[str]
    languages: NotRequired[list[str]]
    default_language: NotRequired[str]
    style: NotRequired[BotStyleInput]
    welcome_message: NotRequired[str | dict[str, Any]]
    terms: NotRequired[dict[str, Any]]
    terms_default: NotRequired[str]
    bot_question: NotRequired[str]
    engaging_message: NotRequired[dict[str, Any]]
    engaging_message_default: NotRequired[str]
    engaging_seconds: NotRequired[int]
    engaging_pages: NotRequired[str]
    engaging_visitors: NotRequired[Literal['all', 'new', 'returning']]
    attach_enabled: NotRequired[bool]
    export_enabled: NotRequired[bool]
    mail_answers: NotRequired[bool]
    auto_pop_up: NotRequired[bool]
    is_fullscreen: NotRequired[bool]
    is_visible: NotRequired[bool]
    allow_preview: NotRequired[bool]
    hold_back_worse: NotRequired[bool]
    agent_reply: NotRequired[bool]
    delete_available: NotRequired[bool]
    business_hours: NotRequired[list[BusinessHoursInput] | None]
    holidays: NotRequired[list[HolidayInput] | None]
    chatbot_setup: NotRequired[bool | None]
    prompt_setup: NotRequired[bool | None]
    file_setup: NotRequired[bool | None]
    url_setup: NotRequired[bool | None]
    client_id: NotRequired[int]
    has_model: NotRequired[bool]
    is_disabled: NotRequired[bool]
    created_at: NotRequired[str]
    updated_at: NotRequired[str]


class BotLanguage(TypedDict):
    code: str
    name: str
    native_name: str
    is_default: bool


class BotLanguageConfigDto(TypedDict):
    default_language: str
    languages: list[BotLanguage]


class BotLanguageConfigInput(TypedDict):
    default_language: str
    languages: list[BotLanguageInput]


class BotLanguageInput(TypedDict):
    code: str
    name: NotRequired[str]
    native_name: NotRequired[str]
    is_default: NotRequired[bool]


class BotStyle(TypedDict):
    position: Literal['bottom-right', 'bottom-left', 'top-right', 'top-left']
    width: int
    height: int
    font: str
    radius: int
    dark_mode: bool | Literal['system']


class BotStyleInput(TypedDict):
    position: NotRequired[Literal['bottom-right', 'bottom-left', 'top-right', 'top-left']]
    width: NotRequired[int]
    height: NotRequired[int]
    font: NotRequired[str]
    radius: NotRequired[int]
    dark_mode: NotRequired[bool | Literal['system']]


class BotsResponse(TypedDict):
    items: list[BotDto]
    next_cursor: str | None


class BusinessHours(TypedDict):
    opens: str
    closes: str
    weekday: int


class BusinessHoursInput(TypedDict):
    opens: str
    closes: str
    weekday: int


class ChannelAccount(TypedDict):
    id: str
    name: str
    picture_url: str | None
    is_connected: bool
    bot_id: int | None


class ChannelAccountsResponse(TypedDict):
    items: list[ChannelAccount]
    next_cursor: str | None


class ChannelConnection(TypedDict):
    id: str | None
    channel: Literal['socialnet', 'photoapp', 'chatapp', 'localapp', 'telegram']
    bot_id: int | None
    status: Literal['pending', 'connected', 'disconnected', 'expired', 'error']
    consent_url: str | None
    account_id: str | None
    account_name: str | None
    connected_by: Identity | None
    connected_at: str | None
    token_expires_at: str | None
    last_event_at: str | None
    last_error: str | None
    missing_permissions: list[str]
    quality: str | None
    sending_limit: str | None
    notices: list[ChannelNotice]


class ChannelFigures(TypedDict):
    chats: int
    messages: int
    bot_resolved: int
    handed_off: int
    rating_mean: float | None
    channel: str


class ChannelMessageRequest(TypedDict):
    conversation_id: NotRequired[str | None]
    recipient_id: NotRequired[str | None]
    text: NotRequired[str | None]
    content: NotRequired[list[MessageContentInput]]
    tag: NotRequired[str | None]
    client_message_id: NotRequired[str | None]


class ChannelNotice(TypedDict):
    id: str
    kind: Literal['template_status', 'template_quality', 'template_category', 'quality', 'sending_limit', 'name', 'review', 'alert']
    template: str
    language: str
    value: str
    previous: str
    reason: str
    is_bad: bool
    at: str


class ChatAssignDto(TypedDict):
    assign_type: AssignTypeEnum
    user_id: NotRequired[int | None]
    note: NotRequired[str | None]
    return_after_seconds: NotRequired[int | None]
    expected_version: NotRequired[int | None]


class ChatCounts(TypedDict):
    mine: int
    unassigned: int
    all: int
    snoozed: int
    ended: int
    unread: int
    mine_unread: int


class ChatCreation(TypedDict):
    bot_id: NotRequired[int | None]
    customer: NotRequired[CustomerInfo]
    identity_signature: NotRequired[str | None]
    language: NotRequired[str | None]
    message: NotRequired[str | None]
    channel: NotRequired[Literal['web', 'api']]
    location: NotRequired[LocationInput | None]
    tags: NotRequired[list[str]]
    metadata: NotRequired[dict[str, Any]]


class ChatCustomer(TypedDict):
    external_id: NotRequired[str | None]
    name: NotRequired[str | None]
    email: NotRequired[str | None]
    phone: NotRequired[str | None]
    avatar_url: NotRequired[str | None]
    attributes: NotRequired[dict[str, Any]]
    identity_signature: NotRequired[str | None]


class ChatFeedBackDto(TypedDict):
    rating: int | None
    thumb: Literal['up', 'down'] | None
    reason: Literal['wrong_answer', 'not_understood', 'no_solution', 'too_slow', 'unfriendly', 'other'] | None
    resolved: bool | None
    comment: str | None
    message_id: str | None
    id: int
    chat_id: str
    created_at: str
    updated_at: str | None


class ChatFeedBackInput(TypedDict):
    rating: NotRequired[int | None]
    thumb: NotRequired[Literal['up', 'down'] | None]
    reason: NotRequired[Literal['wrong_answer', 'not_understood', 'no_solution', 'too_slow', 'unfriendly', 'other'] | None]
    resolved: NotRequired[bool | None]
    comment: NotRequired[str | None]
    message_id: NotRequired[str | None]
    id: NotRequired[int]
    chat_id: NotRequired[str]
    created_at: NotRequired[str]
    updated_at: NotRequired[str | None]


class ChatGptMessage(TypedDict):
    role: Literal['system', 'user', 'assistant', 'tool']
    content: str


class ChatOverview(TypedDict):
    current: Figures
    previous: Figures
    series: list[DayFigures]
    by_hour: list[HourFigures]
    by_channel: list[ChannelFigures]
    by_bot: list[BotFigures]
    by_agent: list[AgentFigures]
    by_tag: list[TagFigures]
    by_language: list[LanguageFigures]
    by_handoff_reason: list[HandoverFigures]


class ChatPriorityDto(TypedDict):
    priority: Literal['low', 'normal', 'high', 'urgent']


class ChatSentiment(TypedDict):
    chat_id: str
    sentiment: Literal['positive', 'neutral', 'negative']
    score: float
    engine: str
    created_at: str


class ChatSnoozeDto(TypedDict):
    until: str


class ChatStep(TypedDict):
    id: str
    type: str
    created_at: str
    by: Identity | None
    assignee: Identity | None
    assign_type: AssignTypeEnum
    priority: Literal['low', 'normal', 'high', 'urgent']
    reason: str | None
    snoozed_until: str | None
    ended_by: Literal['customer', 'agent', 'bot', 'inactivity', 'api', 'merged'] | None


class ChatSteps(TypedDict):
    items: list[ChatStep]


class ChatSummary(TypedDict):
    chat_id: str
    summary: str
    language: str
    key_points: list[str]
    customer_intent: str
    resolution: str
    message_count: int
    engine: str
    created_at: str


class ChatTurn(TypedDict):
    message: Message
    reply: Message | None
    status: Literal['answered', 'asked_again', 'pending', 'handed_off', 'not_expected']
    handoff_reason: str | None


ChatappCall = TypedDict("ChatappCall", {
    "id": "str",
    "from": "NotRequired[str | None]",
    "from_user_id": "NotRequired[str | None]",
    "event": "NotRequired[str | None]",
    "direction": "NotRequired[str | None]",
    "status": "NotRequired[str | None]",
    "duration": "NotRequired[int | None]",
    "timestamp": "NotRequired[int | None]",
})


class ChatappChange(TypedDict):
    field: NotRequired[str | None]
    value: NotRequired[ChatappChangeValue | None]


class ChatappChangeValue(TypedDict):
    messaging_product: NotRequired[str | None]
    metadata: NotRequired[ChatappMetadata | None]
    contacts: NotRequired[list[ChatappContact]]
    messages: NotRequired[list[ChatappMessage]]
    statuses: NotRequired[list[ChatappStatus]]
    message_echoes: NotRequired[list[ChatappMessage]]
    calls: NotRequired[list[ChatappCall]]
    user_preferences: NotRequired[list[ChatappPreference]]


class ChatappConnectDto(TypedDict):
    code: NotRequired[str | None]
    business_account_id: NotRequired[str | None]
    phone: ChatappConnectPhoneDto


class ChatappConnectPhoneDto(TypedDict):
    phone_number_id: str
    pin: NotRequired[str | None]


class ChatappContact(TypedDict):
    profile: NotRequired[ChatappProfile | None]
    wa_id: NotRequired[str | None]
    user_id: NotRequired[str | None]


class ChatappContext(TypedDict):
    id: NotRequired[str | None]
    forwarded: NotRequired[bool | None]
    frequently_forwarded: NotRequired[bool | None]
    referred_product: NotRequired[dict[str, Any] | None]


class ChatappEntry(TypedDict):
    id: NotRequired[str | None]
    time: NotRequired[int | None]
    changes: NotRequired[list[ChatappChange]]


class ChatappLocation(TypedDict):
    latitude: NotRequired[float | None]
    longitude: NotRequired[float | None]
    name: NotRequired[str | None]
    address: NotRequired[str | None]


class ChatappMedia(TypedDict):
    id: NotRequired[str | None]
    mime_type: NotRequired[str | None]
    caption: NotRequired[str | None]
    filename: NotRequired[str | None]
    voice: NotRequired[bool | None]


ChatappMessage = TypedDict("ChatappMessage", {
    "from": "NotRequired[str | None]",
    "from_user_id": "NotRequired[str | None]",
    "to": "NotRequired[str | None]",
    "to_user_id": "NotRequired[str | None]",
    "id": "NotRequired[str | None]",
    "timestamp": "NotRequired[str | None]",
    "type": "NotRequired[str]",
    "text": "NotRequired[ChatappText | None]",
    "image": "NotRequired[ChatappMedia | None]",
    "video": "NotRequired[ChatappMedia | None]",
    "audio": "NotRequired[ChatappMedia | None]",
    "document": "NotRequired[ChatappMedia | None]",
    "sticker": "NotRequired[ChatappMedia | None]",
    "location": "NotRequired[ChatappLocation | None]",
    "contacts": "NotRequired[list[dict[str, Any]] | None]",
    "interactive": "NotRequired[dict[str, Any] | None]",
    "button": "NotRequired[dict[str, Any] | None]",
    "reaction": "NotRequired[ChatappReaction | None]",
    "edit": "NotRequired[ChatappTarget | None]",
    "revoke": "NotRequired[ChatappTarget | None]",
    "order": "NotRequired[dict[str, Any] | None]",
    "system": "NotRequired[dict[str, Any] | None]",
    "context": "NotRequired[ChatappContext | None]",
    "referral": "NotRequired[dict[str, Any] | None]",
    "group_id": "NotRequired[str | None]",
    "unsupported": "NotRequired[dict[str, Any] | None]",
})


class ChatappMetadata(TypedDict):
    display_phone_number: NotRequired[str | None]
    phone_number_id: NotRequired[str | None]


class ChatappPreference(TypedDict):
    wa_id: NotRequired[str | None]
    user_id: NotRequired[str | None]
    value: NotRequired[str | None]
    timestamp: NotRequired[int | None]


class ChatappProfile(TypedDict):
    name: NotRequired[str | None]
    username: NotRequired[str | None]


class ChatappReaction(TypedDict):
    message_id: str
    emoji: NotRequired[str | None]


class ChatappStatus(TypedDict):
    id: str
    status: str
    timestamp: NotRequired[int | None]
    recipient_id: NotRequired[str | None]
    recipient_user_id: NotRequired[str | None]
    biz_opaque_callback_data: NotRequired[str | None]
    errors: NotRequired[list[dict[str, Any]] | None]
    pricing: NotRequired[dict[str, Any] | None]


class ChatappTarget(TypedDict):
    original_message_id: str
    message: NotRequired[dict[str, Any] | None]


class ChatappTemplate(TypedDict):
    name: str
    language: str
    status: str
    category: str
    quality: str | None
    text: str
    variables: list[str]
    header_file: Literal['image', 'video', 'file'] | None
    problem: str | None


class ChatappTemplateRequest(TypedDict):
    conversation_id: NotRequired[str | None]
    recipient_id: NotRequired[str | None]
    consent: NotRequired[str | None]
    name: str
    language: str
    values: NotRequired[list[str]]
    header: NotRequired[MessageContentInput | None]
    client_message_id: NotRequired[str | None]


class ChatappTemplatesResponse(TypedDict):
    items: list[ChatappTemplate]
    next_cursor: str | None


class ChatappText(TypedDict):
    body: NotRequired[str | None]


class ChatappWebhook(TypedDict):
    object: NotRequired[str | None]
    entry: NotRequired[list[ChatappEntry]]


class ChatsResponse(TypedDict):
    items: list[ListedConversation]
    next_cursor: str | None


class Citation(TypedDict):
    document_id: int
    title: str
    url: NotRequired[str | None]
    page: NotRequired[int | None]
    quote: str
    section: NotRequired[str | None]
    number: NotRequired[int | None]


class CitationInput(TypedDict):
    document_id: int
    title: str
    url: NotRequired[str | None]
    page: NotRequired[int | None]
    quote: str
    section: NotRequired[str | None]
    number: NotRequired[int | None]


class ClientConfigDto(TypedDict):
    client_id: int
    timezone: str
    business_hours: list[BusinessHours]
    holidays: list[Holiday]
    out_of_hours_message: dict[str, Any]
    assign_strategy: Literal['manual', 'round_robin', 'least_busy']
    agent_capacity: int
    handoff_on_request: bool
    handoff_on_no_answer: bool
    ask_again_before_handoff: bool | None
    answer_while_waiting: bool
    handoff_message: dict[str, Any]
    answer_threshold: float
    fallback_to_extractive: bool
    confirm_answers: bool
    read_attachments: bool
    burst_wait_ms: int
    inactivity_end_minutes: int
    reopen_window_minutes: int
    reuse_open: bool
    ask_feedback: bool
    feedback_edit_minutes: int
    first_response_target_seconds: int
    auto_summary: bool
    auto_tag: bool
    auto_sentiment: bool
    auto_translate: bool
    mask_personal_data: bool
    silent_channels: list[Literal['socialnet', 'photoapp', 'chatapp', 'localapp', 'telegram']]
    message_prices: dict[str, Any]
    retention_days: int | None
    version: int | None


class ClientConfigInput(TypedDict):
    client_id: NotRequired[int]
    timezone: NotRequired[str]
    business_hours: NotRequired[list[BusinessHoursInput]]
    holidays: NotRequired[list[HolidayInput]]
    out_of_hours_message: NotRequired[dict[str, Any]]
    assign_strategy: NotRequired[Literal['manual', 'round_robin', 'least_busy']]
    agent_capacity: NotRequired[int]
    handoff_on_request: NotRequired[bool]
    handoff_on_no_answer: NotRequired[bool]
    ask_again_before_handoff: NotRequired[bool | None]
    answer_while_waiting: NotRequired[bool]
    handoff_message: NotRequired[dict[str, Any]]
    answer_threshold: NotRequired[float]
    fallback_to_extractive: NotRequired[bool]
    confirm_answers: NotRequired[bool]
    read_attachments: NotRequired[bool]
    burst_wait_ms: NotRequired[int]
    inactivity_end_minutes: NotRequired[int]
    reopen_window_minutes: NotRequired[int]
    reuse_open: NotRequired[bool]
    ask_feedback: NotRequired[bool]
    feedback_edit_minutes: NotRequired[int]
    first_response_target_seconds: NotRequired[int]
    auto_summary: NotRequired[bool]
    auto_tag: NotRequired[bool]
    auto_sentiment: NotRequired[bool]
    auto_translate: NotRequired[bool]
    mask_personal_data: NotRequired[bool]
    silent_channels: NotRequired[list[Literal['socialnet', 'photoapp', 'chatapp', 'localapp', 'telegram']]]
    message_prices: NotRequired[dict[str, Any]]
    retention_days: NotRequired[int | None]
    version: NotRequired[int | None]


class ClientDto(TypedDict):
    id: int
    name: str
    code: str
    default_language: str
    timezone: str
    is_disabled: bool
    subscription: SubscriptionDto
    created_at: str


class ClientTagRequest(TypedDict):
    name: NotRequired[str | None]
    colour: NotRequired[str | None]
    id: NotRequired[int]
    source: NotRequired[str | None]
    confidence: NotRequired[float | None]
    count: NotRequired[int]


class ClientTags(TypedDict):
    tags: list[Tag]


class ConfigField(TypedDict):
    name: str
    label: str
    type: Literal['text', 'email', 'phone', 'number', 'date', 'select']
    required: bool
    options: list[Option]
    ask_before_chat: bool
    ask_before_person: bool


class ConfirmRegistrationRequest(TypedDict):
    token: str
    password: str


class ConvMessage(TypedDict):
    text: str
    client_message_id: NotRequired[str | None]
    attachments: NotRequired[list[MessageContentInput]]
    language: NotRequired[str | None]
    reply: NotRequired[Literal['wait', 'async', 'stream', 'none']]


class Conversation(TypedDict):
    id: str
    chat_code: str
    bot_id: int
    channel: Literal['web', 'api', 'socialnet', 'photoapp', 'chatapp', 'localapp', 'telegram']
    status: Literal['open', 'snoozed', 'ended']
    assign_type: AssignTypeEnum
    assignee: Identity | None
    priority: Literal['low', 'normal', 'high', 'urgent']
    version: int
    customer_id: int
    customer: ConversationCustomer
    is_preview: bool
    waiting_since: str | None
    snoozed_until: str | None
    handoff_reason: str | None
    previous_chat_id: str | None
    language: str
    tags: list[str]
    sentiment: Literal['positive', 'neutral', 'negative'] | None
    summary: str | None
    unread_count: int
    message_count: int
    last_message: Message | None
    last_message_at: str | None
    first_response_at: str | None
    ended_at: str | None
    ended_by: Literal['customer', 'agent', 'bot', 'inactivity', 'api', 'merged'] | None
    can_reply: bool
    is_reachable: bool
    reply_window_expires_at: str | None
    location: Location | None
    metadata: dict[str, Any]
    created_at: str


class ConversationCustomer(TypedDict):
    external_id: str | None
    name: str | None
    email: str | None
    phone: str | None
    avatar_url: str | None
    attributes: dict[str, Any]
    provider_user_id: str | None


class ConversationEntitiesResponse(TypedDict):
    items: list[ConversationEntity]
    next_cursor: str | None
    resume_cursor: str | None


class ConversationEntity(TypedDict):
    id: str
    chat_code: str
    bot_id: int
    channel: Literal['web', 'api', 'socialnet', 'photoapp', 'chatapp', 'localapp', 'telegram']
    status: Literal['open', 'snoozed', 'ended']
    assign_type: AssignTypeEnum
    assignee: Identity | None
    priority: Literal['low', 'normal', 'high', 'urgent']
    version: int
    customer_id: int
    customer: ConversationCustomer
    is_preview: bool
    waiting_since: str | None
    snoozed_until: str | None
    handoff_reason: str | None
    previous_chat_id: str | None
    language: str
    tags: list[str]
    sentiment: Literal['positive', 'neutral', 'negative'] | None
    summary: str | None
    unread_count: int
    message_count: int
    last_message: Message | None
    last_message_at: str | None
    first_response_at: str | None
    ended_at: str | None
    ended_by: Literal['customer', 'agent', 'bot', 'inactivity', 'api', 'merged'] | None
    can_reply: bool
    is_reachable: bool
    reply_window_expires_at: str | None
    location: Location | None
    metadata: dict[str, Any]
    created_at: str
    assignee_email: str | None
    provider: str
    group_id: str
    requester: Identity | None
    responsible: Identity | None
    external_id: str | None
    handed_off_at: str | None
    assigned_at: str | None
    return_at: str | None
    last_seq: int
    read_from_seq: int
    sentiment_score: float | None
    taggings: list[PortableTag]
    feedback: PortableFeedback | None
    summaries: list[PortableSummary]


class ConversationHistory(TypedDict):
    conversation: Conversation
    customer: ConversationCustomer
    items: list[Message]
    next_cursor: str | None


class ConversationRequest(TypedDict):
    requester: IdentityInput
    responsible: NotRequired[IdentityInput | None]
    provider: NotRequired[str]
    location: NotRequired[LocationInput | None]
    tags: NotRequired[list[str]]
    group_id: NotRequired[str | None]


class ConversationResponse(TypedDict):
    id: str
    requester: Identity
    responsible: Responsible | None
    provider: str
    location: Location | None
    tags: list[str]
    group_id: str | None
    status: Literal['open', 'snoozed', 'ended']
    created_at: str


class ConversationResponses(TypedDict):
    items: list[ConversationResponse]
    next_cursor: str | None


class ConversationsResponse(TypedDict):
    items: list[Conversation]
    next_cursor: str | None


class CreditOrder(TypedDict):
    id: str
    amount: int
    reference: str
    status: Literal['pending', 'paid', 'refused']
    created_at: str


class CreditOrdersResponse(TypedDict):
    items: list[CreditOrder]
    next_cursor: str | None


class CreditPayment(TypedDict):
    order_id: str
    amount: int
    reference: str
    status: Literal['paid', 'refused']


class CurrentReply(TypedDict):
    text: str
    is_answered: bool
    decision: str
    sources: list[str]
    handoff_reason: str | None
    engine: str | None
    confidence: float | None


class CustomerDto(TypedDict):
    external_id: str | None
    name: str | None
    email: str | None
    phone: str | None
    avatar_url: str | None
    attributes: dict[str, Any]
    id: int
    blocked_until: str | None
    block_reason: str | None
    opt_out: Literal['none', 'offers', 'all']
    created_at: str


class CustomerErasure(TypedDict):
    id: str
    customer_id: int
    status: Literal['queued', 'running', 'done', 'failed']
    chats_total: int
    chats_erased: int
    created_at: str
    finished_at: str | None


class CustomerInfo(TypedDict):
    external_id: NotRequired[str | None]
    name: NotRequired[str | None]
    email: NotRequired[str | None]
    phone: NotRequired[str | None]
    avatar_url: NotRequired[str | None]
    attributes: NotRequired[dict[str, Any]]


class CustomerInfoField(TypedDict):
    name: str
    label: dict[str, Any]
    type: Literal['text', 'email', 'phone', 'number', 'date', 'select']
    required: bool
    question: dict[str, Any]
    options: list[Option]
    ask_before_chat: bool
    ask_before_person: bool


class CustomerInfoFieldInput(TypedDict):
    name: str
    label: dict[str, Any]
    type: Literal['text', 'email', 'phone', 'number', 'date', 'select']
    required: NotRequired[bool]
    question: NotRequired[dict[str, Any]]
    options: NotRequired[list[OptionInput]]
    ask_before_chat: NotRequired[bool]
    ask_before_person: NotRequired[bool]


class CustomerInfoFields(TypedDict):
    fields: list[CustomerInfoField]


class CustomerInfoFieldsInput(TypedDict):
    fields: list[CustomerInfoFieldInput]


class CustomerInput(TypedDict):
    external_id: NotRequired[str | None]
    name: NotRequired[str | None]
    email: NotRequired[str | None]
    phone: NotRequired[str | None]
    avatar_url: NotRequired[str | None]
    attributes: NotRequired[dict[str, Any]]
    id: NotRequired[int]
    blocked_until: NotRequired[str | None]
    block_reason: NotRequired[str | None]
    opt_out: NotRequired[Literal['none', 'offers', 'all']]
    created_at: NotRequired[str]


class CustomersResponse(TypedDict):
    items: list[CustomerDto]
    next_cursor: str | None


class DayFigures(TypedDict):
    chats: int
    messages: int
    bot_resolved: int
    handed_off: int
    rating_mean: float | None
    day: str


class DayHours(TypedDict):
    opens: str
    closes: str


class DayHoursInput(TypedDict):
    opens: str
    closes: str


class DeletedCount(TypedDict):
    deleted: int


class DeskView(TypedDict):
    name: str
    query: str
    is_shared: bool
    id: int
    may_delete: bool


class DeskViewInput(TypedDict):
    name: str
    query: str
    is_shared: NotRequired[bool]
    id: NotRequired[int]
    may_delete: NotRequired[bool]


class DeskViews(TypedDict):
    items: list[DeskView]


class DocumentDto(TypedDict):
    id: int
    source: Literal['file', 'web_page', 'text', 'question_answer']
    url: str | None
    file_name: str
    title: str | None
    mime_type: str
    size_bytes: int
    status: DocumentStatus
    stage: DocumentStage
    is_answering: bool
    progress: int
    error: DocumentError | None
    warning: str | None
    chunk_count: int
    is_important: bool
    is_held: bool
    held_change: HeldChange | None
    valid_from: str | None
    valid_to: str | None
    language: str | None
    sha256: str
    created_at: str
    started_at: str | None
    trained_at: str | None


class DocumentError(TypedDict):
    code: str
    message: str

DocumentStage: TypeAlias = "Literal['waiting', 'reading', 'passages', 'sentences', 'complete']"

DocumentStatus: TypeAlias = "Literal['queued', 'training', 'trained', 'failed']"


class DocumentsResponse(TypedDict):
    items: list[DocumentDto]
    next_cursor: str | None
    refused: list[RefusedFile]


class EmailNotificationInput(TypedDict):
    recipients: NotRequired[list[str]]
    on_assigned: NotRequired[bool]
    on_unanswered: NotRequired[bool]
    on_handoff: NotRequired[bool]
    on_channel_error: NotRequired[bool]
    on_low_credit: NotRequired[bool]
    to_assignee: NotRequired[bool]
    unanswered_after_minutes: NotRequired[int]


class EmailNotificationRequest(TypedDict):
    recipients: list[str]
    on_assigned: bool
    on_unanswered: bool
    on_handoff: bool
    on_channel_error: bool
    on_low_credit: bool
    to_assignee: bool
    unanswered_after_minutes: int


class Entry(TypedDict):
    id: NotRequired[str | None]
    time: NotRequired[int | None]
    messaging: NotRequired[list[Messaging]]


class Error(TypedDict):
    detail: str
    code: Literal['account_taken', 'agent_gone', 'agent_has_chat', 'already_answered', 'already_assigned', 'already_decided', 'already_joined', 'attachments_off', 'bad_request', 'bad_signature', 'bot_disabled', 'bot_has_account', 'bot_has_chats', 'bot_limit', 'channel_not_configured', 'channel_not_connected', 'channel_reports', 'chat_continued', 'chat_ended', 'client_frozen', 'client_message_id_taken', 'consent_refused', 'customer_blocked', 'customer_opted_out', 'delete_not_available', 'deletion_held', 'document_limit', 'email_taken', 'endpoint_disabled', 'engine_not_configured', 'engine_unavailable', 'export_failed', 'export_off', 'external_id_taken', 'feedback_given', 'file_missing', 'files_unavailable', 'forbidden', 'golden_limit', 'golden_question_exists', 'golden_running', 'headers_too_large', 'idempotency_key_reused', 'identity_not_signed', 'insufficient_credits', 'internal_error', 'invalid_grant', 'invalid_state', 'invalid_visitor_token', 'last_owner', 'last_staff', 'mail_failed', 'mail_not_configured', 'mcp_limit', 'mcp_unusable', 'method_not_allowed', 'no_banner', 'no_recipients', 'no_templates', 'not_a_preview', 'not_admitted', 'not_authenticated', 'not_found', 'not_held', 'not_latest_message', 'nothing_to_answer', 'nothing_to_replay', 'order_closed', 'otp_required', 'payment_differs', 'payments_not_configured', 'pin_missing', 'preview_off', 'provider_refused', 'provider_required', 'provider_sign_in_failed', 'reference_taken', 'registration_closed', 'registration_token_invalid', 'replay_running', 'reply_window_closed', 'request_in_flight', 'reset_token_invalid', 'same_customer', 'sent_by_channel', 'shortcut_taken', 'source_exists', 'stale_version', 'subscription_inactive', 'summary_running', 'tag_exists', 'template_not_sendable', 'token_missing', 'too_large', 'too_many_endpoints', 'too_many_events', 'too_many_exports', 'too_many_feeds', 'too_many_files', 'too_many_requests', 'too_many_rows', 'too_many_views', 'too_slow', 'unavailable', 'unsupported_grant_type', 'unsupported_media_type', 'web_url_exists', 'web_url_limit', 'wrong_account', 'wrong_signature'] | str
    request_id: str
    field: NotRequired[str]
    version: NotRequired[int]
    error: NotRequired[str]
    error_description: NotRequired[str]
    setting: NotRequired[str]
    balance: NotRequired[int]
    required: NotRequired[int]
    amount: NotRequired[int]
    order_status: NotRequired[str]
    document_id: NotRequired[int]
    assignee: NotRequired[Identity]
    reply_window_expires_at: NotRequired[str]
    run_id: NotRequired[str]
    replay_id: NotRequired[str]
    kind: NotRequired[str]
    provider_code: NotRequired[str | None]
    provider_message: NotRequired[str]
    job_id: NotRequired[str]
    export_id: NotRequired[str]


class Event(TypedDict):
    id: str
    type: str
    timestamp: str
    client_id: int
    conversation_id: str | None
    sequence: int | None
    data: dict[str, Any]
    is_thin: bool
    deliveries: list[WebhookDelivery]


class EventReplayRequest(TypedDict):
    created_from: str
    created_to: NotRequired[str | None]
    state: NotRequired[Literal['gave_up', 'missing', 'undelivered', 'all']]
    type: NotRequired[Literal['conversation.created', 'conversation.assigned', 'conversation.unassigned', 'conversation.handed_off', 'conversation.prioritized', 'conversation.snoozed', 'conversation.ended', 'conversation.reopened', 'message.created', 'message.delivered', 'message.read', 'message.failed', 'message.updated', 'summary.created', 'tags.updated', 'sentiment.updated', 'customer.updated', 'customer.merged', 'feedback.created', 'feedback.updated', 'notification.created', 'document.trained', 'document.failed', 'channel.connected', 'channel.disconnected', 'channel.notified', 'credits.low', 'webhook.test'] | None]
    config_id: NotRequired[str | None]


class EventsResponse(TypedDict):
    items: list[Event]
    next_cursor: str | None


class ExportAdhocReportParam(TypedDict):
    date_from: NotRequired[str | None]
    date_to: NotRequired[str | None]
    timezone: NotRequired[str | None]
    bot_ids: NotRequired[list[int]]
    channels: NotRequired[list[str]]
    statuses: NotRequired[list[Literal['open', 'snoozed', 'ended']]]
    assignee_ids: NotRequired[list[int]]
    tags: NotRequired[list[str]]
    sentiments: NotRequired[list[Literal['positive', 'neutral', 'negative']]]
    languages: NotRequired[list[str]]
    ended_by: NotRequired[list[str]]
    countries: NotRequired[list[str]]
    handed_off: NotRequired[bool | None]
    bot_resolved: NotRequired[bool | None]
    has_feedback: NotRequired[bool | None]
    rating_min: NotRequired[int | None]
    rating_max: NotRequired[int | None]
    q: NotRequired[str | None]
    group_by: NotRequired[list[Literal['day', 'week', 'month', 'hour', 'weekday', 'bot', 'channel', 'agent', 'tag', 'sentiment', 'language', 'country', 'handoff_reason', 'price_category']]]
    metrics: NotRequired[list[Literal['chats', 'messages', 'customers', 'bot_resolved', 'handed_off', 'ended', 'open', 'first_response_p50', 'first_response_p90', 'first_response_mean', 'resolution_p50', 'resolution_p90', 'resolution_mean', 'rating_mean', 'rating_count', 'sentiment_positive', 'sentiment_neutral', 'sentiment_negative', 'credits_used', 'charged_messages', 'message_cost']]]
    sort: NotRequired[str | None]
    format: NotRequired[Literal['csv', 'xlsx']]
    columns: NotRequired[list[str]]
    file_name: NotRequired[str | None]


class FeedAway(TypedDict):
    user_id: int
    is_away: bool


class FeedDeleted(TypedDict):
    conversation_id: str


class FeedPresence(TypedDict):
    user_id: int
    name: str
    is_online: bool


class FeedReady(TypedDict):
    user_id: int
    online: list[int]
    away: list[int]


class FeedTicket(TypedDict):
    ticket: str
    expires_in: int


class FeedTyping(TypedDict):
    conversation_id: str
    sender: Typist
    is_typing: bool


class FeedViewing(TypedDict):
    conversation_id: str
    user_id: int
    name: str
    is_viewing: bool


class FeedbackScreens(TypedDict):
    screen_id: NotRequired[int | None]
    questions: NotRequired[dict[str, Questions]]


class FeedbacksResponse(TypedDict):
    items: list[ChatFeedBackDto]
    next_cursor: str | None


class Figures(TypedDict):
    chats: int
    messages: int
    bot_resolved: int
    handed_off: int
    rating_mean: float | None
    date_from: str
    date_to: str
    customers: int
    ended: int
    open: int
    first_response_seconds: Times
    bot_response_seconds: Times
    person_response_seconds: Times
    resolution_seconds: Times
    rating_count: int
    sentiment: Sentiments
    credits_used: int


class FilterOption(TypedDict):
    value: str
    label: str
    chats: int


class FollowUp(TypedDict):
    type: NotRequired[str | None]
    payload: NotRequired[str | None]


class ForgotPasswordRequest(TypedDict):
    email: str


class FoundContent(TypedDict):
    passages: list[FoundPassage]
    confidence: float


class FoundPassage(TypedDict):
    document_id: int
    title: str
    url: str | None
    page: int | None
    section: str | None
    text: str
    score: float


class FunctionCallDecision(TypedDict):
    approve: bool


class FunctionCallingConfigDTO(TypedDict):
    is_enabled: bool
    max_calls_per_reply: int
    functions: list[FunctionDTO]
    is_available: bool
    unavailable_reason: str | None
    updated_at: str | None


class FunctionCallingConfigInput(TypedDict):
    is_enabled: bool
    max_calls_per_reply: NotRequired[int]
    functions: list[FunctionInput]
    is_available: NotRequired[bool]
    unavailable_reason: NotRequired[str | None]
    updated_at: NotRequired[str | None]


class FunctionCallingEventDTO(TypedDict):
    id: str
    bot_id: int
    chat_id: str | None
    function: str
    arguments: dict[str, Any]
    status: Literal['waiting', 'running', 'succeeded', 'failed', 'refused', 'rejected']
    http_status: int | None
    result_excerpt: str
    duration_ms: int | None
    error: str | None
    requires_approval: Literal['none', 'agent', 'customer']
    decided_by: int | None
    decided_at: str | None
    created_at: str


class FunctionCallingEventsResponse(TypedDict):
    items: list[FunctionCallingEventDTO]
    next_cursor: str | None


class FunctionDTO(TypedDict):
    name: str
    description: str
    parameters: dict[str, Any]
    http: FunctionHttpDTO
    secret_header_names: list[str]
    requires_approval: Literal['none', 'agent', 'customer']


class FunctionHttpDTO(TypedDict):
    method: Literal['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
    url: str
    headers: dict[str, str]
    timeout_seconds: int
    body_template: str


class FunctionHttpInput(TypedDict):
    method: Literal['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
    url: str
    headers: NotRequired[dict[str, str]]
    timeout_seconds: NotRequired[int]
    body_template: NotRequired[str]


class FunctionInput(TypedDict):
    name: str
    description: str
    parameters: dict[str, Any]
    http: FunctionHttpInput
    secret_headers: NotRequired[dict[str, str] | None]
    secret_header_names: NotRequired[list[str]]
    requires_approval: NotRequired[Literal['none', 'agent', 'customer']]


class GenerateChatRequest(TypedDict):
    messages: NotRequired[list[PreviewMessage]]
    language: NotRequired[str | None]
    stream: NotRequired[bool]


class GeneratedChat(TypedDict):
    chat_id: str
    message: Message | None
    status: Literal['answered', 'asked_again', 'pending', 'handed_off', 'not_expected']
    handoff_reason: str | None
    usage: Usage
    engine: str | None
    model: str | None
    citations: list[Citation]


class GoldenCollectRequest(TypedDict):
    source: Literal['samples', 'answers', 'asked']


class GoldenCollected(TypedDict):
    added: list[GoldenQuestionDto]

GoldenOrigin: TypeAlias = "Literal['written', 'samples', 'answers', 'asked']"


class GoldenQuestionDto(TypedDict):
    id: int
    question: str
    expected_source: str | None
    expected_words: list[str]
    expected_answer: str | None
    turns: list[GoldenTurn]
    origin: GoldenOrigin
    created_at: str


class GoldenQuestionInput(TypedDict):
    id: NotRequired[int]
    question: NotRequired[str]
    expected_source: NotRequired[str | None]
    expected_words: NotRequired[list[str]]
    expected_answer: NotRequired[str | None]
    turns: NotRequired[list[GoldenTurnInput]]
    origin: NotRequired[GoldenOrigin]
    created_at: NotRequired[str]


class GoldenQuestionsResponse(TypedDict):
    items: list[GoldenQuestionDto]
    next_cursor: str | None


class GoldenResult(TypedDict):
    question: str
    fault: Literal['no_answer', 'engine_failed', 'words_missing', 'other_source', 'other_answer'] | None
    answer: str
    sources: list[str]
    is_passed: bool
    turns: list[GoldenTurnResult]
    was_passed: bool | None


class GoldenRunDetail(TypedDict):
    id: str
    status: GoldenStatus
    error: str | None
    total: int
    done: int
    passed: int
    broke: list[str]
    better: list[str]
    prompt_version: int | None
    threshold: float | None
    document_ids: list[int]
    outcome: Literal['published', 'held', 'overtaken'] | None
    engine: str | None
    knowledge_version: int
    created_by: int | None
    created_at: str
    finished_at: str | None
    results: list[GoldenResult]


class GoldenRunDto(TypedDict):
    id: str
    status: GoldenStatus
    error: str | None
    total: int
    done: int
    passed: int
    broke: list[str]
    better: list[str]
    prompt_version: int | None
    threshold: float | None
    document_ids: list[int]
    outcome: Literal['published', 'held', 'overtaken'] | None
    engine: str | None
    knowledge_version: int
    created_by: int | None
    created_at: str
    finished_at: str | None


class GoldenRunRequest(TypedDict):
    threshold: NotRequired[float | None]
    prompt_version: NotRequired[int | None]


class GoldenRunsResponse(TypedDict):
    items: list[GoldenRunDto]
    next_cursor: str | None

GoldenStatus: TypeAlias = "Literal['queued', 'running', 'done', 'failed']"


class GoldenTurn(TypedDict):
    question: str
    expected_source: str | None
    expected_words: list[str]
    expected_answer: str | None


class GoldenTurnInput(TypedDict):
    question: str
    expected_source: NotRequired[str | None]
    expected_words: NotRequired[list[str]]
    expected_answer: NotRequired[str | None]


class GoldenTurnResult(TypedDict):
    question: str
    fault: Literal['no_answer', 'engine_failed', 'words_missing', 'other_source', 'other_answer'] | None
    answer: str
    sources: list[str]

GroupStatus: TypeAlias = "Literal['open', 'learning', 'answered']"


class HTTPValidationError(TypedDict):
    detail: list[ValidationError]


class HandoverFigures(TypedDict):
    chats: int
    messages: int
    bot_resolved: int
    handed_off: int
    rating_mean: float | None
    handoff_reason: str | None


class Health(TypedDict):
    status: Literal['ok', 'failed']
    parts: list[Part]


class HeldChange(TypedDict):
    is_deleted: bool
    title: str | None
    content: str | None
    file_name: str | None
    changed: list[str]


class Holiday(TypedDict):
    date: str
    name: str
    hours: list[DayHours]


class HolidayInput(TypedDict):
    date: str
    name: NotRequired[str]
    hours: NotRequired[list[DayHoursInput]]


class HookAttachment(TypedDict):
    type: NotRequired[str | None]
    title: NotRequired[str | None]
    url: NotRequired[str | None]
    payload: NotRequired[dict[str, Any] | None]


class HookDelivery(TypedDict):
    mids: NotRequired[list[str] | None]
    watermark: NotRequired[int | None]


class HookEdit(TypedDict):
    mid: str
    text: NotRequired[str | None]
    num_edit: NotRequired[int | None]


class HookMessage(TypedDict):
    mid: NotRequired[str | None]
    text: NotRequired[str | None]
    is_echo: NotRequired[bool | None]
    is_deleted: NotRequired[bool | None]
    is_unsupported: NotRequired[bool | None]
    app_id: NotRequired[str | None]
    metadata: NotRequired[str | None]
    quick_reply: NotRequired[dict[str, Any] | None]
    reply_to: NotRequired[HookReply | None]
    attachments: NotRequired[list[HookAttachment] | None]
    referral: NotRequired[dict[str, Any] | None]


class HookPostback(TypedDict):
    mid: NotRequired[str | None]
    title: NotRequired[str | None]
    payload: NotRequired[str | None]
    referral: NotRequired[dict[str, Any] | None]


class HookReaction(TypedDict):
    mid: str
    action: NotRequired[str | None]
    reaction: NotRequired[str | None]
    emoji: NotRequired[str | None]


class HookRead(TypedDict):
    mid: NotRequired[str | None]
    watermark: NotRequired[int | None]


class HookReply(TypedDict):
    mid: NotRequired[str | None]
    story: NotRequired[dict[str, Any] | None]


class HookThumb(TypedDict):
    mid: str
    feedback: NotRequired[str | None]


class HourFigures(TypedDict):
    chats: int
    messages: int
    bot_resolved: int
    handed_off: int
    rating_mean: float | None
    hour: int


class Identity(TypedDict):
    external_id: str
    name: str


class IdentityInput(TypedDict):
    external_id: str
    name: NotRequired[str]


class ImportantDocumentDto(TypedDict):
    is_important: NotRequired[bool]
    valid_from: NotRequired[str | None]
    valid_to: NotRequired[str | None]


class KnownVisitor(TypedDict):
    visitor_token: str | None
    chats: list[VisitorChat]


class LanguageFigures(TypedDict):
    chats: int
    messages: int
    bot_resolved: int
    handed_off: int
    rating_mean: float | None
    language: str


class LanguageModelDto(TypedDict):
    bot_id: int | None
    purpose: Literal['chat', 'embeddings']
    base_url: str
    model: str
    has_api_key: bool
    reads_pictures: bool
    transcription_model: str
    credits_per_1000_tokens: int
    indexed_percent: int | None
    updated_at: str


class LanguageModelInput(TypedDict):
    bot_id: NotRequired[int | None]
    purpose: NotRequired[Literal['chat', 'embeddings']]
    base_url: str
    model: str
    api_key: NotRequired[str | None]
    has_api_key: NotRequired[bool]
    reads_pictures: NotRequired[bool]
    transcription_model: NotRequired[str]
    credits_per_1000_tokens: NotRequired[int]
    indexed_percent: NotRequired[int | None]
    updated_at: NotRequired[str]


class LanguageModelTest(TypedDict):
    is_working: bool
    error: str | None
    answered_by: str | None
    tokens: int
    duration_ms: int


class LanguageModelsResponse(TypedDict):
    items: list[LanguageModelDto]
    next_cursor: str | None


class ListedConversation(TypedDict):
    id: str
    chat_code: str
    bot_id: int
    channel: Literal['web', 'api', 'socialnet', 'photoapp', 'chatapp', 'localapp', 'telegram']
    status: Literal['open', 'snoozed', 'ended']
    assign_type: AssignTypeEnum
    assignee: Identity | None
    priority: Literal['low', 'normal', 'high', 'urgent']
    version: int
    customer_id: int
    customer: ConversationCustomer
    is_preview: bool
    waiting_since: str | None
    snoozed_until: str | None
    handoff_reason: str | None
    previous_chat_id: str | None
    language: str
    tags: list[str]
    sentiment: Literal['positive', 'neutral', 'negative'] | None
    summary: str | None
    unread_count: int
    message_count: int
    last_message: Message | None
    last_message_at: str | None
    first_response_at: str | None
    ended_at: str | None
    ended_by: Literal['customer', 'agent', 'bot', 'inactivity', 'api', 'merged'] | None
    can_reply: bool
    is_reachable: bool
    reply_window_expires_at: str | None
    location: Location | None
    metadata: dict[str, Any]
    created_at: str
    queue_details: QueueDetails | None
    found_message: Message | None


class LocalappAttachment(TypedDict):
    type: NotRequired[str | None]
    payload: NotRequired[dict[str, Any] | None]


class LocalappEvent(TypedDict):
    event_name: NotRequired[str | None]
    app_id: NotRequired[str | None]
    oa_id: NotRequired[str | None]
    timestamp: NotRequired[str | None]
    sender: NotRequired[Party | None]
    recipient: NotRequired[Party | None]
    message: NotRequired[LocalappMessage | None]
    info: NotRequired[dict[str, Any] | None]


class LocalappMessage(TypedDict):
    msg_id: NotRequired[str | None]
    msg_ids: NotRequired[list[str] | None]
    text: NotRequired[str | None]
    quote_msg_id: NotRequired[str | None]
    react_icon: NotRequired[str | None]
    attachments: NotRequired[list[LocalappAttachment] | None]
    product_id: NotRequired[str | None]
    rate: NotRequired[str | None]
    note: NotRequired[str | None]
    feedbacks: NotRequired[list[str] | None]


class LocalappOAConnectDto(TypedDict):
    redirect_uri: str
    oa_id: NotRequired[str | None]


class Location(TypedDict):
    country: NotRequired[str | None]
    region: NotRequired[str | None]
    city: NotRequired[str | None]
    timezone: NotRequired[str | None]
    latitude: NotRequired[float | None]
    longitude: NotRequired[float | None]


class LocationInput(TypedDict):
    country: NotRequired[str | None]
    region: NotRequired[str | None]
    city: NotRequired[str | None]
    timezone: NotRequired[str | None]
    latitude: NotRequired[float | None]
    longitude: NotRequired[float | None]


class ManualChatFilesDto(TypedDict):
    files: list[bytes]
    client_message_id: NotRequired[str | None]
    text: NotRequired[str]
    is_note: NotRequired[bool]


class ManualChatMessageDto(TypedDict):
    text: str
    client_message_id: NotRequired[str | None]
    attachments: NotRequired[list[MessageContentInput]]
    is_note: NotRequired[bool]


class McpFault(TypedDict):
    jsonrpc: Literal['2.0']
    id: int | str
    error: dict[str, Any]


class McpRequest(TypedDict):
    jsonrpc: Literal['2.0']
    id: NotRequired[int | str | None]
    method: str
    params: NotRequired[dict[str, Any] | None]


class McpResult(TypedDict):
    jsonrpc: Literal['2.0']
    id: int | str
    result: dict[str, Any]


class McpServerChange(TypedDict):
    name: NotRequired[str | None]
    url: NotRequired[str | None]
    token: NotRequired[str | None]
    is_enabled: NotRequired[bool | None]
    allowed: NotRequired[list[McpToolChoice] | None]
    id: NotRequired[str]
    has_token: NotRequired[bool]
    tools: NotRequired[list[dict[str, Any]]]
    listed_at: NotRequired[str]
    created_at: NotRequired[str]


class McpServerDto(TypedDict):
    id: str
    name: str
    url: str
    has_token: bool
    is_enabled: bool
    tools: list[McpToolDto]
    listed_at: str
    created_at: str


class McpServerRequest(TypedDict):
    name: NotRequired[str | None]
    url: NotRequired[str | None]
    token: NotRequired[str | None]
    is_enabled: NotRequired[bool | None]
    allowed: NotRequired[list[McpToolChoice] | None]


class McpServersResponse(TypedDict):
    items: list[McpServerDto]
    next_cursor: str | None


class McpToolChoice(TypedDict):
    name: str
    requires_approval: NotRequired[Literal['none', 'agent', 'customer']]
    version: NotRequired[str | None]


class McpToolDto(TypedDict):
    name: str
    description: str
    parameters: dict[str, Any]
    version: str
    state: Literal['allowed', 'not_allowed', 'changed', 'gone', 'unusable']
    requires_approval: Literal['none', 'agent', 'customer'] | None
    function: str | None
    problem: str | None


class Message(TypedDict):
    id: str
    conversation_id: str
    seq: int
    sender: Sender
    recipient: Recipient | None
    content: list[MessageContent]
    status: Literal['pending', 'sent', 'delivered', 'read', 'failed']
    error: str | None
    in_reply_to: str | None
    is_note: bool
    is_welcome: bool
    client_message_id: str | None
    provider_message_id: str | None
    language: str | None
    translations: dict[str, str]
    sentiment: Literal['positive', 'neutral', 'negative'] | None
    citations: list[Citation]
    created_at: str
    delivered_at: str | None
    read_at: str | None
    edited_at: str | None
    deleted_at: str | None
    customer_reaction: str | None
    metadata: dict[str, Any]


class MessageContent(TypedDict):
    type: Literal['text', 'image', 'file', 'audio', 'video', 'location', 'template', 'feedback']
    text: str | None
    url: str | None
    file_name: str | None
    mime_type: str | None
    size_bytes: int | None
    error: str | None
    location: Location | None
    options: list[MessageOption] | None
    citations: list[Citation] | None
    template: SentTemplate | None
    transcript: str | None


class MessageContentInput(TypedDict):
    type: Literal['text', 'image', 'file', 'audio', 'video', 'location']
    text: NotRequired[str | None]
    url: NotRequired[str | None]
    file_name: NotRequired[str | None]
    mime_type: NotRequired[str | None]
    size_bytes: NotRequired[int | None]
    error: NotRequired[str | None]
    location: NotRequired[LocationInput | None]
    options: NotRequired[list[MessageOptionInput] | None]
    citations: NotRequired[list[CitationInput] | None]
    template: NotRequired[SentTemplate | None]
    transcript: NotRequired[str | None]


class MessageEdit(TypedDict):
    text: str


class MessageEntitiesResponse(TypedDict):
    items: list[MessageEntity]
    next_cursor: str | None
    resume_cursor: str | None


class MessageEntity(TypedDict):
    id: str
    conversation_id: str
    seq: int
    sender: Sender
    recipient: Recipient | None
    content: list[MessageContent]
    status: Literal['pending', 'sent', 'delivered', 'read', 'failed']
    error: str | None
    in_reply_to: str | None
    is_note: bool
    is_welcome: bool
    client_message_id: str | None
    provider_message_id: str | None
    language: str | None
    translations: dict[str, str]
    sentiment: Literal['positive', 'neutral', 'negative'] | None
    citations: list[Citation]
    created_at: str
    delivered_at: str | None
    read_at: str | None
    edited_at: str | None
    deleted_at: str | None
    customer_reaction: str | None
    metadata: dict[str, Any]
    external_id: str | None
    sent_at: str | None
    receipt: dict[str, Any] | None
    feedback: PortableFeedback | None


class MessageHook(TypedDict):
    object: NotRequired[str | None]
    entry: NotRequired[list[Entry]]


class MessageOption(TypedDict):
    label: str
    value: str


class MessageOptionInput(TypedDict):
    label: str
    value: str


class MessageRequest(TypedDict):
    sender: SenderInput
    recipient: NotRequired[RecipientInput | None]
    content: NotRequired[list[MessageContentInput]]
    text: NotRequired[str | None]
    client_message_id: NotRequired[str | None]
    in_reply_to: NotRequired[str | None]
    sent_at: NotRequired[str | None]
    generate_reply: NotRequired[bool]
    metadata: NotRequired[dict[str, Any]]


class MessagesResponse(TypedDict):
    items: list[Message]
    next_cursor: str | None


class Messaging(TypedDict):
    sender: NotRequired[Party | None]
    recipient: NotRequired[Party | None]
    timestamp: NotRequired[int | None]
    message: NotRequired[HookMessage | None]
    postback: NotRequired[HookPostback | None]
    reaction: NotRequired[HookReaction | None]
    delivery: NotRequired[HookDelivery | None]
    read: NotRequired[HookRead | None]
    referral: NotRequired[dict[str, Any] | None]
    message_edit: NotRequired[HookEdit | None]
    messaging_feedback: NotRequired[MessagingFeedback | None]
    response_feedback: NotRequired[HookThumb | None]
    take_thread_control: NotRequired[dict[str, Any] | None]
    pass_thread_control: NotRequired[dict[str, Any] | None]
    policy_enforcement: NotRequired[dict[str, Any] | None]


class MessagingFeedback(TypedDict):
    feedback_screens: NotRequired[list[FeedbackScreens]]


class MessagingMessagesResponse(TypedDict):
    items: list[MessageEntity]
    next_cursor: str | None


class MessengerConnectDto(TypedDict):
    redirect_uri: str
    code: NotRequired[str | None]
    state: NotRequired[str | None]


class MessengerConnectPageDto(TypedDict):
    page_id: NotRequired[str | None]


class MuteWarningDto(TypedDict):
    code: Literal['chats_unanswered', 'chats_unanswered_soon', 'queue_growing', 'negative_sentiment', 'low_ratings', 'channel_broken', 'channel_notices', 'channel_token_expiring', 'webhook_failing', 'training_failed', 'documents_held', 'functions_without_model', 'credits_used_up', 'credits_low', 'credits_end_soon', 'model_errors']
    until: str | None


class NewPushSubscription(TypedDict):
    endpoint: str
    keys: PushKeys
    expirationTime: NotRequired[float | None]


class NotificationsResponse(TypedDict):
    items: list[AssignNotification]
    next_cursor: str | None


class NumberedOption(TypedDict):
    id: int
    name: str
    chats: int


class Option(TypedDict):
    label: str
    value: str


class OptionInput(TypedDict):
    label: str
    value: str


class OriginalReply(TypedDict):
    text: str
    is_answered: bool
    decision: str
    sources: list[str]


class OwnPassword(TypedDict):
    current_password: str
    new_password: str


class OwnUser(TypedDict):
    full_name: NotRequired[str | None]
    language: NotRequired[str | None]
    avatar_url: NotRequired[str | None]
    is_away: NotRequired[bool | None]
    id: NotRequired[int]
    client_id: NotRequired[int]
    email: NotRequired[str]
    role: NotRequired[str]
    can_train: NotRequired[bool]
    is_disabled: NotRequired[bool]
    last_login_at: NotRequired[str]
    created_at: NotRequired[str]


class PageCounts(TypedDict):
    training: int
    trained: int
    unchanged: int
    refused: int
    failed: int


class Part(TypedDict):
    name: str
    status: Literal['ok', 'failed']
    detail: str
    duration_ms: float


class Party(TypedDict):
    id: NotRequired[str | None]


class Passage(TypedDict):
    chunk_id: int
    score: float
    document_id: int | None
    title: str | None
    url: str | None
    page: int | None
    text: str | None


class PhotoappConnectDto(TypedDict):
    redirect_uri: str
    code: NotRequired[str | None]
    state: NotRequired[str | None]
    login: NotRequired[Literal['page', 'direct']]


class PhotoappConnectPageDto(TypedDict):
    page_id: str


class PlatformWord(TypedDict):
    name: Literal['greeting', 'thanks', 'goodbye', 'about_bot', 'person_possible', 'unknown', 'nearest', 'person_button', 'part_unknown', 'found', 'found_foreign', 'handover', 'handover_no_answer', 'closed', 'no_person', 'approval_needed', 'confirm', 'done', 'declined', 'call_failed', 'agent_declined', 'before_person', 'ask_info', 'info_noted', 'info_declined', 'not_email', 'not_phone', 'not_number', 'not_date', 'not_option', 'survey_question', 'survey_note', 'survey_button']
    said_when: str
    default: dict[str, str]
    own: dict[str, Any]


class PlatformWordInput(TypedDict):
    name: Literal['greeting', 'thanks', 'goodbye', 'about_bot', 'person_possible', 'unknown', 'nearest', 'person_button', 'part_unknown', 'found', 'found_foreign', 'handover', 'handover_no_answer', 'closed', 'no_person', 'approval_needed', 'confirm', 'done', 'declined', 'call_failed', 'agent_declined', 'before_person', 'ask_info', 'info_noted', 'info_declined', 'not_email', 'not_phone', 'not_number', 'not_date', 'not_option', 'survey_question', 'survey_note', 'survey_button']
    said_when: NotRequired[str]
    default: NotRequired[dict[str, str]]
    own: NotRequired[dict[str, Any]]


class PlatformWords(TypedDict):
    words: list[PlatformWord]


class PlatformWordsInput(TypedDict):
    words: list[PlatformWordInput]


class PortableFeedback(TypedDict):
    rating: int | None
    thumb: Literal['up', 'down'] | None
    reason: Literal['wrong_answer', 'not_understood', 'no_solution', 'too_slow', 'unfriendly', 'other'] | None
    resolved: bool | None
    comment: str
    created_at: str
    updated_at: str | None


class PortableSummary(TypedDict):
    summary: str
    language: str
    key_points: list[str]
    customer_intent: str
    resolution: str
    message_count: int
    engine: str
    created_at: str


class PortableTag(TypedDict):
    name: str
    source: Literal['agent', 'ai', 'customer']
    confidence: float | None
    created_at: str


class PreviewMessage(TypedDict):
    role: Literal['user', 'assistant']
    content: str


class Procedure(TypedDict):
    name: str
    starts_with: list[str]
    steps: str
    is_enabled: bool


class ProcedureInput(TypedDict):
    name: str
    starts_with: list[str]
    steps: str
    is_enabled: NotRequired[bool]


class ProcedureStep(TypedDict):
    line: int | None
    kind: str
    name: str | None
    result: str
    by: str | None
    call_id: str | None
    error: str | None


class ProcedureTrace(TypedDict):
    name: str
    waits_for: str | None
    steps: list[ProcedureStep]


class Procedures(TypedDict):
    procedures: list[Procedure]


class ProceduresInput(TypedDict):
    procedures: list[ProcedureInput]


class PromptDto(TypedDict):
    id: int
    version: int
    content: str
    tone: str | None
    language: str | None
    model: str | None
    temperature: float | None
    is_current: bool
    created_by: int | None
    created_at: str


class PromptInput(TypedDict):
    id: NotRequired[int]
    version: NotRequired[int]
    content: str
    tone: NotRequired[str | None]
    language: NotRequired[str | None]
    model: NotRequired[str | None]
    temperature: NotRequired[float | None]
    is_current: NotRequired[bool]
    created_by: NotRequired[int | None]
    created_at: NotRequired[str]


class PromptVersionsResponse(TypedDict):
    items: list[PromptDto]
    next_cursor: str | None


class PushKey(TypedDict):
    public_key: str


class PushKeys(TypedDict):
    p256dh: str
    auth: str


class PushSubscription(TypedDict):
    id: str
    device: str
    created_at: str


class PushSubscriptionsResponse(TypedDict):
    items: list[PushSubscription]
    next_cursor: str | None


class QuestionAnswerDto(TypedDict):
    status: DocumentStatus
    stage: DocumentStage
    is_answering: bool
    progress: int
    error: DocumentError | None
    language: str | None
    held_change: HeldChange | None
    created_at: str
    updated_at: str
    trained_at: str | None
    id: int
    question: str
    answer: str


class QuestionAnswerInput(TypedDict):
    status: NotRequired[DocumentStatus]
    stage: NotRequired[DocumentStage]
    is_answering: NotRequired[bool]
    progress: NotRequired[int]
    error: NotRequired[DocumentError | None]
    language: NotRequired[str | None]
    held_change: NotRequired[HeldChange | None]
    created_at: NotRequired[str]
    updated_at: NotRequired[str]
    trained_at: NotRequired[str | None]
    id: NotRequired[int]
    question: str
    answer: str


class QuestionAnswersResponse(TypedDict):
    items: list[QuestionAnswerDto]
    next_cursor: str | None


class Questions(TypedDict):
    type: NotRequired[str | None]
    payload: NotRequired[str | None]
    follow_up: NotRequired[FollowUp | None]


class QueueDetails(TypedDict):
    messages: list[QueuedMessage]
    note: QueueNote | None
    returned: QueueReturn | None
    previous_rating: int | None


class QueueNote(TypedDict):
    name: str
    text: str


class QueueReturn(TypedDict):
    name: str | None
    reason: str


class QueuedFile(TypedDict):
    type: Literal['image', 'file', 'audio', 'video']
    file_name: str | None
    line: dict[str, Any] | None


class QueuedMessage(TypedDict):
    seq: int
    text: str
    files: list[QueuedFile]
    translations: dict[str, str]
    is_earlier: bool
    is_request: bool


class ReadCount(TypedDict):
    count: int


class Recipient(TypedDict):
    type: Literal['customer', 'bot', 'agent', 'system']
    id: str | None
    name: str


class RecipientInput(TypedDict):
    type: Literal['customer', 'bot', 'agent', 'system']
    id: NotRequired[str | None]
    name: NotRequired[str]


class RefusedFile(TypedDict):
    position: int
    file_name: str
    code: str
    message: str


class RegisterTrialDto(TypedDict):
    company_name: str
    full_name: str
    email: str
    language: NotRequired[str]
    timezone: NotRequired[str]
    password: str


class RegistrationPending(TypedDict):
    status: Literal['unconfirmed']


class RenderedReply(TypedDict):
    text: str
    language: str
    missing: list[str]


class Replay(TypedDict):
    config_id: str
    created_from: str
    created_to: str
    state: Literal['gave_up', 'missing', 'undelivered', 'all']
    type: str | None

ReplayChange: TypeAlias = "Literal['gained', 'lost', 'changed', 'answered', 'unanswered']"


class ReplayDto(TypedDict):
    id: str
    day: str
    status: ReplayStatus
    error: str | None
    total: int
    is_cut: bool
    with_calls: int
    done: int
    gained: int
    lost: int
    changed: int
    answered: int
    unanswered: int
    engine: str | None
    knowledge_version: int | None
    created_at: str
    finished_at: str | None


class ReplayRequest(TypedDict):
    day: str
    limit: NotRequired[int]

ReplayStatus: TypeAlias = "Literal['queued', 'running', 'done', 'failed']"


class ReplayedReplyDto(TypedDict):
    chat_id: str
    chat_code: str
    message_id: str
    change: ReplayChange
    question: str
    then: OriginalReply
    today: OriginalReply


class ReplayedResponse(TypedDict):
    items: list[ReplayedReplyDto]
    next_cursor: str | None


class ReplayedTurn(TypedDict):
    message_id: str
    question: str
    said_at: str
    called_functions: bool
    then: OriginalReply
    today: CurrentReply


class ReplaysResponse(TypedDict):
    items: list[ReplayDto]
    next_cursor: str | None


class ReplyDelta(TypedDict):
    text: str


class ReplyReceipt(TypedDict):
    message_id: str
    answers: list[str]
    decision: str | None
    asks_for: str | None
    before_handoff: str | None
    filled: list[str]
    passed_over: str | None
    asked_again: bool
    while_waiting: bool
    handoff_reason: str | None
    confidence: float | None
    threshold: float | None
    passages: list[Passage]
    knowledge_version: int | None
    prompt_version: int | None
    engine: str | None
    model: str | None
    engine_error: str | None
    call_ids: list[str]
    usage: Usage
    procedure: ProcedureTrace | None


class ReplyReset(TypedDict): ...


class ReplySuggestions(TypedDict):
    suggestions: list[Suggestion]


class ReportColumn(TypedDict):
    name: str
    label: str
    type: Literal['text', 'number', 'boolean', 'date', 'moment', 'texts']
    unit: Literal['seconds', 'credits', 'stars'] | None


class ResendRegistrationRequest(TypedDict):
    email: str


class ResetPasswordRequest(TypedDict):
    token: str
    new_password: str


class Responsible(TypedDict):
    external_id: str
    name: str
    user_id: int | None


class ReuploadFilesRequest(TypedDict):
    document_ids: list[int]


class ReuploadFilesResponse(TypedDict):
    queued: list[int]
    skipped: list[SkippedFile]


class RevokeTokenRequest(TypedDict):
    token: NotRequired[str]
    token_type_hint: NotRequired[Literal['access_token', 'refresh_token'] | None]
    client_id: NotRequired[str | None]


class RewriteRequest(TypedDict):
    text: str
    style: Literal['shorter', 'friendlier', 'spelling', 'translated']


class RewrittenText(TypedDict):
    text: str


class SampleQuestionDto(TypedDict):
    id: int | None
    question: str
    language: str | None
    position: int


class SampleQuestionInput(TypedDict):
    id: NotRequired[int | None]
    question: str
    language: NotRequired[str | None]
    position: NotRequired[int]


class SampleQuestions(TypedDict):
    questions: list[SampleQuestionInput]


class SampleQuestionsResponse(TypedDict):
    items: list[SampleQuestionDto]
    next_cursor: str | None


class SavedRepliesResponse(TypedDict):
    items: list[SavedReplyDto]
    next_cursor: str | None


class SavedReplyDto(TypedDict):
    shortcut: str
    texts: dict[str, Any]
    is_shared: bool
    id: int
    created_at: str
    updated_at: str


class SavedReplyInput(TypedDict):
    shortcut: NotRequired[str]
    texts: NotRequired[dict[str, Any]]
    is_shared: NotRequired[bool]
    id: NotRequired[int]
    created_at: NotRequired[str]
    updated_at: NotRequired[str]


class SearchAdhocReportParam(TypedDict):
    date_from: NotRequired[str | None]
    date_to: NotRequired[str | None]
    timezone: NotRequired[str | None]
    bot_ids: NotRequired[list[int]]
    channels: NotRequired[list[str]]
    statuses: NotRequired[list[Literal['open', 'snoozed', 'ended']]]
    assignee_ids: NotRequired[list[int]]
    tags: NotRequired[list[str]]
    sentiments: NotRequired[list[Literal['positive', 'neutral', 'negative']]]
    languages: NotRequired[list[str]]
    ended_by: NotRequired[list[str]]
    countries: NotRequired[list[str]]
    handed_off: NotRequired[bool | None]
    bot_resolved: NotRequired[bool | None]
    has_feedback: NotRequired[bool | None]
    rating_min: NotRequired[int | None]
    rating_max: NotRequired[int | None]
    q: NotRequired[str | None]
    group_by: NotRequired[list[Literal['day', 'week', 'month', 'hour', 'weekday', 'bot', 'channel', 'agent', 'tag', 'sentiment', 'language', 'country', 'handoff_reason', 'price_category']]]
    metrics: NotRequired[list[Literal['chats', 'messages', 'customers', 'bot_resolved', 'handed_off', 'ended', 'open', 'first_response_p50', 'first_response_p90', 'first_response_mean', 'resolution_p50', 'resolution_p90', 'resolution_mean', 'rating_mean', 'rating_count', 'sentiment_positive', 'sentiment_neutral', 'sentiment_negative', 'credits_used', 'charged_messages', 'message_cost']]]
    sort: NotRequired[str | None]
    cursor: NotRequired[str | None]
    limit: NotRequired[int]


class Sender(TypedDict):
    type: Literal['customer', 'bot', 'agent', 'system']
    id: str | None
    name: str


class SenderInput(TypedDict):
    type: Literal['customer', 'bot', 'agent', 'system']
    id: NotRequired[str | None]
    name: NotRequired[str]


class SentTemplate(TypedDict):
    name: str
    language: str
    values: list[str]


class Sentiments(TypedDict):
    positive: int
    neutral: int
    negative: int


class SignInProviderDto(TypedDict):
    issuer: str
    application_id: str
    email_domains: list[str]
    is_required: bool
    creates_agents: bool
    admits_owners: bool
    sign_in_url: str
    redirect_url: str
    updated_at: str


class SignInProviderInput(TypedDict):
    issuer: str
    application_id: str
    application_secret: NotRequired[str | None]
    email_domains: list[str]
    is_required: NotRequired[bool]
    creates_agents: NotRequired[bool]
    admits_owners: NotRequired[bool]
    sign_in_url: NotRequired[str]
    redirect_url: NotRequired[str]
    updated_at: NotRequired[str]


class SkippedFile(TypedDict):
    id: int
    reason: str


class SocialnetAccessToken(TypedDict):
    access_token: str
    expires_in: NotRequired[int | None]
    user_external_id: NotRequired[str]


class StoredEvent(TypedDict):
    id: str
    type: str
    timestamp: str
    client_id: int
    conversation_id: str | None
    sequence: int | None
    data: dict[str, Any]


class SubscriptionDto(TypedDict):
    plan: Literal['trial', 'standard', 'unlimited']
    credits_included: int
    credits_left: int
    credits_used: int
    period_start: str
    period_end: str | None
    is_active: bool


class Suggestion(TypedDict):
    text: str
    citations: list[Citation]


class SuggestionRequest(TypedDict):
    count: NotRequired[int]
    tone: NotRequired[str | None]


class SummarizeRequest(TypedDict):
    text: NotRequired[str | None]
    messages: NotRequired[list[ChatGptMessage] | None]
    max_words: NotRequired[int]
    language: NotRequired[str | None]


class SummarizeResponse(TypedDict):
    summary: str
    key_points: list[str]
    engine: str


class SummaryCalculateRequest(TypedDict):
    bot_id: NotRequired[int | None]
    created_from: NotRequired[str | None]
    created_to: NotRequired[str | None]
    force: NotRequired[bool]


class SummaryJob(TypedDict):
    id: str
    status: Literal['queued', 'running', 'done', 'failed']
    total: int
    done: int
    failed: int
    created_at: str
    finished_at: str | None


class Tag(TypedDict):
    id: int | None
    name: str
    source: Literal['agent', 'ai', 'customer'] | None
    confidence: float | None
    count: int | None
    colour: str | None


class TagFigures(TypedDict):
    chats: int
    messages: int
    bot_resolved: int
    handed_off: int
    rating_mean: float | None
    tag: str | None


class TagInput(TypedDict):
    id: NotRequired[int | None]
    name: str
    source: NotRequired[Literal['agent', 'ai', 'customer'] | None]
    confidence: NotRequired[float | None]
    count: NotRequired[int | None]
    colour: NotRequired[str | None]


class TagMerge(TypedDict):
    into: str


class Tags(TypedDict):
    tags: list[Tag]


class TagsInput(TypedDict):
    tags: list[TagInput | str]


class TelegramUpdate(TypedDict):
    update_id: NotRequired[int | None]
    message: NotRequired[dict[str, Any] | None]
    edited_message: NotRequired[dict[str, Any] | None]
    callback_query: NotRequired[dict[str, Any] | None]
    my_chat_member: NotRequired[dict[str, Any] | None]
    message_reaction: NotRequired[dict[str, Any] | None]


class TestedRecipients(TypedDict):
    recipients: list[str]


class TextDto(TypedDict):
    status: DocumentStatus
    stage: DocumentStage
    is_answering: bool
    progress: int
    error: DocumentError | None
    language: str | None
    held_change: HeldChange | None
    created_at: str
    updated_at: str
    trained_at: str | None
    id: int
    title: str
    text: str


class TextInput(TypedDict):
    status: NotRequired[DocumentStatus]
    stage: NotRequired[DocumentStage]
    is_answering: NotRequired[bool]
    progress: NotRequired[int]
    error: NotRequired[DocumentError | None]
    language: NotRequired[str | None]
    held_change: NotRequired[HeldChange | None]
    created_at: NotRequired[str]
    updated_at: NotRequired[str]
    trained_at: NotRequired[str | None]
    id: NotRequired[int]
    title: str
    text: str


class TextsResponse(TypedDict):
    items: list[TextDto]
    next_cursor: str | None


class Times(TypedDict):
    p50: float | None
    p90: float | None
    mean: float | None


class ToggleDisableBotDto(TypedDict):
    is_disabled: bool


class TokenConnectDto(TypedDict):
    token: str


class TokenResponse(TypedDict):
    access_token: str
    token_type: Literal['bearer']
    expires_in: int
    refresh_token: str
    scope: str


class TopUpAmount(TypedDict):
    amount: int
    reference: str


class Transcript(TypedDict):
    chat_code: str
    bot_name: str
    created_at: str
    ended_at: str | None
    messages: list[TranscriptLine]


class TranscriptLine(TypedDict):
    sender: str
    name: str
    text: str
    options: list[str]
    files: list[str]
    created_at: str


class TranscriptMail(TypedDict):
    email: str
    timezone: NotRequired[str | None]


class TranslationRequest(TypedDict):
    text: str
    out_lang_code: str


class TranslationResponse(TypedDict):
    text: str
    in_lang_code: str
    out_lang_code: str
    engine: str


class Typing(TypedDict):
    is_typing: NotRequired[bool]


class Typist(TypedDict):
    type: Literal['agent', 'customer']
    id: str
    name: str


class UnansweredQuestion(TypedDict):
    id: int
    question: str
    count: int
    latest_at: str | None
    status: GroupStatus
    document_id: int | None
    asked_again_at: str | None
    answer: str | None
    sources: list[str]
    fault: str | None


class UnansweredResponse(TypedDict):
    items: list[UnansweredQuestion]
    next_cursor: str | None


class UploadLimits(TypedDict):
    max_files: int
    max_file_bytes: int
    max_request_bytes: int


class Usage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    credits: int


class UserDisableFlag(TypedDict):
    is_disabled: bool


class UserDto(TypedDict):
    id: int
    client_id: int
    email: str
    full_name: str
    role: Literal['owner', 'admin', 'agent', 'viewer']
    can_train: bool
    is_disabled: bool
    is_away: bool
    language: str
    avatar_url: str | None
    last_login_at: str | None
    is_invited: bool
    created_at: str


class UserInput(TypedDict):
    id: NotRequired[int]
    client_id: NotRequired[int]
    email: str
    full_name: str
    role: NotRequired[Literal['owner', 'admin', 'agent', 'viewer']]
    can_train: NotRequired[bool]
    is_disabled: NotRequired[bool]
    is_away: NotRequired[bool]
    language: NotRequired[str]
    avatar_url: NotRequired[str | None]
    last_login_at: NotRequired[str | None]
    is_invited: NotRequired[bool]
    created_at: NotRequired[str]
    password: NotRequired[str | None]


class UserPassword(TypedDict):
    password: str


class UserRole(TypedDict):
    role: Literal['owner', 'admin', 'agent', 'viewer']
    can_train: NotRequired[bool | None]


class UsersResponse(TypedDict):
    items: list[UserDto]
    next_cursor: str | None


class ValidationError(TypedDict):
    loc: list[str | int]
    msg: str
    type: str


class VerifyResetTokenRequest(TypedDict):
    token: str


class Viewing(TypedDict):
    is_viewing: NotRequired[bool]


class VisitorAgent(TypedDict):
    name: str
    avatar_url: str | None
    is_typing: bool


class VisitorChat(TypedDict):
    id: str
    status: Literal['open', 'snoozed', 'ended']
    last_message_at: str
    text: str


class VisitorConversation(TypedDict):
    id: str
    chat_code: str
    bot_id: int
    visitor_token: str
    status: Literal['open', 'snoozed', 'ended']
    assign_type: AssignTypeEnum
    agent: VisitorAgent | None
    customer: VisitorCustomer
    previous_chat_id: str | None
    language: str
    message_count: int
    last_message_at: str | None
    last_event_seq: int
    waiting_since: str | None
    place_in_queue: int | None
    ended_at: str | None
    is_rated: bool
    can_reply: bool
    is_blocked: bool
    created_at: str


class VisitorCustomer(TypedDict):
    name: str | None
    email: str | None
    phone: str | None


class VisitorIdentity(TypedDict):
    external_id: str
    identity_signature: NotRequired[str | None]


class VisitorMessage(TypedDict):
    id: str
    conversation_id: str
    seq: int
    sender: VisitorSender
    content: list[MessageContent]
    in_reply_to: str | None
    is_welcome: bool
    client_message_id: str | None
    language: str | None
    translations: dict[str, str]
    citations: list[Citation]
    is_seen: bool
    created_at: str
    edited_at: str | None
    deleted_at: str | None


class VisitorMessages(TypedDict):
    items: list[VisitorMessage]
    next_cursor: str | None


class VisitorSender(TypedDict):
    type: Literal['customer', 'bot', 'agent', 'system']
    name: str


class VisitorTurn(TypedDict):
    message: VisitorMessage
    reply: VisitorMessage | None
    status: Literal['answered', 'asked_again', 'pending', 'handed_off', 'not_expected']


class Warning(TypedDict):
    code: Literal['chats_unanswered', 'chats_unanswered_soon', 'queue_growing', 'negative_sentiment', 'low_ratings', 'channel_broken', 'channel_notices', 'channel_token_expiring', 'webhook_failing', 'training_failed', 'documents_held', 'functions_without_model', 'credits_used_up', 'credits_low', 'credits_end_soon', 'model_errors']
    severity: Literal['critical', 'warning']
    title: str
    what_to_do: str
    count: int
    since: str | None
    due_at: str | None
    samples: list[WarningSample]
    link: str
    muted_until: str | None
    muted_by: str | None


class WarningDashboard(TypedDict):
    warnings: list[Warning]


class WarningSample(TypedDict):
    id: str
    label: str


class WebPageDto(TypedDict):
    url: str
    status: Literal['training', 'trained', 'unchanged', 'refused', 'failed']
    reason: str | None
    http_status: int | None
    fetched_at: str


class WebUrlDto(TypedDict):
    id: int
    url: str
    crawl_depth: int
    refresh_hours: int | None
    status: WebUrlStatus
    progress: int
    error: WebUrlError | None
    page_count: int
    last_fetched_at: str | None
    page_counts: PageCounts
    pages: list[WebPageDto]


class WebUrlError(TypedDict):
    code: str
    message: str


class WebUrlInput(TypedDict):
    id: NotRequired[int]
    url: NotRequired[str]
    crawl_depth: NotRequired[int]
    refresh_hours: NotRequired[int | None]
    status: NotRequired[WebUrlStatus]
    progress: NotRequired[int]
    error: NotRequired[WebUrlError | None]
    page_count: NotRequired[int]
    last_fetched_at: NotRequired[str | None]
    page_counts: NotRequired[PageCounts]
    pages: NotRequired[list[WebPageDto]]

WebUrlStatus: TypeAlias = "Literal['queued', 'training', 'trained', 'failed']"


class WebUrlsResponse(TypedDict):
    items: list[WebUrlDto]
    next_cursor: str | None


class WebhookAttempt(TypedDict):
    attempt: int
    http_status: int | None
    duration_ms: int | None
    error: str | None
    response_excerpt: str | None
    created_at: str


class WebhookConfig(TypedDict):
    id: str
    url: str
    event_types: list[Literal['conversation.created', 'conversation.assigned', 'conversation.unassigned', 'conversation.handed_off', 'conversation.prioritized', 'conversation.snoozed', 'conversation.ended', 'conversation.reopened', 'message.created', 'message.delivered', 'message.read', 'message.failed', 'message.updated', 'summary.created', 'tags.updated', 'sentiment.updated', 'customer.updated', 'customer.merged', 'feedback.created', 'feedback.updated', 'notification.created', 'document.trained', 'document.failed', 'channel.connected', 'channel.disconnected', 'channel.notified', 'credits.low', 'webhook.test']]
    description: str
    is_active: bool
    disabled_reason: Literal['by_hand', 'gone', 'failing'] | None
    disabled_at: str | None
    failing_since: str | None
    paused_until: str | None
    previous_secret_until: str | None
    secret: str | None
    created_at: str


class WebhookConfigRequest(TypedDict):
    id: NotRequired[str]
    url: NotRequired[str]
    event_types: NotRequired[list[Literal['conversation.created', 'conversation.assigned', 'conversation.unassigned', 'conversation.handed_off', 'conversation.prioritized', 'conversation.snoozed', 'conversation.ended', 'conversation.reopened', 'message.created', 'message.delivered', 'message.read', 'message.failed', 'message.updated', 'summary.created', 'tags.updated', 'sentiment.updated', 'customer.updated', 'customer.merged', 'feedback.created', 'feedback.updated', 'notification.created', 'document.trained', 'document.failed', 'channel.connected', 'channel.disconnected', 'channel.notified', 'credits.low', 'webhook.test']]]
    description: NotRequired[str]
    is_active: NotRequired[bool]
    disabled_reason: NotRequired[Literal['by_hand', 'gone', 'failing'] | None]
    disabled_at: NotRequired[str | None]
    failing_since: NotRequired[str | None]
    paused_until: NotRequired[str | None]
    previous_secret_until: NotRequired[str | None]
    secret: NotRequired[str | None]
    created_at: NotRequired[str]


class WebhookConfigsResponse(TypedDict):
    items: list[WebhookConfig]
    next_cursor: str | None


class WebhookDelivery(TypedDict):
    id: int
    config_id: str
    event_id: str
    attempt: int
    status: Literal['pending', 'succeeded', 'failed', 'gave_up']
    http_status: int | None
    duration_ms: int | None
    error: str | None
    response_excerpt: str | None
    next_attempt_at: str | None
    attempts: list[WebhookAttempt]
    created_at: str


class WelcomeMessages(TypedDict):
    messages: dict[str, Any]


class WelcomeMessagesInput(TypedDict):
    messages: dict[str, Any]
