/** Agent cards that lie, or ask for what we do not do: refused with the reason, and nothing is sent. */

import { inspect } from "node:util";
import { secret } from "holdfast";
import { a2a } from "holdfast/a2a";
import { describe, expect, it } from "vitest";
import { honest, type Lies, openLiar, says, task } from "./liar.ts";
import { endpointAt, turn } from "./turn.ts";

const at = (url: string, more: object = {}): object => ({
  supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0", ...more }],
});

const lies: Readonly<Record<string, [Lies["card"], string | RegExp]>> = {
  "is no JSON": [(response) => void response.end("<html>"), "it is no JSON"],
  "is a list": [(response) => void response.end("[]"), "it is no JSON object"],
  "has no shape": [(response) => void response.end('{"name":"x"}'), "shape of a card"],
  "names nobody": [{ name: "" }, "it names no agent"],
  "has no interface": [{ supportedInterfaces: [] }, "it offers no interface"],
  "speaks gRPC": [at("http://127.0.0.1/", { protocolBinding: "GRPC" }), "it offers GRPC 1.0; we speak"],
  "is of another version": [at("http://127.0.0.1/", { protocolVersion: "2.0" }), "it offers JSONRPC 2.0"],
  "is elsewhere": [at("https://elsewhere.example/"), "its interface is at elsewhere.example, not at 127.0.0.1"],
  "is at another port": [at("http://127.0.0.1:6379/"), "its interface is at 127.0.0.1:6379, not at 127.0.0.1"],
  "is at the cloud's metadata": [at("http://169.254.169.254/"), "its interface is at 169.254.169.254"],
  "is a file": [at("file:///etc/passwd"), "its interface is at file:///etc/passwd"],
  "is nowhere": [at("not an address"), "its interface is at"],
  "requires an extension": [
    { capabilities: { streaming: true, extensions: [{ uri: "urn:x", required: true }] } },
    "it requires the extension urn:x",
  ],
  "demands a login": [
    {
      securitySchemes: { key: { apiKeySecurityScheme: { location: "query", name: "k" } } },
      securityRequirements: [{ schemes: { key: { list: [] } } }],
    },
    "it demands key; the endpoint has no auth",
  ],
  "is not there": [(response) => void response.writeHead(404).end(), /^agent not found: .*status 404/],
  "is broken": [(response) => void response.writeHead(500).end(), "status 500"],
  "leads to a private address": [
    (response) => void response.writeHead(302, { location: "http://10.0.0.1/" }).end(),
    "10.0.0.1 is not among the hosts",
  ],
  "is enormous": [
    (response) => void response.writeHead(200, { "content-length": "100000000" }).end("{"),
    "a body of 100000000 bytes",
  ],
};

describe("a card that", () => {
  it.each(Object.entries(lies))("%s is refused", async (_name, [card, why]) => {
    const liar = await openLiar(card === undefined ? {} : { card });
    const refused = liar.backend().executeRoot(turn("hello"));
    await expect(refused).rejects.toThrow(why);
    await expect(refused).rejects.toMatchObject({ code: expect.stringMatching(/^backend-/) });
    expect(liar.calls).toEqual([]);
  });

  it("is elsewhere is followed when the operator lists the host", async () => {
    const liar = await openLiar({ card: at("https://elsewhere.example/") });
    const backend = liar.backend({ options: { hosts: ["elsewhere.example"], privateRanges: ["127.0.0.1"] } });
    // Offline: the name has no address. What matters is that the card was not the reason.
    await expect(backend.executeRoot(turn("hello"))).rejects.toThrow("was not taken");
  });

  it("could not be read is asked for again by the next turn", async () => {
    let times = 0;
    const liar = await openLiar({
      card(response) {
        times += 1;
        if (times === 1) response.writeHead(503).end();
        else response.end(JSON.stringify(honest(liar.url)));
      },
      answer: (call) => call.events([{ message: { messageId: "x", role: "ROLE_AGENT", parts: [{ text: "hi" }] } }]),
    });
    const backend = liar.backend();
    await expect(backend.executeRoot(turn("hello"))).rejects.toThrow("status 503");
    expect((await backend.executeRoot(turn("hello"))).output?.text).toBe("hi");
    await backend.executeRoot(turn("hello"));
    expect(times).toBe(2);
  });
});

