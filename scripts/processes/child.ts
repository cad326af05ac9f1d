/** A process of our own, with the same Node and the same flags, that tells us things over IPC. */
import { type ChildProcess, fork } from "node:child_process";

export interface ChildOptions {
  readonly script: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** inherit: its standard output is ours. */
  readonly output?: "inherit" | "ignore";
  /** For Node itself, besides our own. */
  readonly nodeFlags?: readonly string[];
}

export interface Child<News> {
  readonly pid: number;
  /** The next thing it tells that fits, or was told before and not taken yet. Rejects when it ends without. */
  next(fits?: (news: News) => boolean): Promise<News>;
  /** Called for everything that it tells. */
  onNews(listener: (news: News) => void): void;
  tell(what: unknown): void;
  signal(name: NodeJS.Signals): void;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  readonly exited: Promise<number | null>;
}

interface Waiting<News> {
  readonly fits: (news: News) => boolean;
  readonly take: (news: News) => void;
  readonly fail: (cause: Error) => void;
}

const living = new Set<ChildProcess>();

/** Nobody outlives the process that started them, however it ends. */
process.once("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => process.exit(130));

export function startChild<News>(options: ChildOptions): Child<News> {
  const { script, args = [], env = {}, output = "ignore", nodeFlags = [] } = options;
  const child = fork(script, [...args], {
    execPath: process.execPath,
    execArgv: [...process.execArgv, ...nodeFlags],
    env: { ...process.env, ...env },
    stdio: ["ignore", output, "inherit", "ipc"],
  });
  living.add(child);
  let told: News[] = [];
  let waiting: Waiting<News>[] = [];
  const listeners: ((news: News) => void)[] = [];
  child.on("message", (message) => {
    const news = message as News;
    for (const listener of listeners) listener(news);
    const first = waiting.find(({ fits }) => fits(news));
    if (!first) return void told.push(news);
    waiting = waiting.filter((each) => each !== first);
    first.take(news);
  });
  const exited = new Promise<number | null>((resolve) => {
    child.once("close", (code) => {
      living.delete(child);
      for (const { fail } of waiting)
        fail(new Error(`${script} (pid ${child.pid}) ended with ${code} before it said so`));
      resolve(code);
    });
  });
  return {
    pid: child.pid ?? 0,
    next(fits = () => true) {
      const found = told.find(fits);
      if (found === undefined) return new Promise((take, fail) => void waiting.push({ fits, take, fail }));
      told = told.filter((each) => each !== found);
      return Promise.resolve(found);
    },
    onNews: (listener) => void listeners.push(listener),
    tell: (what) => void child.send(what as object, () => undefined),
    signal: (name) => void child.kill(name),
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    exited,
  };
}
