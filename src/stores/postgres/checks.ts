/**
 * What a server and a schema must be, asked before the store is used.
 *
 * O1 What can be known is checked before anything is written: version, encoding, that it takes writes.
 * O2 Settings that weaken what a commit promises are told to the operator; the server's owner may want them.
 * O3 A schema whose tables are gone, or that this role may not write, is refused at once: no run meets it later.
 */
import { HoldfastError } from "../../domain/errors.ts";
import type { StoreDeps } from "../../ports/store.ts";
import type { Database, Session } from "./database.ts";

/** The oldest one that Holdfast is tested on. */
const leastVersion = 150_000;
const muchSkewMs = 1_000;

interface Facts {
  readonly version: number;
  readonly encoding: string;
  readonly synchronous: string;
  readonly fsync: string;
  readonly full_pages: string;
  readonly read_only: string;
  readonly is_standby: boolean;
  readonly now: number;
}

const askFacts = `SELECT current_setting('server_version_num')::integer AS version, current_setting('server_encoding') AS encoding,
  current_setting('synchronous_commit') AS synchronous, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_pages, current_setting('transaction_read_only') AS read_only,
  pg_is_in_recovery() AS is_standby, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`;

export interface CheckDeps extends StoreDeps {
  readonly time: "database" | "clock";
}

export async function checkServer(db: Database, session: Session, deps: CheckDeps): Promise<void> {
  const { clock, logger, time } = deps;
  const asked = clock.now();
  const facts = await session.get<Facts>(askFacts);
  const why = facts ? unfit(facts) : "the server did not say what it is";
  if (!facts || why !== undefined) throw new HoldfastError("store-unusable", `${db.name}: ${why}`);
  for (const weakness of weaknesses(facts)) logger.warn(`${db.name}: ${weakness}`);
  const skewMs = Math.max(asked - facts.now, facts.now - clock.now());
  if (time === "database" && skewMs > muchSkewMs) {
    logger.warn(`${db.name}: this machine's clock and the server's differ by ${skewMs} ms; leases go by the server's`);
  }
}

/** Why the server cannot be used. */
function unfit({ version, encoding, is_standby: isStandby, read_only: readOnly }: Facts): string | undefined {
  if (version < leastVersion) return `PostgreSQL ${Math.floor(version / 10_000)} is too old: 15 or newer is needed`;
  if (encoding !== "UTF8") return `the database is encoded in ${encoding}: create one with ENCODING 'UTF8'`;
  if (isStandby) return "the server is a standby, which takes no writes: use the primary's address";
  if (readOnly === "on")
    return "default_transaction_read_only is on for this server, database or role: turn it off, or use another role";
  return undefined;
}

/** O2. */
function weaknesses({ synchronous, fsync, full_pages: fullPages }: Facts): readonly string[] {
  const found: string[] = [];
  if (synchronous === "off")
    found.push(
      "synchronous_commit is off: after a crash of the server the newest commits may be missing, and what they allowed may be done twice",
    );
  if (fsync === "off")
    found.push("fsync is off: after a power loss or a crash of the machine the database may be damaged or lost");
  if (fullPages === "off")
    found.push("full_page_writes is off: after a power loss or a crash of the machine the database may be damaged");
  return found;
}

interface Relation {
  readonly name: string;
  readonly is_there: boolean;
  readonly may_write: boolean | null;
  readonly role: string;
}

const tableRights = ["SELECT", "INSERT", "UPDATE", "DELETE"];
const sequenceRights = ["SELECT", "USAGE"];

function allOf(kind: "table" | "sequence", rights: readonly string[]): string {
  return rights.map((right) => `has_${kind}_privilege(pg_class.oid, '${right}')`).join(" AND ");
}

const findRelations = `SELECT name, pg_class.oid IS NOT NULL AS is_there, current_user AS role,
    CASE relkind WHEN 'S' THEN ${allOf("sequence", sequenceRights)} ELSE ${allOf("table", tableRights)} END AS may_write
  FROM unnest($2::text[]) AS name LEFT JOIN pg_class
    ON relname = name AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
  ORDER BY name`;

/** O3. */
export async function checkSchema(db: Database, session: Session, names: readonly string[]): Promise<void> {
  const relations = await session.all<Relation>(findRelations, [db.schema, names]);
  const refuse = (found: readonly Relation[], why: (list: string) => string): void => {
    if (found.length === 0) return;
    const list = found.map(({ name }) => name).join(", ");
    throw new HoldfastError("store-unusable", `${db.name}: ${why(list)}`);
  };
  const gone = relations.filter((relation) => !relation.is_there);
  refuse(gone, (list) => `schema ${db.schema} has lost ${list}: restore it from a backup, or choose another schema`);
  const shut = relations.filter((relation) => !relation.may_write);
  const wanted = `grant it ${tableRights.join(", ")} on the tables and ${sequenceRights.join(", ")} on the sequences`;
  refuse(shut, (list) => `role ${shut[0]?.role} may not write to ${list} of schema ${db.schema}: ${wanted}`);
}
