/** Push notifications: this browser notifies its agent while the inbox is closed. */

import { html } from "../common/html.js";
import { t } from "../common/i18n.js";
import { Component } from "../vendor/preact.js";
import { call, get, post } from "./api.js";
import { PERSON_KEY, canPush, isPushed } from "./attention.js";
import * as chats from "./chats.js";
import { everything } from "./live.js";
import { remember, toast } from "./store.js";
import { dayAndClock } from "./times.js";

const WORKER = "/admin/desk/worker.js";
const PATH = "/ai/chat/push-subscriptions";
/** This browser's number among the person's devices. */
const DEVICE_KEY = "desk.push.device";
// The page's policy requires a trusted-types policy; this one allows a single address.
const policy = globalThis.trustedTypes?.createPolicy("worker", { createScriptURL: () => WORKER });

/** Makes the inbox installable; an existing subscription continues. */
export async function begin(me) {
  if (!canPush) return;
  navigator.serviceWorker.addEventListener("message", ({ data }) => chats.open(data.open));
  try {
    await navigator.serviceWorker.register(policy ? policy.createScriptURL("") : WORKER);
    if (isPushed(me)) await subscribe(me);
  } catch {
    // The inbox works without it. The list of devices shows whether this one is notified.
  }
}

async function subscribe(me) {
  const { pushManager } = await navigator.serviceWorker.ready;
  const { public_key: key } = await get("/ai/chat/push-key");
  const applicationServerKey = Uint8Array.from(atob(key.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));
  let known = await pushManager.getSubscription();
  if (known && !isSame(known.options.applicationServerKey, applicationServerKey)) {
    await known.unsubscribe();
    known = null;
  }
  known ??= await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  const { endpoint, keys } = known.toJSON();
  const { id } = await post(PATH, { endpoint, keys });
  remember(PERSON_KEY, me.id);
  remember(DEVICE_KEY, id);
}

const isSame = (one, other) => one && new Uint8Array(one).toString() === other.toString();

/** Forgets this browser's subscription, here and at its push service. */
async function unsubscribe() {
  localStorage.removeItem(PERSON_KEY);
  localStorage.removeItem(DEVICE_KEY);
  const { pushManager } = await navigator.serviceWorker.ready;
  await (await pushManager.getSubscription())?.unsubscribe();
}

/** The browsers in which the person is notified, each with a button that stops it. */
export class Devices extends Component {
  state = { devices: [], isBusy: false };

  componentDidMount() {
    this.attempt(() => null);
  }

  /** Runs an action, then reloads the devices. */
  async attempt(act) {
    this.setState({ isBusy: true });
    try {
      await act();
      this.setState({ devices: await everything(PATH) });
    } catch (error) {
      if (error instanceof DOMException) toast(t("Couldn't turn on notifications. Your browser's settings may block them."), { isFault: true });
      else chats.report(error);
    }
    this.setState({ isBusy: false });
  }

  add = () => this.attempt(async () => {
    if ((await Notification.requestPermission()) === "granted") await subscribe(this.props.me);
    else toast(t("Your browser blocks notifications. Allow them in its settings first."), { isFault: true });
  });

  remove = (id) => this.attempt(async () => {
    if (id === localStorage.getItem(DEVICE_KEY)) await unsubscribe();
    await call("DELETE", `${PATH}/${id}`);
  });

  render({ me }, { devices, isBusy }) {
    const own = isPushed(me) && devices.find(({ id }) => id === localStorage.getItem(DEVICE_KEY));
    return html`
      <p>${t("Get a notification when a conversation is assigned to you, someone mentions you, or a customer replies in one of your conversations, even with the inbox closed. Notifications stop when you sign out.")}</p>
      ${!canPush && html`<p class="quiet">${t("This browser doesn't support notifications. On an iPhone or iPad, add the inbox to your Home Screen first.")}</p>`}
      ${canPush && !own && html`<p><button type="button" class="first" disabled=${isBusy} onClick=${this.add}>${t("Notify this device")}</button></p>`}
      <ul class="replies">
        ${devices.map(({ id, device, created_at: at }) => html`<li key=${id} data-device=${id}>
          <bdi>${device || t("Unknown device")}</bdi> ${own?.id === id && html`<strong>${t("This device")}</strong> `}<span class="quiet">${dayAndClock(at)}</span>
          <button type="button" disabled=${isBusy} onClick=${() => this.remove(id)}>${t("Remove")}<span class="hidden"> ${device}</span></button></li>`)}
      </ul>
    `;
  }
}
