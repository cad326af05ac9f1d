/** Closes its runtime while a tool or a model hangs that hears no signal; then it should simply end. */
import { z } from "zod";
import { agent, createRuntime, type Model, tool } from "../../../src/index.ts";
import { scripted } from "../../../src/providers/scripted.ts";

const begun = Promise.withResolvers<void>();

function hang(): Promise<never> {
  begun.resolve();
  return new Promise(() => undefined);
}

const act = tool({ name: "act", description: "Acts", input: z.object({}), effect: "idempotent", execute: hang });
const speaking = scripted([{ calls: [{ tool: "act", input: {} }] }, "Done."]);
const deafModel: Model = {
  description: speaking.description,
  call: () => ({ [Symbol.asyncIterator]: () => ({ next: hang }) }),
};
const model = process.argv[2] === "model" ? deafModel : speaking;
const teller = agent({ name: "teller", instructions: "Act.", tools: [act], model });

const runtime = await createRuntime({ agents: [teller], closeGraceMs: 50 });
await runtime.start(teller, "act");
await begun.promise;
await runtime.close();
process.stdout.write("closed\n");
