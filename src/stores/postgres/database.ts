/**
 * The pool of connections, and what a job sees of it.
 *
 * D1 No connection keeps anything between two transactions (no SET, no session lock): behind a pooler in transaction mode
 *    the next transaction may run on another one.
 * D2 A connection on which something was lost is thrown away, never used again.
 * D3 `hf.` in a statement is the schema; each statement is prepared once per connection, under a name made of its text.
 * D4 A server that gives no connection is asked again ever more rarely, by one caller at a time; the others get its last
 *    answer at once. See gate.ts.
 */
import { createHash } from "node:crypto";
import type { Pool, PoolClient, QueryConfig, QueryResult } from "pg";
import { connectFailure } from "./failures.ts";
import { createGate } from "./gate.ts";

export interface Queries {
  all<Row>(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  get<Row>(sql: string, values?: readonly unknown[]): Promise<Row | undefined>;
  /** Answers the number of rows it changed. */
  run(sql: string, values?: readonly unknown[]): Promise<number>;
}

/** What a statement of a tool's answers. */
export interface ForeignResult {
  readonly rows: readonly unknown[];
  readonly rowCount: number;
}

export interface Session extends Queries {
  /** One statement of someone else's: as it is, neither prepared under a name nor remembered. */
  foreign(sql: string, values: readonly unknown[]): Promise<ForeignResult>;
  /** Several statements without values in one round trip; answers the last one's command. */
  script(sql: string): Promise<string>;
  /** Gives it back, or throws it away. */
  release(isBroken: boolean): void;
}

interface ForeignConfig extends QueryConfig {
  readonly queryMode: "extended";
  readonly query_timeout: number;
}

const longestTimerMs = 2 ** 31 - 1;

export interface Database {
  /** Names host and database, never the password. */
  readonly name: string;
  readonly schema: string;
  connect(): Promise<Session>;
  close(): Promise<void>;
}

/** Sees every statement; one that throws stands for a statement that failed. For tests and measurements. */
export interface Probe {
  before?(sql: string): void | Promise<void>;
  after?(sql: string): void | Promise<void>;
}

export interface DatabaseOptions {
  readonly name: string;
  readonly schema: string;
  readonly prepare: boolean;
  readonly probe?: Probe;
}

export function createDatabase(pool: Pool, options: DatabaseOptions): Database {
  const { name, schema } = options;
  const statement = statementsOf(options);
  // An idle or busy connection that breaks tells its pool and its query; without a listener it would end the process.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  const gate = createGate();
  async function connect(): Promise<Session> {
    const client = pool.idleCount > 0 ? await pooled() : await gate.pass(pooled);
    return sessionOf(client, statement, options.probe);
  }
  function pooled(): Promise<PoolClient> {
    return pool.connect().catch((cause: unknown) => {
      throw connectFailure(name, cause);
    });
  }
  return { name, schema, connect, close: () => pool.end() };
}

interface Statement {
  readonly text: string;
  readonly name?: string;
}

function statementsOf({ schema, prepare }: DatabaseOptions): (sql: string) => Statement {
  const known = new Map<string, Statement>();
  return (sql) => {
    const found = known.get(sql);
    if (found) return found;
    const text = inSchema(sql, schema);
    const statement = prepare ? { text, name: statementName(text) } : { text };
    known.set(sql, statement);
    return statement;
  };
}

/** One name, one text: another version of this program, or another schema, has other names. */
export function statementName(text: string): string {
  return `hf_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`;
}

export function inSchema(sql: string, schema: string): string {
  return sql.replaceAll("hf.", `${quoted(schema)}.`);
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function sessionOf(client: PoolClient, statement: (sql: string) => Statement, probe: Probe | undefined): Session {
  async function query(sql: string, values: readonly unknown[]): Promise<QueryResult> {
    await probe?.before?.(sql);
    const result = await client.query({ ...statement(sql), values: values as unknown[] });
    await probe?.after?.(sql);
    return result;
  }
  return {
    all: async <Row>(sql: string, values: readonly unknown[] = []) =>
      (await query(sql, values)).rows as readonly unknown[] as readonly Row[],
    get: async <Row>(sql: string, values: readonly unknown[] = []) =>
      (await query(sql, values)).rows[0] as Row | undefined,
    run: async (sql, values = []) => (await query(sql, values)).rowCount ?? 0,
    foreign: async (text, values) => {
      // The extended protocol takes one statement only: nothing can follow it.
      // How long it may take is its caller's matter, who then throws the session away.
      const config: ForeignConfig = {
        ...{ text, values: values as unknown[], queryMode: "extended" },
        query_timeout: longestTimerMs,
      };
      const result = await client.query(config as QueryConfig);
      return { rows: result.rows as readonly unknown[], rowCount: result.rowCount ?? 0 };
    },
    script: async (sql) => {
      await probe?.before?.(sql);
      const results = (await client.query(statement(sql).text)) as QueryResult | readonly QueryResult[];
      await probe?.after?.(sql);
      return (Array.isArray(results) ? results.at(-1) : results)?.command ?? "";
    },
    release: (isBroken) => client.release(isBroken),
  };
}
