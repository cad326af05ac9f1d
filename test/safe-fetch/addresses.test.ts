/** F1: which addresses may be asked, in every way of writing them. No server: what is refused is refused before a connection. */
import { describe, expect, it } from "vitest";
import { nodeClock } from "../../src/platform/node-clock.ts";
import { parseAddress, parseRange } from "../../src/platform/safe-fetch/address.ts";
import { resolve } from "../../src/platform/safe-fetch/judge.ts";
import { closedBecause } from "../../src/platform/safe-fetch/ranges.ts";
import { readRules } from "../../src/platform/safe-fetch/rules.ts";
import { createSafeFetch } from "../../src/platform/safe-fetch/safe-fetch.ts";
import { refusal, resolverOf } from "./world.ts";

const closed = [
  "0.0.0.0",
  "10.0.0.1",
  "10.255.255.255",
  "100.64.0.1",
  "127.0.0.1",
  "127.255.0.3",
  "169.254.1.1",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.8",
  "192.168.1.1",
  "198.18.0.1",
  "203.0.113.9",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::127.0.0.1",
  "::ffff:127.0.0.1",
  "::ffff:a00:1",
  "0:0:0:0:0:ffff:c0a8:0101",
  "64:ff9b::169.254.169.254",
  "64:ff9b:1::1",
  "fe80::1",
  "fc00::1",
  "fd00:ec2::254",
  "ff02::1",
  "2001::1",
  "2001:db8::1",
  "2002:7f00:1::",
];
const open = [
  "1.1.1.1",
  "9.255.255.255",
  "11.0.0.1",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.1",
  "172.15.0.1",
  "172.32.0.1",
  "192.167.0.1",
  "223.255.255.255",
  "2606:4700::1111",
  "2a00:1450:4001::1",
  "::ffff:8.8.8.8",
  "64:ff9b::808:808",
];

describe("addresses", () => {
  it.each(closed)("%s is not of the open internet", (text) => {
    const address = parseAddress(text);
    expect(address).toBeDefined();
    expect(address && closedBecause(address)).toBeTypeOf("string");
  });

  it.each(open)("%s is of the open internet", (text) => {
    const address = parseAddress(text);
    expect(address).toBeDefined();
    expect(address && closedBecause(address)).toBeUndefined();
  });

  it.each([
    "",
    "1",
    "1.2.3",
    "1.2.3.4.5",
    "1.2.3.256",
    "01.2.3.4",
    "0x7f.0.0.1",
    ":",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "fe80::1%eth0",
    "::1.2.3",
    "g::1",
  ])("%j is no plain address", (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it.each(["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/a", "10.0.0.0/8/8", "host/8", "10.0.0.0/-1"])(
    "%j is no range",
    (text) => {
      expect(parseRange(text)).toBeUndefined();
    },
  );
});

/** The URL class puts these into the plain form; a test that it goes on doing so. */
const hosts = [
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "127.1",
  "127.0.0.1.",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "0",
  "１２７.0.0.1",
];

describe("hosts that are addresses", () => {
  it.each(hosts)("http://%s/ is refused though its host is listed", async (host) => {
    const fetch = createSafeFetch({ hosts: [host] });
    const { code, message, sent } = await refusal(fetch(`http://${host}/`));
    expect({ code, sent }).toEqual({ code: "fetch-refused", sent: false });
    expect(message).toMatch(/resolves to (127\.0\.0\.1|0\.0\.0\.0|::1|::ffff:7f00:1) \(/);
  });

  it("a name with one private address among its addresses is refused", async () => {
    const { resolver } = resolverOf({ "two.example": [["93.184.216.34", "10.0.0.7"]] });
    const fetch = createSafeFetch({ hosts: ["two.example"] }, { resolver });
    const { code, message } = await refusal(fetch("https://two.example/"));
    expect(code).toBe("fetch-refused");
    expect(message).toContain("10.0.0.7 (private, 10.0.0.0/8)");
  });

  it("a range that covers a metadata address does not allow it; the address by itself does", async () => {
    const { resolver } = resolverOf({ "meta.example": [["169.254.169.254"]] });
    const wide = createSafeFetch({ hosts: ["meta.example"], privateRanges: ["169.254.0.0/16"] }, { resolver });
    expect((await refusal(wide("https://meta.example/"))).message).toContain("169.254.169.254 (cloud metadata)");
    const exact = readRules({ hosts: ["meta.example"], privateRanges: ["169.254.169.254"] });
    const attempt = { method: "GET", url: new URL("https://meta.example/"), from: undefined };
    const found = await resolve(attempt, exact, { resolver, clock: nodeClock, signal: undefined });
    expect(found).toEqual([{ address: "169.254.169.254", family: 4 }]);
  });

  it("plain http: to the open internet is refused", async () => {
    const { resolver } = resolverOf({ "plain.example": [["93.184.216.34"]] });
    const fetch = createSafeFetch({ hosts: ["plain.example"] }, { resolver });
    expect((await refusal(fetch("http://plain.example/"))).message).toContain("plain http: is for addresses of");
  });
});

describe("hosts and schemes", () => {
  const hosts = ["api.example", "ports.example:8443", "*.below.example"];
  const asked = async (url: string): Promise<{ code: string; message: string; asked: readonly string[] }> => {
    const names = resolverOf({});
    const { code, message } = await refusal(createSafeFetch({ hosts }, { resolver: names.resolver })(url));
    return { code, message, asked: names.asked };
  };

  it.each([
    "https://api.example/",
    "https://API.example./x",
    "https://ports.example:8443/",
    "https://a.below.example/",
    "https://a.b.below.example/",
  ])("%s may be asked", async (url) => {
    expect(await asked(url)).toMatchObject({ code: "fetch-unreachable", asked: [expect.any(String)] });
  });

  it.each([
    "https://other.example/",
    "https://api.example.evil/",
    "https://evilapi.example/",
    "https://ports.example/",
    "https://below.example/",
    "https://notbelow.example/",
    "https://user:secret@api.example/",
    "ftp://api.example/",
    "file:///etc/passwd",
    "data:text/plain,hello",
  ])("%s is refused before its name is resolved", async (url) => {
    const { code, message, asked: names } = await asked(url);
    expect({ code, names }).toEqual({ code: "fetch-refused", names: [] });
    expect(message).not.toContain("secret");
  });

  it("a name that resolves to nothing, throws or never answers is unreachable, and nothing was sent", async () => {
    const resolvers = [
      async () => [],
      () => Promise.reject(new Error("ENOTFOUND")),
      () => new Promise<never>(() => undefined),
    ];
    for (const resolver of resolvers) {
      const fetch = createSafeFetch({ hosts, limits: { timeoutMs: 20 } }, { resolver });
      expect(await refusal(fetch("https://api.example/"))).toMatchObject({ code: "fetch-unreachable", sent: false });
    }
  });

  it("rules that cannot be used are refused with every problem", () => {
    const rules = { hosts: ["a/b", "*."], privateRanges: ["10"], limits: { bytes: 0, seconds: 1 }, proxy: "x" };
    const make = (): unknown => createSafeFetch(rules as never);
    for (const part of [/"a\/b" is no host/, /"10" is no address/, /limits\.bytes/, /limits\.seconds/, /proxy/]) {
      expect(make).toThrow(part);
    }
    expect(() => createSafeFetch({ hosts: [] })).toThrow(/at least one host/);
  });
});
