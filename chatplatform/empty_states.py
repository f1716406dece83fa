"""The texts of the site's empty lists: what the rows are, and what to do next. Texts that only the
platform's staff see are in English."""

from django.utils.translation import gettext_noop

EMPTY_STATES = {
    "bots.Bot": gettext_noop(
        "A bot answers your customers. Select “New bot” to create your first one."
    ),
    "bots.Chunk": "Passages are what bots quote. They come from a bot's documents and websites.",
    "bots.Document": "Bots learn from documents. Open a bot and add files under Content.",
    "bots.Function": gettext_noop(
        "Functions let a bot look things up in your system or make changes there. Select “Add"
        " function” to create one."
    ),
    "bots.FunctionCall": gettext_noop("You'll see each function call here. Add a function first."),
    "bots.FunctionCalling": "You'll see each bot's function settings here once it has a function.",
    "bots.GoldenQuestion": gettext_noop(
        "Test questions show whether a bot still answers well after a change. Select “New"
        " question” to add one."
    ),
    "bots.GoldenRun": gettext_noop(
        "Each test run asks your bot every test question. Add questions first, then select"
        " “Run test”."
    ),
    "bots.LanguageModel": gettext_noop(
        "Your bots have no language model, so they quote your content. Select “Connect model” to"
        " connect one."
    ),
    "bots.McpServer": gettext_noop(
        "An MCP server offers tools that your bot can use, such as your shop's. Select"
        " “Connect MCP server” to add one."
    ),
    "bots.Prompt": (
        "Instructions tell a bot how to answer. Open a bot and write them under Behavior."
    ),
    "bots.WebUrl": "Bots learn from your website. Open a bot and add it under Content.",
    "channels_app.ChannelConnection": "No messaging accounts yet. Connect one under Channels.",
    "channels_app.InboundCallback": (
        "You'll see what messaging providers send here once you connect an account."
    ),
    "channels_app.OutboundSend": (
        "You'll see messages sent from messaging accounts here once you connect one."
    ),
    "chatplatform.Job": "No jobs are waiting, running, or failed.",
    "chats.Conversation": gettext_noop(
        "Conversations will appear when customers message you. Install a bot on your website, or"
        " test it yourself."
    ),
    "chats.Customer": gettext_noop(
        "Customers will appear when they message a bot or when you add them through the API."
    ),
    "chats.Feedback": gettext_noop(
        "Customers can rate conversations and answers. You'll see their ratings here."
    ),
    "chats.QuestionGroup": gettext_noop(
        "No unanswered questions. Questions your bots can't answer will appear here, with"
        " similar ones grouped."
    ),
    "chats.Replay": gettext_noop(
        "A replay shows how a bot would answer a past day's questions today. Select “Replay a"
        " day” to start."
    ),
    "chats.Summary": gettext_noop(
        "Conversations are summarized when they end, or when an agent asks for a summary in"
        " the inbox."
    ),
    "chats.SummaryJob": "Bulk summaries are requested through the API.",
    "identity.ApiKey": gettext_noop(
        "API keys let your server or website call the platform. Select “Create key” to add one."
    ),
    "identity.AuditEvent": gettext_noop(
        "Changes to people, keys, settings, and bots will appear here."
    ),
    "identity.Client": "No companies yet. Select “New company” to add one.",
    "identity.ClientConfig": "Each company has its own chat settings.",
    "identity.CreditEntry": "Credits that are granted, bought, or used will appear here.",
    "identity.CreditOrder": "No credit orders yet.",
    "identity.SignInProvider": "No company uses single sign-on yet.",
    "identity.Subscription": "Each company has its own plan.",
    "identity.User": gettext_noop("No teammates yet. Select “Invite teammate” to add one."),
    "reports.Export": gettext_noop(
        "Large reports are exported in the background. Start an export from Reports."
    ),
    "webhooks.Delivery": gettext_noop("Events that are sent to your webhooks will appear here."),
    "webhooks.Event": gettext_noop(
        "Events from conversations, content, and channels will appear here."
    ),
    "webhooks.WebhookConfig": gettext_noop(
        "Webhooks tell your server when something happens. Select “Add webhook” to create one."
    ),
}
