/** What the agent of these tests does: the first word of a message says it. A gated tool is run only when it is told yes. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Artifact, type Message, type Part, Role, type Task, TaskState, type TaskStatus } from "@a2a-js/sdk";
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from "@a2a-js/sdk/server";
import { scriptedAct } from "./scripted.ts";

type Log = (line: string) => void;

export function createActor(log: Log, folder: string): AgentExecutor {
  const cancelled = new Set<string>();
  return {
    async execute(request, bus) {
      const stage = createStage(request, bus);
      const { word, rest } = stage;
      log(`message ${request.userMessage.messageId} ${request.userMessage.contextId} ${request.userMessage.taskId}`);
      if (word === "direct") return bus.publish(AgentEvent.message(stage.message(`direct ${rest}`)));
      stage.begin();
      const act = scriptedAct(folder) ?? acts[word] ?? acts.echo;
      await act?.({ ...stage, log, isCancelled: () => cancelled.has(request.taskId) });
    },
    async cancelTask(id, bus) {
      log(`cancel ${id}`);
      cancelled.add(id);
      const status = { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: new Date().toISOString() };
      bus.publish(AgentEvent.statusUpdate({ taskId: id, contextId: "", status, metadata: undefined }));
    },
  };
}

interface Stage {
  readonly word: string;
  readonly rest: string;
  readonly parts: readonly Part[];
  /** What was asked in an earlier turn of this task. */
  readonly asked: string | undefined;
  message(text: string): Message;
  begin(): void;
  status(state: TaskState, text?: string): void;
  artifact(
    parts: readonly Part[],
    more?: { readonly id?: string; readonly append?: boolean; readonly name?: string },
  ): void;
}

interface Scene extends Stage {
  readonly log: Log;
  isCancelled(): boolean;
}

export function text(value: string): Part {
  return { content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "text/plain" };
}

function createStage({ userMessage, taskId, contextId, task }: RequestContext, bus: ExecutionEventBus): Stage {
  const said = (userMessage.parts[0]?.content?.value ?? "").toString();
  const first = task?.history[0]?.parts[0]?.content?.value?.toString();
  const [word = "", ...rest] = (first ?? said).split(" ");
  const message = (value: string): Message => ({
    messageId: randomUUID(),
    contextId,
    taskId,
    role: Role.ROLE_AGENT,
    parts: [text(value)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  });
  const statusOf = (state: TaskState, value?: string): TaskStatus => ({
    state,
    message: value === undefined ? undefined : message(value),
    timestamp: new Date().toISOString(),
  });
  return {
    word,
    parts: userMessage.parts,
    rest: first === undefined ? rest.join(" ") : said,
    asked: first,
    message,
    begin() {
      // As a careless agent does it: the old status comes first when a task is continued.
      const known: Task = task ?? {
        id: taskId,
        contextId,
        status: statusOf(TaskState.TASK_STATE_SUBMITTED),
        artifacts: [],
        history: [userMessage],
        metadata: undefined,
      };
      const status = task === undefined ? known.status : statusOf(TaskState.TASK_STATE_WORKING);
      bus.publish(AgentEvent.task({ ...known, status }));
    },
    status(state, value) {
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state, value), metadata: undefined }));
    },
    artifact(parts, { id = "a1", append = false, name = "" } = {}) {
      const artifact: Artifact = {
        artifactId: id,
        name,
        description: "",
        parts: [...parts],
        metadata: undefined,
        extensions: [],
      };
      bus.publish(
        AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk: false, metadata: undefined }),
      );
    },
  };
}

const done = TaskState.TASK_STATE_COMPLETED;
const ask = TaskState.TASK_STATE_INPUT_REQUIRED;

const acts: Record<string, (scene: Scene) => void | Promise<void>> = {
  echo({ artifact, status, rest }) {
    artifact([text(`you said ${rest}`)]);
    status(done);
  },
  say({ status, rest }) {
    status(done, rest);
  },
  /** What the message was made of. */
  parts({ status, parts }) {
    const shown = parts.map(({ content, mediaType, filename }) => {
      if (content?.$case === "raw") return `raw:${Buffer.from(content.value).toString("base64")}:${mediaType}`;
      return content?.$case === "url" ? `url:${content.value}:${filename}` : `text:${content?.value}`;
    });
    status(done, shown.join(" "));
  },
  fail: ({ status }) => status(TaskState.TASK_STATE_FAILED, "it went wrong"),
  reject: ({ status }) => status(TaskState.TASK_STATE_REJECTED, "not my trade"),
  ask({ asked, status, artifact, rest }) {
    if (asked === undefined) return status(ask, "Which colour?");
    artifact([text(`colour ${rest}`)]);
    status(done);
  },
  again({ asked, status, rest }) {
    if (asked === undefined || rest !== "enough") return status(ask, `Still not enough after ${rest}`);
    status(done, "enough");
  },
  auth({ asked, status }) {
    if (asked === undefined) return status(TaskState.TASK_STATE_AUTH_REQUIRED, "Log in at the counter");
    status(done, "logged in");
  },
  /** The gated tool: its log shows whether and how often it ran. */
  refund({ asked, status, log, rest }) {
    if (asked === undefined) return status(ask, "May I refund it?");
    if (rest.includes("yes")) log(`refund ran`);
    status(done, rest.includes("yes") ? "refunded" : "not refunded");
  },
  async pieces({ artifact, status }) {
    for (const piece of ["one ", "two ", "two ", "three"]) {
      artifact([text(piece)], { append: piece !== "one " });
      await sleep(5);
    }
    status(done);
  },
  files({ artifact, status }) {
    const bare = { metadata: undefined, filename: "", mediaType: "" };
    artifact([{ ...bare, content: { $case: "data", value: { a: 1 } } }], { id: "data", name: "numbers" });
    artifact([{ ...bare, content: { $case: "raw", value: Buffer.from("abc") }, mediaType: "image/png" }], {
      id: "raw",
    });
    artifact([{ ...bare, content: { $case: "url", value: "https://files.example/1" }, filename: "1.pdf" }], {
      id: "url",
    });
    status(done, "three files");
  },
  big({ artifact, status, rest }) {
    artifact([text("x".repeat(Number(rest)))]);
    status(done);
  },
  /** Works for as many milliseconds, or until it is cancelled. */
  async slow({ status, artifact, rest, isCancelled, log }) {
    status(TaskState.TASK_STATE_WORKING);
    const end = Date.now() + Number(rest);
    while (Date.now() < end && !isCancelled()) await sleep(5);
    if (isCancelled()) return;
    log("slow ended");
    artifact([text("slowly done")]);
    status(done);
  },
};
