{% load static %}/** Notifies the agent while the inbox is closed or out of sight. */

const INBOX = "{% url 'admin:desk' %}";
const ICON = "{% static 'chatplatform/icon-192.png' %}";

const isInbox = ({ url }) => new URL(url).pathname === INBOX;

/** The open inboxes of this browser. */
const inboxes = async () => (await clients.matchAll({ type: "window", includeUncontrolled: true })).filter(isInbox);

async function call({ chat_id: tag, title }) {
  const isSeen = (await inboxes()).some((page) => page.visibilityState === "visible");
  if (!isSeen) await registration.showNotification(title, { tag, renotify: true, icon: ICON, data: { id: tag } });
}

/** Opens the chat in an open inbox, else in a new one. */
async function open(id) {
  const [page] = await inboxes();
  if (!page) return clients.openWindow(`${INBOX}#${id}`);
  page.postMessage({ open: id });
  return page.focus();
}

addEventListener("push", (event) => event.waitUntil(call(event.data.json())));
addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data.id));
});
