/** Every backend against the same checks: the process itself, a scripted remote that can all, and one that can the least. */
import { describe, test } from "vitest";
import { z } from "zod";
import { type Capabilities, fullCapabilities, remoteStatelessText } from "../../src/domain/backend/capabilities.ts";
import type { BackendResult } from "../../src/domain/backend/result.ts";
import { agent, tool } from "../../src/index.ts";
import { backendConformance } from "../../src/testing/conformance/backend-conformance.ts";
import type { PlayBackend, PlayedTurn } from "../../src/testing/conformance/backend-fixtures.ts";
import { type FakeTurn, fakeRemote, refuses } from "../../src/testing/fake-remote.ts";
import { scripted } from "../../src/testing.ts";

const ask = tool({ name: "ask", description: "Ask", input: z.object({}) });
const login = tool({
  name: "login",
  description: "Log in",
  input: z.object({}),
  effect: "pure",
  needsApproval: () => true,
  execute: () => "in",
});

const inProcess: PlayBackend = async (turns) => {
  const replies = turns.map((turn) =>
    turn.fails ? { error: "model-refused" as const, message: turn.fails } : replyOf(turn),
  );
  let next = 0;
  const model = {
    ...scripted([]),
    async *call(...[request, signal]: Parameters<ReturnType<typeof scripted>["call"]>) {
      const mine = next;
      next += 1;
      const turn = turns[mine];
      if (turn?.until)
        await Promise.race([turn.until, new Promise((_, reject) => signal.addEventListener("abort", reject))]);
      yield* scripted([replies[mine] ?? "?"]).call({ ...request, step: 1 }, signal);
    },
  };
  const checked = agent({ name: "checked", instructions: "Be brief.", model, tools: [ask, login] });
  return { capabilities: fullCapabilities, agent: checked, [Symbol.asyncDispose]: async () => undefined };
};

function replyOf({ says = "", waits }: PlayedTurn) {
  return { text: says, ...(waits ? { calls: [{ tool: waits === "input" ? "ask" : "login" }] } : {}) };
}

const remoteWith = (capabilities: Partial<Capabilities>): PlayBackend => {
  return async (turns, adapt = []) => {
    const backend = fakeRemote(turns.map(turnOf), { capabilities });
    return {
      capabilities: (backend.build() as { capabilities: Capabilities }).capabilities,
      agent: agent({ name: "checked", backend, adapt }),
      heard: () => backend.turns.map(({ text }) => text),
      aborted: () => backend.aborts.length,
      [Symbol.asyncDispose]: async () => undefined,
    };
  };

  function turnOf({ says, waits, fails, artifacts = [], until }: PlayedTurn): FakeTurn | Error {
    if (fails) return refuses(fails);
    const kind = waits === undefined ? "completed" : waits === "input" ? "waiting_input" : "waiting_auth";
    const status = { kind, ...(waits && says ? { message: says } : {}) } as BackendResult["status"];
    const isKept = capabilities.persistence !== "ephemeral";
    const output = { ...(says === undefined ? {} : { text: says }), artifacts };
    return { result: { status, output }, ...(isKept ? { task: "t1" } : {}), ...(until === undefined ? {} : { until }) };
  }
};

const backends: Readonly<Record<string, PlayBackend>> = {
  "in-process": inProcess,
  "a remote that has everything": remoteWith({}),
  "a remote that has the least": remoteWith(remoteStatelessText),
};

for (const [name, play] of Object.entries(backends)) {
  describe(name, () => {
    test.each(Object.entries(backendConformance))("%s", (_check, check) => check(play));
  });
}
