/** The SQLite store's door: `sqlite("runs.db")`. */
export { type SqliteOptions, sqlite } from "./stores/sqlite/sqlite.ts";
