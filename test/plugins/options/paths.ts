/** Every option path that a definition knows: found by asking for nonsense everywhere, since a refusal names what is known. */
import { commandProblem } from "../../../src/domain/command-shape.ts";
import {
  agent,
  type ConfiguredPlugin,
  createRuntime,
  isHoldfastError,
  type PluginRun,
  plugin,
  policy,
  stateKey,
  tool,
} from "../../../src/index.ts";
import { nodeHash } from "../../../src/platform/node-hash.ts";
import { permissions, reminders, stopConditions } from "../../../src/plugins.ts";
import { createPluginRunner } from "../../../src/runtime/bind-plugins.ts";
import { scripted } from "../../../src/testing.ts";
import { tracing } from "../../../src/tracing.ts";

/** What is wrong with these options. */
type Refusal = (options: unknown) => Promise<readonly string[]>;

function refusing(define: (options: never) => unknown): Refusal {
  return async (options) => {
    try {
      await define(options as never);
    } catch (cause) {
      if (isHoldfastError(cause)) return cause.problems;
      throw cause;
    }
    throw new Error("nonsense was accepted");
  };
}

function configured(make: (options: never) => ConfiguredPlugin): Refusal {
  return async (options) => {
    const result = await make(options as never).code.config?.["~standard"].validate(options);
    return result?.issues?.map(({ message }) => message) ?? [];
  };
}

const base = { name: "x", instructions: "", model: scripted([]) };
const run: Partial<PluginRun> = { log: () => undefined, hash: (value) => nodeHash.sha256(JSON.stringify(value)) };

const surfaces: Readonly<Record<string, Refusal>> = {
  agent: refusing(agent),
  tool: refusing(tool),
  stateKey: refusing(stateKey),
  policy: refusing(policy),
  plugin: refusing(plugin as (options: never) => unknown),
  instance: refusing((instance) => {
    const made = plugin({ name: "p", create: () => instance });
    return createPluginRunner(agent({ ...base, plugins: [made()] })).open(run as PluginRun);
  }),
  context: refusing((message: object) => {
    const context = [{ key: "key", text: "text", ...message }];
    return agent({ ...base, plugins: [plugin({ name: "p", context })()] });
  }),
  "add-context": async (message) => {
    const problem = commandProblem({ type: "add-context", key: "key", text: "text", ...(message as object) });
    return problem === undefined ? [] : [problem];
  },
  limits: refusing((limits) => createRuntime({ limits })),
  permissions: configured(permissions),
  reminders: configured(reminders),
  stopConditions: configured(stopConditions),
  tracing: configured(tracing),
};

const nonsense = { nonsense: 1 };

function knownIn(problems: readonly string[]): readonly string[] | undefined {
  for (const problem of problems) {
    const [, known] = /nonsense: unknown(?: option| field)?; known are (.+)$/.exec(problem) ?? [];
    if (known !== undefined) return known.split(", ");
  }
  return undefined;
}

type Wrap = (inner: unknown) => unknown;

async function explore(refuse: Refusal, wrap: Wrap, prefix: string): Promise<readonly string[]> {
  const known = knownIn(await refuse(wrap(nonsense))) ?? [];
  const paths: string[] = [];
  for (const name of known) {
    paths.push(`${prefix}${name}`);
    paths.push(...(await explore(refuse, (inner) => wrap({ [name]: inner }), `${prefix}${name}.`)));
    paths.push(...(await explore(refuse, (inner) => wrap({ [name]: [inner] }), `${prefix}${name}[].`)));
  }
  return paths;
}

export async function everyPath(): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const [surface, refuse] of Object.entries(surfaces)) {
    const found = await explore(refuse, (inner) => inner, `${surface}.`);
    if (found.length === 0) throw new Error(`${surface} names no option`);
    paths.push(...found);
  }
  return paths;
}
