// The quick start with the generated TypeScript client. Arguments: address, e-mail, a file.
import { readFileSync } from "node:fs";
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

const [baseUrl, email, path] = process.argv.slice(2) as [string, string, string];
const password = "correct-horse-battery";

function given<T>(reply: { data?: T; error?: unknown }): T {
  if (reply.data === undefined) throw new Error(JSON.stringify(reply.error));
  return reply.data;
}

const anybody = createClient<paths>({ baseUrl });
given(
  await anybody.POST("/identity/register-trial", {
    body: { company_name: "Acme", full_name: "Ann Lee", email, password },
  }),
);
const token = given(
  await anybody.POST("/identity/token2", {
    body: { username: email, password },
    bodySerializer: () => new URLSearchParams({ username: email, password }),
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  }),
);

const owner = createClient<paths>({
  baseUrl,
  headers: { Authorization: `Bearer ${token.access_token}` },
});
const bot = given(await owner.POST("/ai/bot", { body: { bot_name: "Acme bot" } }));
const bot_id = bot.id as number;
const inBot = { path: { bot_id } };
given(
  await owner.POST("/ai/{bot_id}/train/prompt", {
    params: inBot,
    body: { content: "You help customers of the Acme shop.", tone: "friendly" },
  }),
);
given(
  await owner.POST("/ai/{bot_id}/train/document", {
    params: inBot,
    body: { files: [readFileSync(path, "utf8")] },
    bodySerializer: (body) => {
      const form = new FormData();
      for (const file of body.files) {
        form.append("files", new Blob([file], { type: "text/markdown" }), "acme-shop.md");
      }
      return form;
    },
  }),
);
for (let tries = 0; tries < 120; tries++) {
  const documents = given(await owner.GET("/ai/{bot_id}/train/document", { params: inBot }));
  if (documents.items[0]?.status === "trained") break;
  await new Promise((resolve) => setTimeout(resolve, 1000));
}

const key = given(
  await owner.POST("/identity/api-keys", {
    body: { name: "Shop backend", scope: "secret", bot_id },
  }),
);
const shop = createClient<paths>({ baseUrl, headers: { "API-KEY": key.key as string } });
const chat = given(
  await shop.POST("/ai/client/chat", {
    body: { customer: { external_id: "customer-17", name: "Cara" } },
  }),
);
const inChat = { path: { chat_id: chat.id } };
const turn = given(
  await shop.POST("/ai/client/chat/{chat_id}", {
    params: inChat,
    body: { text: "When does the shop open?", reply: "wait" },
  }),
);
if (typeof turn === "string") throw new Error("a stream came, though nobody asked for one");
const history = given(await shop.GET("/ai/client/chat/history/{chat_id}", { params: inChat }));
if (history.items.length < 2) throw new Error("the history lacks a message");
console.log(turn.reply?.content[0]?.text);

const refused = await anybody.POST("/ai/client/chat", { body: {} });
if (refused.response.status !== 401 || !refused.error) throw new Error("nobody opened a chat");
