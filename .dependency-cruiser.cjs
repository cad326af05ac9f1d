// The walls of the house: who may import whom. Every room may import itself.
const adapters = [
  "stores",
  "buses",
  "dispatchers",
  "providers",
  "content",
  "sinks",
  "plugins",
  "toolsets",
  "protocols",
  "platform",
];

const rooms = {
  domain: [],
  ports: ["domain"],
  engine: ["domain", "ports"],
  ...Object.fromEntries(adapters.map((room) => [room, ["domain", "ports"]])),
  backends: ["domain", "ports", "engine", "platform"],
  client: ["domain"],
  runtime: ["domain", "ports", "engine"],
  server: ["domain", "ports", "runtime", "protocols"],
  cli: ["domain", "ports", "runtime", "server", "client", "backends", ...adapters],
  testing: ["domain", "ports", "engine", "runtime", "backends", ...adapters],
};

// Files directly in src/ are composition roots: no wall around them. Of the rooms, only those that compose may enter one.
const mayCompose = ["cli", "testing"];

const isTest = "\\.test\\.ts$";
const npm = ["npm", "npm-dev", "npm-peer", "npm-optional", "npm-no-pkg", "npm-unknown", "npm-bundled"];

function wall([room, may]) {
  const doors = [`^src/(${[room, ...may].join("|")})/`];
  if (mayCompose.includes(room)) doors.push("^src/compose\\.ts$");
  return {
    name: `${room}-imports-only-${may.join("+") || "itself"}`,
    severity: "error",
    from: { path: `^src/${room}/` },
    to: { path: "^src/", pathNot: doors },
  };
}

module.exports = {
  forbidden: [
    ...Object.entries(rooms).map(wall),
    {
      name: "every-room-has-a-wall",
      comment: "A new folder below src/ needs its line in the table above.",
      severity: "error",
      from: { path: "^src/[^/]+/", pathNot: `^src/(${Object.keys(rooms).join("|")})/` },
      to: {},
    },
    {
      name: "no-unresolved",
      comment: "A mistyped path would pass every wall unseen.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "domain-is-pure",
      severity: "error",
      from: { path: "^src/domain/", pathNot: isTest },
      to: { dependencyTypes: ["core", ...npm] },
    },
    {
      name: "engine-has-no-platform",
      severity: "error",
      from: { path: "^src/(engine|ports)/", pathNot: isTest },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "siblings-do-not-meet",
      comment: "Two implementations of one port share only what lies in the room's shared file or folder.",
      severity: "error",
      from: {
        path: "^src/(stores|buses|dispatchers|protocols|providers|plugins|sinks|content|toolsets|backends)/([^/]+)",
        pathNot: [isTest, "^src/[^/]+/shared(/|\\.ts$)"],
      },
      to: { path: "^src/$1/", pathNot: "^src/$1/($2|shared)(/|\\.|$)" },
    },
    {
      name: "source-uses-only-dependencies",
      comment: "What a user does not install must not be needed by what we publish.",
      severity: "error",
      from: { path: "^src/", pathNot: isTest },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], dependencyTypesNot: ["npm", "npm-peer"] },
    },
    {
      name: "only-tracing-knows-opentelemetry",
      comment: "It is an optional peer: whoever does not trace does not install it.",
      severity: "error",
      from: { path: "^src/", pathNot: [isTest, "^src/tracing\\.ts$", "^src/plugins/tracing/"] },
      to: { path: ["node_modules/@opentelemetry/", "^src/plugins/tracing/"] },
    },
    {
      name: "only-mcp-knows-the-protocol-package",
      comment: "It is an optional peer: whoever uses no MCP server does not install it.",
      severity: "error",
      from: { path: "^src/", pathNot: [isTest, "^src/mcp\\.ts$", "^src/toolsets/mcp/"] },
      to: { path: ["node_modules/@modelcontextprotocol/", "^src/toolsets/mcp/"] },
    },
    {
      name: "only-a2a-knows-the-protocol-package",
      comment: "It is an optional peer: whoever has no remote agents does not install it.",
      severity: "error",
      from: { path: "^src/", pathNot: [isTest, "^src/a2a\\.ts$", "^src/backends/a2a/"] },
      to: { path: ["node_modules/@a2a-js/", "^src/backends/a2a/"] },
    },
    {
      name: "source-stands-alone",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|examples|scripts|bench|console)/" },
    },
    {
      name: "examples-use-the-front-door",
      comment: "An example may do only what a user can.",
      severity: "error",
      from: { path: "^examples/" },
      to: {
        path: "^(src|test|scripts|bench)/",
        pathNot: "^src/(index|sqlite|postgres|plugins|openai|tracing|mcp|a2a|backends|testing)\\.ts$",
      },
    },
    {
      name: "console-uses-the-client",
      severity: "error",
      from: { path: "^console/" },
      to: { path: "^src/", pathNot: "^src/client/" },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["holdfast-source", "import", "types", "node", "default"],
      extensions: [".ts", ".mjs", ".cjs", ".js", ".json", ".d.ts"],
    },
    exclude: { path: "^(dist|coverage)/" },
    doNotFollow: { path: "node_modules" },
  },
};
