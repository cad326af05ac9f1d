// A small MCP server over stdio, as others write them: two tools over a list of notes.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const notes: string[] = [];

serveStdio(() => {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  server.registerTool(
    "add_note",
    // A new version of the server describes its tool in other words.
    { description: process.env.NOTES_WORDS ?? "Writes a note down", inputSchema: z.object({ text: z.string() }) },
    ({ text }) => {
      notes.push(text);
      return { content: [{ type: "text", text: `Note ${notes.length} is written` }] };
    },
  );
  server.registerTool(
    "list_notes",
    { description: "Lists the notes", inputSchema: z.object({}), annotations: { readOnlyHint: true } },
    () => ({ content: [{ type: "text", text: notes.join("\n") }] }),
  );
  return server;
});
