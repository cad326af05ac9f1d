// Writes docs/reference/errors.md from the error catalogue. `--check` writes nothing and fails when the page differs.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { errorCatalogue } from "../src/domain/errors.ts";

const path = resolve(import.meta.dirname, "../docs/reference/errors.md");
const rows = Object.entries(errorCatalogue).map(
  ([code, { retry, status, next }]) => `| \`${code}\` | ${retry} | ${status} | ${next} |`,
);

const page = `<!-- Written by scripts/docs-errors.ts from src/domain/errors.ts. -->

# Errors

There is one class, \`HoldfastError\`. Its \`code\` is one of those below; \`message\` says what was attempted, with ids;
\`problems\` lists everything that is wrong, not only the first; \`details\` has the ids as data; \`cause\` is what was caught.
Recognise an error by \`isHoldfastError(error, code)\`, never by its text.

\`retry\` says whether the same call may succeed later: **never** (change something first), **later** (it is repeated, with growing
pauses, where the engine made the call), **reload** (the outcome is read again before anything else). \`status\` is the HTTP status that fits.

What is not an error: a run that waits, is cancelled, fails or runs out of time. Those are values of \`run.idle()\` and
\`run.result()\`. A tool that fails is a result that the model reads ([entries](entries.md)).

| Code | Retry | Status | What to do |
|---|---|---|---|
${rows.join("\n")}

A tool throws \`ToolFailure\` to say that it failed *and that nothing happened outside*
([effects and crashes](../how-to/effects-and-crashes.md)).
`;

const fits = existsSync(path) && readFileSync(path, "utf8") === page;
if (!process.argv.includes("--check")) {
  if (!fits) writeFileSync(path, page);
  console.log(`docs/reference/errors.md: ${rows.length} errors${fits ? "" : ", updated"}`);
} else if (!fits) {
  console.error('docs/reference/errors.md differs from the catalogue; run "npx node scripts/docs-errors.ts"');
  process.exitCode = 1;
}
