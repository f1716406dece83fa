"""How the documents describe the parameters in a path."""

# Names that do not say what they stand for, or where it comes from.
_WORDS = {
    "account_id": "The id of the connected account.",
    "api_key_id": "The API key's id.",
    "bot_id": "The bot's id, as *Get All Bot* lists it.",
    "call_id": "The function call's id.",
    "chat_code": "The conversation's `chat_code`.",
    "chat_id": "The conversation's `id`, not its `chat_code`.",
    "client_id": "Your client's id, as *Get Client Info* says; any other is a 404.",
    "config_id": "The webhook endpoint's id.",
    "conversation_id": "The conversation's `id`, not its `chat_code`.",
    "customer_id": "The customer's `id`, not your `external_id`.",
    "job_id": "The run's id, as the reply that started it says.",
    "mcp_server_id": "The MCP server's id.",
    "merged_id": "The id of the customer who is merged into the first one and is gone afterwards.",
    "question_answer_id": "The id of the question with its answer.",
    "question_id": "The id of the group of questions.",
    "run_id": "The golden run's id.",
    "subscription_id": "The push subscription's id.",
    "user_id": "The person's id, as *Get My Company Users* lists it.",
    "version": "The number of the version.",
    "view_id": "The saved view's id.",
    "web_url_id": "The web address's id.",
}


def path_words(name: str) -> str:
    """The description of a parameter of a path."""
    return _WORDS.get(name) or f"The {name.removesuffix('_id').replace('_', ' ')}'s id."
