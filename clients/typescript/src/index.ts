export { Client } from "./api.js";
export { ApiError, verifyWebhook } from "./core.js";
export type * from "./types.js";
