// Plain old JavaScript on purpose: it must run on the Node versions it refuses.
var parts = process.versions.node.split(".");
var major = Number(parts[0]);
var minor = Number(parts[1]);

if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    "Holdfast needs Node 22.18 or newer, but this is Node " +
      process.versions.node +
      ': run "npm ci" without --ignore-scripts to get the pinned Node, then start it through "npm run".',
  );
  process.exit(1);
}
