"""Descriptions of path parameters, for the OpenAPI document and the MCP tools."""

# For parameters whose names do not say enough, or whose values must be looked up somewhere.
_DESCRIPTIONS = {
    "account_id": "The id of the connected account, in the URL that its provider calls.",
    "api_key_id": "The API key's id, from *List Api Keys*.",
    "attachment_id": "The file's id, in the link to it.",
    "bot_id": "The bot's id, from *Get All Bot*.",
    "call_id": "The function call's id, from *Get Function Calling Events*.",
    "chat_code": "The conversation's `chat_code`, from the response that opened it.",
    "chat_id": "The conversation's `id`, not its `chat_code`: from the response that opened it,"
    " *Get Chats* or *Get chat conversation list*.",
    "client_id": "Your company's id, from *Get Client Info*; any other id is a 404.",
    "config_id": "The webhook endpoint's id, from *List Webhook Configs*.",
    "conversation_id": "The conversation's `id`, not its `chat_code`: from *Create Conversation* or"
    " *List Conversations*.",
    "customer_id": "The customer's `id`, from *Get Customers*; not your `external_id`.",
    "document_id": "The document's id, from *Get Files* or a citation's `document_id`.",
    "erasure_id": "The erasure's id, from *Erase Customer*.",
    "event_id": "The event's id, `evt_…`, from *Get Webhook Events* or a webhook.",
    "export_id": "The export's id, from the 202 of `POST /report/adhoc/export`.",
    "golden_question_id": "The golden question's id, from *Get Golden Questions*.",
    "job_id": "The run's id, from the response that started it.",
    "mcp_server_id": "The MCP server's id, from *Get MCP Servers*.",
    "merged_id": "The id of the customer who is merged into the first one and then removed.",
    "message_id": "The message's `id`, from `GET /ai/chat/{chat_id}/history`.",
    "notification_id": "The notification's id, from *Get Assign Notification*.",
    "order_id": "The order's id, from *Top Up* or *List Credit Orders*.",
    "question_answer_id": "The id of the question with its answer, from *Get Question Answers*.",
    "question_id": "The id of the group of questions, from *Get Unanswered Questions*.",
    "replay_id": "The replay's id, from *Start Replay* or *Get Replays*.",
    "run_id": "The golden run's id, from *Start Golden Run* or *Get Golden Runs*.",
    "saved_reply_id": "The saved reply's id, from *Get Saved Replies*.",
    "subscription_id": "The push subscription's id, from *Get Push Subscriptions*.",
    "tag_id": "The tag's id, from *Get Client Tags*.",
    "text_id": "The text's id, from *Get Texts*.",
    "user_id": "The person's id, from *Get My Company Users*.",
    "version": "The number of the version, from *Get Prompt Versions*.",
    "view_id": "The saved view's id, from *Get Inbox Views*.",
    "web_url_id": "The website's id, from *Get Web Urls*.",
}


def describe_parameter(name: str) -> str:
    """The description of a path parameter."""
    return _DESCRIPTIONS.get(name) or f"The {name.removesuffix('_id').replace('_', ' ')}'s id."
