"""Descriptions of path parameters, for the OpenAPI document and the MCP tools."""

# For parameters whose names do not say enough, or whose values must be looked up somewhere.
_DESCRIPTIONS = {
    "account_id": "The id of the connected account.",
    "api_key_id": "The API key's id.",
    "bot_id": "The bot's id, from *Get All Bot*.",
    "call_id": "The function call's id.",
    "chat_code": "The conversation's `chat_code`.",
    "chat_id": "The conversation's `id`, not its `chat_code`.",
    "client_id": "Your company's id, from *Get Client Info*; any other id is a 404.",
    "config_id": "The webhook endpoint's id.",
    "conversation_id": "The conversation's `id`, not its `chat_code`.",
    "customer_id": "The customer's `id`, not your `external_id`.",
    "job_id": "The run's id, from the response that started it.",
    "mcp_server_id": "The MCP server's id.",
    "merged_id": "The id of the customer who is merged into the first one and then removed.",
    "question_answer_id": "The id of the question with its answer.",
    "question_id": "The id of the group of questions.",
    "run_id": "The golden run's id.",
    "subscription_id": "The push subscription's id.",
    "user_id": "The person's id, from *Get My Company Users*.",
    "version": "The number of the version.",
    "view_id": "The saved view's id.",
    "web_url_id": "The web address's id.",
}


def describe_parameter(name: str) -> str:
    """The description of a path parameter."""
    return _DESCRIPTIONS.get(name) or f"The {name.removesuffix('_id').replace('_', ' ')}'s id."
