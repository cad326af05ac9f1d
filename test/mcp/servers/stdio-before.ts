/** The same on the package before it, which speaks the protocol of 2025. */
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { buildBefore } from "./build-before.ts";
import { log } from "./world.ts";

log(`started ${process.pid}`);
await buildBefore().connect(new StdioServerTransport());
process.stdin.on("close", () => process.exit(0));
