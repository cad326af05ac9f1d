/** An agent that talks slowly enough to be killed in the middle of a word. */
import { agent } from "../../../src/index.ts";
import { scripted } from "../../../src/providers/scripted.ts";

export function saidBy(attempt: number): string {
  return `Attempt ${attempt}: once upon a time there was a run that went on and on, whatever happened.`;
}

export const slowTeller = agent({
  name: "slow-teller",
  model: scripted([({ attempt }) => ({ text: saidBy(attempt), pieces: 3, pauseMs: 15 })]),
  instructions: "Tell.",
});
