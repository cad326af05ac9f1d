/** The PostgreSQL store's door: `postgres("postgres://…")`. */
export { type PostgresOptions, postgres } from "./stores/postgres/postgres.ts";
