import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { buildNow } from "./build-now.ts";
import { log } from "./world.ts";

log(`started ${process.pid}`);
serveStdio(() => buildNow(process.env.CHANGE_FILE));
