/**
 * The agent as a script, where its folder has one: turns in the order in which messages come. What it hears is written
 * down, so that the test at the other end can read it.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Part, TaskState } from "@a2a-js/sdk";

export interface ScriptedTurn {
  readonly says?: string;
  readonly waits?: "input" | "auth";
  readonly fails?: string;
  readonly artifacts?: readonly { readonly name: string; readonly content: unknown }[];
  /** It works until there is a file of this name. */
  readonly gate?: string;
}

/** What it does it with. */
interface Scene {
  readonly parts: readonly Part[];
  status(state: TaskState, text?: string): void;
  artifact(parts: readonly Part[], more?: { readonly id?: string; readonly name?: string }): void;
  isCancelled(): boolean;
}

export type Act = (scene: Scene) => Promise<void>;

export function scriptedAct(folder: string): Act | undefined {
  const file = join(folder, "script.json");
  if (!existsSync(file)) return undefined;
  const { turns, heard } = JSON.parse(readFileSync(file, "utf8")) as { turns: ScriptedTurn[]; heard: string };
  const index = existsSync(heard) ? readFileSync(heard, "utf8").split("\n").length - 1 : 0;
  return (scene) => make(scene, turns[index] ?? { fails: "the script is over" }, heard);
}

async function make(scene: Scene, turn: ScriptedTurn, heard: string): Promise<void> {
  const { status, artifact, parts, isCancelled } = scene;
  appendFileSync(heard, `${JSON.stringify(parts.map(({ content }) => content?.value ?? "").join(""))}\n`);
  while (turn.gate !== undefined && !existsSync(turn.gate) && !isCancelled()) await sleep(5);
  if (isCancelled()) return;
  if (turn.fails !== undefined) return status(TaskState.TASK_STATE_FAILED, turn.fails);
  for (const { name, content } of turn.artifacts ?? []) {
    artifact(
      [{ content: { $case: "data", value: content }, metadata: undefined, filename: "", mediaType: "" } as Part],
      { id: name, name },
    );
  }
  if (turn.waits === "input") return status(TaskState.TASK_STATE_INPUT_REQUIRED, turn.says);
  if (turn.waits === "auth") return status(TaskState.TASK_STATE_AUTH_REQUIRED, turn.says);
  status(TaskState.TASK_STATE_COMPLETED, turn.says);
}
