// Secrets hide themselves, redaction keeps words out of logs, and a watcher may be kept from content.
// expect: The log has [redacted: card] and [redacted: pattern]; the monitor saw 18 events and none of the words.
import { agent, createRuntime, secret, tool } from "holdfast";
import { scripted } from "holdfast/testing";
import { z } from "zod";

// #region secret
const gatewayKey = secret(process.env["GATEWAY_KEY"] ?? "demo-key-1"); // a string that does not show itself

const charge = tool({
  name: "charge",
  description: "Charge a card",
  input: z.object({ card: z.string(), customer: z.string() }),
  effect: "idempotent",
  execute: async ({ card, customer }, { log }) => {
    log(`Charging ${card} of ${customer} with ${gatewayKey}`); // … with [secret]
    return pay(card, gatewayKey.reveal()); // the one place that needs it says so
  },
});
// #endregion secret

async function pay(_card: string, _key: string): Promise<string> {
  return "charged";
}

const clerk = agent({
  name: "clerk",
  instructions: "Charge cards.",
  model: scripted([
    { calls: [{ tool: "charge", input: { card: "4111 1111 1111 1111", customer: "cust-4711" } }] },
    "Charged.",
  ]),
  tools: [charge],
});

const lines: string[] = [];
const logger = { warn: keep, note: keep };
function keep(message: string): void {
  lines.push(message);
}

// #region redact
await using runtime = await createRuntime({
  agents: [clerk],
  logger,
  redact: {
    paths: ["password", "headers.authorization"], // fields, wherever they lie
    patterns: ["cust-\\d+", gatewayKey], // what only you can know; a secret stands for its value
    // detectors: all of the house unless said: keys, tokens, private keys, cards, IBANs, addresses
  },
});
// #endregion redact

const run = await runtime.start(clerk, "Charge 4111 1111 1111 1111 of cust-4711");
await run.result();

// #region watch
let seen = 0;
let words = "";
for await (const event of run.watch({ content: false })) {
  seen += 1; // the same events, with the same cursors
  words += JSON.stringify(event); // "[hidden]" wherever somebody's words or values would be
}
// #endregion watch

const isClean = !words.includes("4111") && !words.includes("cust-");
const marks = lines.join().match(/\[redacted: \w+\]/g) ?? [];
console.log(
  `The log has ${marks.join(" and ")}; the monitor saw ${seen} events and ${isClean ? "none" : "some"} of the words.`,
);
