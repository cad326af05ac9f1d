/** Prints the fingerprints of the golden manifests, and fails where one is not what is checked in. Run it on any Node. */
import { fingerprintOf } from "../src/domain/manifest.ts";
import { nodeHash } from "../src/platform/node-hash.ts";
import { goldenFingerprints, goldenManifests } from "../test/manifest/golden.ts";

let wrong = 0;
for (const [name, manifest] of Object.entries(goldenManifests)) {
  const fingerprint = fingerprintOf(manifest, nodeHash);
  const isSame = fingerprint === goldenFingerprints[name];
  if (!isSame) wrong += 1;
  console.log(`${isSame ? "same " : "OTHER"} ${fingerprint} ${name}`);
}
console.log(`Node ${process.versions.node}: ${wrong} of ${Object.keys(goldenManifests).length} differ`);
process.exitCode = wrong === 0 ? 0 : 1;
