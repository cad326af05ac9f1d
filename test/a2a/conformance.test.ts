/** A2A against the checks of every backend, with an agent on the official package in another process. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agent } from "holdfast";
import { a2a } from "holdfast/a2a";
import { test } from "vitest";
import { a2aCapabilities } from "../../src/backends/a2a/capabilities.ts";
import { backendConformance } from "../../src/testing/conformance/backend-conformance.ts";
import type { PlayBackend } from "../../src/testing/conformance/backend-fixtures.ts";
import { endpointAt } from "./turn.ts";
import { shareFar } from "./world.ts";

const server = shareFar({});
let plays = 0;

const play: PlayBackend = async (turns, adapt = []) => {
  plays += 1;
  const { folder, url, count } = server();
  const heard = join(folder, `heard-${plays}`);
  const scripted = turns.map(({ until, ...turn }, index) => {
    if (until === undefined) return turn;
    const gate = join(folder, `gate-${plays}-${index}`);
    void until.then(() => writeFileSync(gate, ""));
    return { ...turn, gate };
  });
  writeFileSync(join(folder, "script.json"), JSON.stringify({ turns: scripted, heard }));
  const cancelled = count("cancel");
  return {
    capabilities: a2aCapabilities,
    agent: agent({ name: "checked", backend: a2a(endpointAt(url)), adapt }),
    heard: () =>
      existsSync(heard)
        ? readFileSync(heard, "utf8")
            .trimEnd()
            .split("\n")
            .map((line) => JSON.parse(line))
        : [],
    aborted: () => count("cancel") - cancelled,
    [Symbol.asyncDispose]: async () => undefined,
  };
};

test.each(Object.entries(backendConformance))("%s", (_check, check) => check(play));
