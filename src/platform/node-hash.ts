import { hash as digest } from "node:crypto";
import canonicalize from "canonicalize";
import type { Hash } from "../ports/hash.ts";

export const nodeHash: Hash = {
  canonical: (value) => canonicalize(value) ?? "null",
  sha256: (bytes) => digest("sha256", bytes, "hex"),
};
