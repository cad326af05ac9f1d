/** Chat completions as a cut server speaks them. */
import { type Dialect, dialects, eventsOf } from "../openai/dialects.ts";
import type { Wire } from "./cut-server.ts";

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

export const openai = dialects["openai"] as Dialect;

export const chatWire: Wire = {
  events: (reply) => eventsOf(reply, openai),
  seen(body) {
    const { messages } = JSON.parse(body) as Body;
    const asked = messages.find(({ role }) => role === "user")?.content ?? "";
    const results = messages.filter(({ role }) => role === "tool").length;
    const [before, last] = messages.slice(-2);
    const goesOn = last?.role === "user" && before?.role === "assistant";
    return { asked, results, ...(goesOn ? { said: before.content } : {}) };
  },
};
