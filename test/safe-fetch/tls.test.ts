/** https: the name is what the certificate is held against, the judged address is where the connection goes. */
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createSafeFetch, type SafeFetch } from "../../src/platform/safe-fetch/safe-fetch.ts";
import { certificate, key } from "./certificate.ts";
import { refusal, resolverOf } from "./world.ts";

const trusted = getCACertificates();
const seen: string[] = [];
const server = createServer({ cert: certificate, key }, (request, response) => {
  const { servername } = request.socket as { readonly servername?: string };
  seen.push(`${servername} ${request.headers.host}`);
  if (request.url === "/down") response.writeHead(302, { location: `http://127.0.0.1:${port}/` });
  response.end("hello");
});
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  setDefaultCACertificates(trusted);
  server.close();
});

function open(): SafeFetch {
  const names = { "far.example": [["127.0.0.1"]], "other.example": [["127.0.0.1"]] };
  const rules = { hosts: Object.keys(names).concat("127.0.0.1"), privateRanges: ["127.0.0.1"] };
  return createSafeFetch(rules, { resolver: resolverOf(names).resolver });
}

it("a certificate that nobody vouches for, or for another name, is refused before anything is sent", async () => {
  expect(await refusal(open()(`https://far.example:${port}/`))).toMatchObject({
    code: "fetch-unreachable",
    sent: false,
  });
  setDefaultCACertificates([certificate]);
  expect(await refusal(open()(`https://other.example:${port}/`))).toMatchObject({
    code: "fetch-unreachable",
    sent: false,
  });
  expect(seen).toEqual([]);
});

it("the right name is answered", async () => {
  setDefaultCACertificates([certificate]);
  expect(await (await open()(`https://far.example:${port}/`)).text()).toBe("hello");
  expect(seen).toEqual([`far.example far.example:${port}`]);
});

it("F3: no redirect leads from https: to http:", async () => {
  setDefaultCACertificates([certificate]);
  const { code, message } = await refusal(open()(`https://far.example:${port}/down`));
  expect([code, message]).toEqual(["fetch-refused", expect.stringContaining("from https: to http:")]);
});
