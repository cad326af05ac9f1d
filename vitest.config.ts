import { defineConfig } from "vitest/config";

// Tests read the source, never dist/: the "holdfast-source" condition of package.json's exports must be known to both resolvers.
// No "module": Node does not know it, and some packages put files behind it that only bundlers can read.
const conditions = ["holdfast-source", "node", "development|production"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ["holdfast-source", "node"] } },
  test: {
    include: ["test/**/*.test.ts", "src/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    passWithNoTests: true,
  },
});
