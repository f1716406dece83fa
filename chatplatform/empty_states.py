"""The texts of the site's empty lists: what the rows are, and what to do next."""

EMPTY_STATES = {
    "bots.Bot": "A bot answers your customers. Press “New bot” above, and teach it on its page.",
    "bots.Chunk": "Passages are what bots quote. They come from documents and web addresses that"
    " were trained: set up a bot and teach it.",
    "bots.Document": "Bots learn from documents. Open Bots, a bot, “Set up”, and drop your files.",
    "bots.Function": "Functions let a bot look things up in your own system, or do them there:"
    " where an order is, for example. Press “Add function” above.",
    "bots.FunctionCall": "Each call of a function by a bot stands here. First add a function under"
    " Functions.",
    "bots.FunctionCalling": "Whether a bot may call functions stands here, once it has one.",
    "bots.GoldenQuestion": "Golden questions show whether a bot still answers well after a change."
    " Press “New question” above.",
    "bots.GoldenRun": "A run asks a bot all its golden questions. Add questions first, then press"
    " “Ask all” above their list.",
    "bots.LanguageModel": "No bot has a language model of its own: the platform's serves all."
    " Press “Set a model” above.",
    "bots.Prompt": "A prompt says how a bot speaks. Open Bots, a bot, “Set up”,"
    " “Give instructions”.",
    "bots.WebUrl": "Bots read your web site. Open Bots, a bot, “Set up”, “Read a web site”.",
    "channels_app.ChannelConnection": "No messaging account is connected yet. Connect one under"
    " Channels.",
    "channels_app.InboundCallback": "What messaging providers send stands here, once an account is"
    " connected.",
    "channels_app.OutboundSend": "Messages that left by a messaging account stand here, once one is"
    " connected.",
    "chatplatform.Job": "No work waits, runs or has failed.",
    "chats.Conversation": "Chats appear when a customer writes. Put the script tag of a bot on your"
    " page, or try the bot yourself: Bots, a bot, “Set up”.",
    "chats.Customer": "Customers appear when they write to a bot, or when your server names them by"
    " the API.",
    "chats.Feedback": "Customers rate answers in the chat window. No one has done so yet.",
    "chats.QuestionGroup": "Questions that a bot could not answer appear here, similar ones"
    " together. There are none.",
    "chats.Replay": "A replay asks the questions of a day again, with what the bot knows today."
    " Press “Replay a day” above.",
    "chats.Summary": "Chats are summarised when they end, or when an agent asks for it at"
    " the desk.",
    "chats.SummaryJob": "Summaries of many chats at once are asked for by the API.",
    "identity.ApiKey": "A key lets your server or your page call the platform. Press “Create key”"
    " above.",
    "identity.AuditEvent": "Every change of people, keys, settings and bots will stand here.",
    "identity.Client": "No company is here yet. Press “New company” above.",
    "identity.ClientConfig": "The settings of chats come with a company.",
    "identity.CreditEntry": "Every credit that is granted, bought or used will stand here.",
    "identity.CreditOrder": "No credits were ordered.",
    "identity.SignInProvider": "No company signs in at its own provider.",
    "identity.Subscription": "A plan comes with a company.",
    "identity.User": "Nobody is here yet. Press “Invite teammate” above.",
    "reports.Export": "Large reports are written to a file in the background. Ask for one under"
    " Reports, Ad-hoc.",
    "webhooks.Delivery": "What is sent to your servers stands here. First add a webhook under"
    " Webhooks, “Add webhook”.",
    "webhooks.Event": "Whatever happens in chats, training and channels will stand here.",
    "webhooks.WebhookConfig": "A webhook tells your server what happens. Press “Add webhook”"
    " above.",
}
