/**
 * One connection: each statement is prepared once, under its text.
 *
 * D1 Rows are taken whole (`get`, `all` with a LIMIT). An iterator held open over an await would pin the WAL.
 */
import type { SQLInputValue, StatementSync } from "node:sqlite";
import { HoldfastError } from "../../domain/errors.ts";

/** Sees every statement; one that throws stands for a statement that failed. For tests and measurements. */
export interface Probe {
  opened?(connection: Connection): void;
  before?(sql: string): void;
  after?(sql: string, rows: number): void;
}

export interface Connection {
  /** Answers the number of rows it changed. */
  run(sql: string, ...values: readonly SQLInputValue[]): number;
  get<Row>(sql: string, ...values: readonly SQLInputValue[]): Row | undefined;
  all<Row>(sql: string, ...values: readonly SQLInputValue[]): readonly Row[];
  /** A statement of someone else's: it is forgotten after use. */
  prepare(sql: string): StatementSync;
  /** A script of several statements. */
  script(sql: string): void;
  isInTransaction(): boolean;
  close(): void;
}

export interface ConnectOptions {
  readonly readOnly?: boolean;
  readonly probe?: Probe;
}

type Sqlite = typeof import("node:sqlite");

/** Looked for when it is needed: on a Node without it an import would fail, in words that help nobody. */
export function sqliteOfNode(): Sqlite {
  const found = process.getBuiltinModule?.("node:sqlite") as Sqlite | undefined;
  if (found) return found;
  const what = `The SQLite store needs Node 22.18 or newer, which has SQLite inside, and this is ${process.versions.node}`;
  throw new HoldfastError("node-too-old", what);
}

export function connect(path: string, options: ConnectOptions = {}): Connection {
  const { DatabaseSync } = sqliteOfNode();
  // timeout 0: SQLite's own busy wait would block the event loop; waiting is the writer's matter.
  const db = new DatabaseSync(path, { timeout: 0, readOnly: options.readOnly ?? false });
  const statements = new Map<string, StatementSync>();
  function prepared(sql: string): StatementSync {
    const known = statements.get(sql);
    if (known) return known;
    const statement = db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  }
  const connection: Connection = {
    run: (sql, ...values) => Number(prepared(sql).run(...values).changes),
    get: <Row>(sql: string, ...values: readonly SQLInputValue[]) => prepared(sql).get(...values) as Row | undefined,
    all: <Row>(sql: string, ...values: readonly SQLInputValue[]) =>
      prepared(sql).all(...values) as readonly unknown[] as readonly Row[],
    prepare: (sql) => db.prepare(sql),
    script: (sql) => db.exec(sql),
    isInTransaction: () => db.isTransaction,
    close: () => db.close(),
  };
  return options.probe ? probed(connection, options.probe) : connection;
}

function probed(connection: Connection, probe: Probe): Connection {
  function watched<T>(sql: string, rowsOf: (answer: T) => number, act: () => T): T {
    probe.before?.(sql);
    const answer = act();
    probe.after?.(sql, rowsOf(answer));
    return answer;
  }
  return {
    ...connection,
    run: (sql, ...values) =>
      watched(
        sql,
        () => 0,
        () => connection.run(sql, ...values),
      ),
    get: <Row>(sql: string, ...values: readonly SQLInputValue[]) =>
      watched(
        sql,
        (row: Row | undefined) => (row === undefined ? 0 : 1),
        () => connection.get<Row>(sql, ...values),
      ),
    all: <Row>(sql: string, ...values: readonly SQLInputValue[]) =>
      watched(
        sql,
        (rows: readonly Row[]) => rows.length,
        () => connection.all<Row>(sql, ...values),
      ),
  };
}
