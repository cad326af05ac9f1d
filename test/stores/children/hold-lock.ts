/** Holds the file's write lock: node hold-lock.ts <path> <ms>. Says "held", then "free". */
import { DatabaseSync } from "node:sqlite";

const [path = "", ms = "0"] = process.argv.slice(2);
const db = new DatabaseSync(path);
db.exec("BEGIN IMMEDIATE");
console.log("held");
setTimeout(() => {
  db.exec("COMMIT");
  db.close();
  console.log("free");
}, Number(ms));
