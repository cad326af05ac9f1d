/** A reply with text and three calls over real HTTP, cut at many bytes in one way. HOLDFAST_CUT_BYTES=all plays every byte. */
import { expect } from "vitest";
import { createRuntime, type Model, memory, textOf } from "../../../src/index.ts";
import { type CutServer, firstReply, openCutServer, said, type Way, type Wire, wanted } from "./cut-server.ts";
import { type Reading, type Told, toldBy } from "./oracle.ts";
import { type Acted, clerkOf, inParallel, type Played, play } from "./play-cut.ts";

const playsAll = process.env["HOLDFAST_CUT_BYTES"] === "all";

export interface Vendor {
  readonly wire: Wire;
  readonly reading: Reading;
  readonly model: (server: CutServer) => Model;
}

export interface Campaign {
  readonly way: Way;
  /** One of so many bytes, and those around the end of each event. */
  readonly every: number;
  readonly around: readonly number[];
  readonly modelIdleMs?: number;
}

export interface Figures {
  readonly cuts: number;
  /** Runs whose text was gone on from. */
  readonly wentOn: number;
  /** Runs whose first message has the calls that were whole, and not all of them. */
  readonly someCalls: number;
}

export async function playCuts(vendor: Vendor, campaign: Campaign): Promise<Figures> {
  const { way, modelIdleMs } = campaign;
  await using server = await openCutServer(vendor.wire);
  const acted: Acted = new Map();
  const clerk = clerkOf(vendor.model(server), acted);
  // Everything at once is slow where the machine is busy; that must not look like silence.
  const limits = modelIdleMs === undefined ? {} : { modelIdleMs: playsAll ? 3 * modelIdleMs : modelIdleMs };
  await using runtime = await createRuntime({ agents: [clerk], store: memory(), limits });
  const events = vendor.wire.events(firstReply).map((event) => Buffer.from(event));
  const whole = Buffer.concat(events);
  const offsets = offsetsOf(events, campaign);
  let wentOn = 0;
  let someCalls = 0;
  await inParallel(offsets, 200, async (at) => {
    server.cut(`cut-${at}`, { at, way });
    const bytes = Buffer.concat([whole.subarray(0, at), Buffer.from(way.more ?? "")]);
    const played = await play({ runtime, clerk, acted, server }, `cut-${at}`);
    try {
      check(played, toldBy(bytes, way.after === "end", vendor.reading));
    } catch (cause) {
      throw new Error(`cut after ${at} of ${whole.length} bytes`, { cause });
    }
    if (played.requests[1]?.said !== undefined) wentOn += 1;
    if (callsIn(played) < wanted.length) someCalls += 1;
  });
  const figures = { cuts: offsets.length, wentOn, someCalls };
  if (playsAll) console.info(JSON.stringify({ way, ...figures }));
  return figures;
}

function offsetsOf(events: readonly Buffer[], { every, around }: Campaign): readonly number[] {
  const starts = events.map((_, at) => Buffer.concat(events.slice(0, at)).length);
  const near = new Set(starts.flatMap((start) => around.map((each) => start + each)));
  const all = Array.from({ length: Buffer.concat(events).length + 1 }, (_, at) => at);
  return playsAll ? all : all.filter((at) => at % every === 0 || near.has(at));
}

function check(played: Played, told: Told): void {
  const { outcome, acted, messages, requests } = played;
  expect(outcome).toBe("completed");
  expect(acted).toEqual(wanted); // each whole, and once
  expect(messages.map(textOf).join("")).toBe(`${said}Done.`);
  const calls = told.isMalformed ? 0 : told.calls; // Y3
  expect(callsIn(played), "calls of the first message").toBe(calls > 0 ? calls : wanted.length);
  const isKept = !told.isMalformed && calls === 0 && told.text.trim() !== "";
  expect(requests[1]?.said, "what the model goes on from").toBe(isKept ? told.text : undefined);
}

function callsIn({ messages: [first] }: Played): number {
  return first?.parts.filter(({ type }) => type === "tool-call").length ?? 0;
}
