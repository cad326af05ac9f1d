/** What is asked of a backend against what it can do: lists, names, order and texts as in the seeds. */
import { expect, test } from "vitest";
import { bareText } from "../../src/domain/backend/backend-error.ts";
import {
  type CancellationCapability,
  type Capabilities,
  fullCapabilities,
  remoteStatelessText,
  supportsCooperativeToken,
  supportsRemoteAbort,
} from "../../src/domain/backend/capabilities.ts";
import {
  durableDelegate,
  ephemeralDelegate,
  negotiate,
  type RootRequirement,
  refusalOf,
} from "../../src/domain/backend/negotiate.ts";

const cancellations: Readonly<Record<CancellationCapability, readonly [token: boolean, abort: boolean]>> = {
  none: [false, false],
  "cooperative-token": [true, false],
  "remote-abort": [false, true],
  "cooperative-token-and-remote-abort": [true, true],
};

test.each(Object.entries(cancellations))("B-004 B-005 B-006 cancellation %s", (kind, [token, abort]) => {
  expect(supportsCooperativeToken(kind as CancellationCapability)).toBe(token);
  expect(supportsRemoteAbort(kind as CancellationCapability)).toBe(abort);
});

const values = {
  continuation: { none: 1, "in-process-state": 1, "remote-state": 1 },
  waits: { none: 1, input: 1, auth: 1, "input-and-auth": 1 },
  transcript: { "full-transcript": 1, "incremental-user-messages": 1, "single-prompt": 1 },
  output: { text: 1, "text-and-artifacts": 1 },
  persistence: { ephemeral: 1, durable: 1 },
} satisfies { [Field in keyof Capabilities]?: Record<Extract<Capabilities[Field], string>, 1> };

test("B-007 B-008 B-009 B-010 B-011 the nine fields and their values", () => {
  expect(Object.keys(fullCapabilities)).toEqual([
    "cancellation",
    "decisions",
    "overrides",
    "frontendTools",
    "continuation",
    "waits",
    "transcript",
    "output",
    "persistence",
  ]);
  expect(Object.values(values).map((each) => Object.keys(each).length)).toEqual([3, 4, 3, 2, 2]);
});

test("B-012 B-013 the two presets", () => {
  expect(fullCapabilities).toEqual({
    cancellation: "cooperative-token",
    decisions: true,
    overrides: true,
    frontendTools: true,
    continuation: "in-process-state",
    waits: "input-and-auth",
    transcript: "full-transcript",
    output: "text-and-artifacts",
    persistence: "durable",
  });
  expect(remoteStatelessText).toEqual({
    cancellation: "none",
    decisions: false,
    overrides: false,
    frontendTools: false,
    continuation: "none",
    waits: "none",
    transcript: "single-prompt",
    output: "text",
    persistence: "ephemeral",
  });
});

const rootRows: readonly (readonly [string, Omit<RootRequirement, "for">, string])[] = [
  ["B-015 decisions", { decisions: true }, "decisions"],
  ["B-016 overrides", { overrides: true }, "overrides"],
  ["B-017 frontend tools", { frontendTools: ["pick"] }, "frontend_tools"],
  ["B-018 a continuation", { continuation: true }, "continuation"],
];

test.each(rootRows)("%s is a gap exactly when it is asked for and not there", (_name, asked, gap) => {
  expect(negotiate({ for: "root", ...asked }, remoteStatelessText)).toEqual({ kind: "refused", gaps: [gap] });
  expect(negotiate({ for: "root", ...asked }, fullCapabilities)).toEqual({ kind: "matched" });
  expect(negotiate({ for: "root" }, remoteStatelessText)).toEqual({ kind: "matched" });
});

test("B-017 an empty list of frontend tools asks for nothing", () => {
  expect(negotiate({ for: "root", frontendTools: [] }, remoteStatelessText)).toEqual({ kind: "matched" });
});

const everything = { decisions: true, overrides: true, frontendTools: ["a"], continuation: true } as const;

test("B-019 B-024 the root list has every gap, in its order", () => {
  expect(negotiate({ for: "root", ...everything }, remoteStatelessText)).toEqual({
    kind: "refused",
    gaps: ["decisions", "overrides", "frontend_tools", "continuation"],
  });
});

test("B-020 D-09 transcript and output are adapted where the caller allows it, and are refused after everything else where not", () => {
  const asked = { for: "root", history: true, artifacts: true } as const;
  expect(negotiate({ ...asked, allow: ["transcript", "artifacts"] }, remoteStatelessText)).toEqual({
    kind: "adapted",
    gaps: ["transcript", "artifacts"],
  });
  expect(negotiate({ ...asked, allow: ["transcript"] }, remoteStatelessText)).toEqual({
    kind: "refused",
    gaps: ["artifacts"],
  });
  expect(negotiate({ ...asked, continuation: true }, remoteStatelessText)).toEqual({
    kind: "refused",
    gaps: ["continuation", "transcript", "artifacts"],
  });
  expect(negotiate(asked, fullCapabilities)).toEqual({ kind: "matched" });
});

test("B-021 B-022 B-023 D-08 a durable, resumable delegate needs both; the seed's pair needs neither", () => {
  const durable = { for: "delegate", policy: durableDelegate } as const;
  expect(negotiate(durable, remoteStatelessText)).toEqual({
    kind: "refused",
    gaps: ["delegate_persistence", "continuation"],
  });
  expect(negotiate(durable, fullCapabilities)).toEqual({ kind: "matched" });
  expect(negotiate({ for: "delegate", policy: ephemeralDelegate }, remoteStatelessText)).toEqual({ kind: "matched" });
  const half = { persistence: "durable", continuation: "disabled" } as const;
  expect(negotiate({ for: "delegate", policy: half }, remoteStatelessText)).toEqual({
    kind: "refused",
    gaps: ["delegate_persistence"],
  });
});

test("B-028 B-029 B-030 the delegate policy is closed: two values each, and the seed's pair is there by name", () => {
  const persistences = { ephemeral: 1, durable: 1 } satisfies Record<typeof ephemeralDelegate.persistence, 1>;
  const continuations = { disabled: 1, resumable: 1 } satisfies Record<typeof ephemeralDelegate.continuation, 1>;
  expect([Object.keys(persistences), Object.keys(continuations)].flat()).toHaveLength(4);
  expect(ephemeralDelegate).toEqual({ persistence: "ephemeral", continuation: "disabled" });
  expect(durableDelegate).toEqual({ persistence: "durable", continuation: "resumable" });
});

test("B-059 B-060 a refusal is one error that names the agent and every gap; what fits passes", () => {
  const refused = refusalOf("clerk", negotiate({ for: "root", ...everything }, remoteStatelessText));
  const text = "agent 'clerk' backend does not support: decisions, overrides, frontend_tools, continuation";
  expect(refused).toMatchObject({ code: "backend-execution-failed", message: `execution failed: ${text}` });
  expect(refused && bareText(refused)).toBe(text);
  const delegate = refusalOf("clerk", negotiate({ for: "delegate", policy: durableDelegate }, remoteStatelessText));
  expect(delegate?.message).toBe(
    "execution failed: agent 'clerk' backend does not support: delegate_persistence, continuation",
  );
  expect(refusalOf("clerk", negotiate({ for: "root" }, remoteStatelessText))).toBeUndefined();
});
