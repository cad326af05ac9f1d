import { agent } from "../../../src/domain/agent.ts";
import { scripted } from "../../../src/providers/scripted.ts";

export const teller = agent({
  name: "teller",
  model: scripted(["Done."]),
  instructions: "Be brief.",
  sinks: ["log"],
});
