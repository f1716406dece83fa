"""The quick start with the generated Python client. Arguments: address, e-mail, a file."""

import sys
import time
from pathlib import Path

from shop_client import AuthenticatedClient, Client, models
from shop_client.api.ai_client import create_chat as open_chat
from shop_client.api.ai_client import get_chat_messages as read_history
from shop_client.api.ai_client import send_message
from shop_client.api.ai_train import create_prompt, list_documents, upload_documents
from shop_client.api.bot import create_bot
from shop_client.api.identity import create_api_key, register_trial, sign_in
from shop_client.types import File

PASSWORD = "correct-horse-battery"
address, email, document = sys.argv[1:]

anybody = Client(address, timeout=90)
company = models.RegisterTrialDto("Acme", "Ann Lee", email, PASSWORD)
assert isinstance(register_trial.sync(client=anybody, body=company), models.ClientDto)
form = models.BodyLoginForAccessToken2IdentityToken2Post(username=email, password=PASSWORD)
token = sign_in.sync(client=anybody, body=form)
assert isinstance(token, models.TokenResponse)

owner = AuthenticatedClient(address, token.access_token, timeout=90)
bot = create_bot.sync(client=owner, body=models.BotInput(bot_name="Acme bot"))
assert isinstance(bot, models.BotDto)
bot_id = bot.id
assert isinstance(bot_id, int)
prompt = models.PromptInput(content="You help customers of the Acme shop.", tone="friendly")
assert isinstance(create_prompt.sync(bot_id, client=owner, body=prompt), models.PromptDto)

with Path(document).open("rb") as file:
    files = [File(payload=file, file_name="acme-shop.md", mime_type="text/markdown")]
    body = models.BodyUploadFilesAiBotIdTrainDocumentPost(files=files)
    uploaded = upload_documents.sync(bot_id, client=owner, body=body)
    assert isinstance(uploaded, models.DocumentsResponse)
for _ in range(120):
    trained = list_documents.sync(bot_id, client=owner)
    assert isinstance(trained, models.DocumentsResponse)
    if trained.items[0].status == models.DocumentStatus.TRAINED:
        break
    time.sleep(1)

wanted = models.ApiKeyRequest("Shop backend", scope=models.ApiKeyRequestScope.SECRET, bot_id=bot_id)
key = create_api_key.sync(client=owner, body=wanted)
assert isinstance(key, models.ApiKeyDto)
assert key.key
shop = AuthenticatedClient(address, key.key, prefix="", auth_header_name="API-KEY", timeout=90)
opened = models.ChatCreation(customer=models.CustomerInfo(external_id="customer-17", name="Cara"))
chat = open_chat.sync(client=shop, body=opened)
assert isinstance(chat, models.Conversation)
asked = models.ConvMessage("When does the shop open?", reply=models.ConvMessageReply.WAIT)
turn = send_message.sync(chat.id, client=shop, body=asked)
assert isinstance(turn, models.ChatTurn)
assert isinstance(turn.reply, models.Message)
history = read_history.sync(chat.id, client=shop)
assert isinstance(history, models.MessagesResponse)
assert len(history.items) >= 2
print(turn.reply.content[0].text)

refused = open_chat.sync(client=anybody, body=opened)  # type: ignore[arg-type]
assert isinstance(refused, models.Error)
assert refused.code == "not_authenticated"