describe("credentials", () => {
  const bearer = {
    securitySchemes: { login: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
    securityRequirements: [{ schemes: { login: { list: [] } } }],
  };
  const answer: Lies["answer"] = (call) =>
    call.events([{ message: { messageId: "x", role: "ROLE_AGENT", parts: [{ text: "hi" }] } }]);

  it("go with the card's request and with every other, as a bearer token or under a header's name", async () => {
    const liar = await openLiar({ card: bearer, answer });
    await liar.backend({ auth: { type: "bearer", token: secret("t0ken") } }).executeRoot(turn("hello"));
    expect(liar.headers.map(({ authorization }) => authorization)).toEqual(["Bearer t0ken", "Bearer t0ken"]);
    const keyed = await openLiar({
      card: {
        securitySchemes: { key: { apiKeySecurityScheme: { location: "header", name: "X-Key" } } },
        securityRequirements: [{ schemes: { key: { list: [] } } }],
      },
      answer,
    });
    await keyed.backend({ auth: { type: "api-key", header: "x-key", key: "k" } }).executeRoot(turn("hello"));
    expect(keyed.headers.map((headers) => headers["x-key"])).toEqual(["k", "k"]);
  });

  it("are in no error and no result, also when the other side repeats them", async () => {
    const token = "t0ken-that-nobody-may-see";
    const repeats: NonNullable<Lies["answer"]>[] = [
      (call) => call.error(-32602, `bad ${token}`),
      (call) => call.response.writeHead(400).end(`bad Bearer ${token} ${"x".repeat(100_000)}`),
      (call) => call.events([`{"jsonrpc": "${token}"`]),
      (call) =>
        call.events([
          task("COMPLETED", { artifacts: [{ artifactId: token, parts: [{ data: { [token]: [token] } }] }] }),
        ]),
      (call) => call.events([task("FAILED", { status: { state: "TASK_STATE_FAILED", ...says(`bad ${token}`) } })]),
      (call) => call.events([says(`your token is ${token}`)]),
    ];
    const told: string[] = [];
    for (const answer of repeats) {
      const liar = await openLiar({ answer });
      const backend = liar.backend({ auth: { type: "bearer", token: secret(token) } });
      told.push(
        await backend.executeRoot(turn("hello")).then(
          (result) => JSON.stringify(result),
          (error) => inspect(error, { depth: 9 }),
        ),
      );
    }
    const liar = await openLiar({ card: (response) => void response.end(token) });
    const read = liar.backend({ auth: { type: "bearer", token } }).executeRoot(turn("hello"));
    told.push(await read.then(String, (error) => inspect(error, { depth: 9 })));
    expect(told).toHaveLength(7);
    for (const each of told) expect(each).not.toContain(token.slice(0, 8)); // no piece of it either
    expect(told.filter((each) => each.includes("[secret]")).length).toBeGreaterThanOrEqual(5);
    expect(Math.max(...told.map(({ length }) => length))).toBeLessThan(60_000);
  });

  it("of another kind than the card demands are refused before anything but the card is asked for", async () => {
    const liar = await openLiar({ card: bearer, answer });
    const backend = liar.backend({ auth: { type: "api-key", header: "x-key", key: "k" } });
    await expect(backend.executeRoot(turn("hello"))).rejects.toThrow("it demands login; the endpoint has api-key");
    expect(liar.calls).toEqual([]);
  });
});

describe("an endpoint", () => {
  const define = (more: object): unknown => a2a({ ...endpointAt("https://far.example"), ...more } as never);

  it.each([
    [{ auth: { type: "basic", token: "x" } }, "auth.type: must be bearer or api-key, not basic"],
    [{ auth: { type: "bearer" } }, "auth.token: is needed for bearer"],
    [{ auth: { type: "bearer", token: "a", extra: "b" } }, "auth.extra: unknown for bearer"],
    [{ auth: { type: "api-key", header: "a b", key: "c" } }, "auth.header: must be a header's name"],
    [{ auth: { type: "bearer", token: "a\nb" } }, "cannot be sent in a header"],
    [{ options: { hosts: ["a/b"] } }, '"a/b" is no host'],
    [{ options: { privateRanges: ["10"] } }, '"10" is no address'],
    [{ options: { pollInterval: 0 } }, "pollInterval: must be a whole number"],
    [{ options: { maxBytes: 1e9 } }, "maxBytes: must be a whole number"],
    [{ options: { retries: 3 } }, "retries: unknown option"],
  ])("%j is refused when it is defined", (more, why) => {
    expect(() => define(more)).toThrow(why);
  });

  it("asks nothing before the first turn, and finds the card below its address and target", async () => {
    const liar = await openLiar({ card: (response) => void response.writeHead(404).end() });
    const backend = a2a(endpointAt(`${liar.url}/agents/`, { target: "a b" })).build();
    expect(liar.headers).toEqual([]);
    await expect(backend.executeRoot(turn("hello"))).rejects.toThrow(
      "/agents/a%20b/.well-known/agent-card.json answered",
    );
  });
});
