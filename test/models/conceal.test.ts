/** H1 to H3: what a provider says, without what it may not say. */
import { expect, test } from "vitest";
import { createConceal } from "../../src/providers/shared/conceal.ts";
import { hiddenHeaders } from "../../src/providers/shared/headers.ts";

const keys = [
  "plain-key-5566",
  "a+b/c==key-5566",
  'q"u\\o/te 77',
  "per%cent%2F66",
  "$tar.(dot)*[x]|y^",
  "back\\\\slash",
];
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const spellings: Readonly<Record<string, (key: string) => string>> = {
  "as it is": (key) => key,
  "as JSON": json,
  "as JSON with escaped slashes": (key) => json(key).replaceAll("/", "\\/"),
  "as JSON in JSON": (key) => json(json(key)),
  "as JSON with escaped slashes, in JSON": (key) => json(json(key).replaceAll("/", "\\/")),
  "as JSON by code": (key) =>
    key.replaceAll(/[^a-z0-9]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`),
  "URL-encoded": encodeURIComponent,
  "URL-encoded in lower case": (key) => encodeURIComponent(key).replaceAll(/%../g, (hex) => hex.toLowerCase()),
  "as in a form": (key) => new URLSearchParams({ k: key }).toString().slice(2),
  "as in a path": encodeURI,
};

test.each(Object.entries(spellings))("H1 a value is hidden %s", (_how, spell) => {
  for (const key of keys) expect(createConceal([key])(`saw <${spell(key)}> here`)).toBe("saw <[secret]> here");
});

test("H1 of two values that share a beginning the longer one is hidden whole", () => {
  expect(createConceal(["key-1", "key-1-long"])("key-1-long, key-1")).toBe("[secret], [secret]");
});

const echoes = [
  '{"host":"h","x-api-key":"KEY","accept":"*/*"}',
  '{\\"x-api-key\\":\\"KEY\\",\\"accept\\":\\"*/*\\"}',
  '{\\\\\\"x-api-key\\\\\\":\\\\\\"KEY\\\\\\"}',
  '{"authorization":"Bearer KEY"}',
  '["Authorization","Basic KEY","Host","h"]',
  "{'x-goog-api-key': 'KEY', 'a': 1}",
  "map[Authorization:[Bearer KEY] X-Api-Key:[KEY]]",
  "x-api-key: KEY\r\nhost: h",
  "X-Corp-Token=KEY",
  "cookie: a=KEY; b=KEY",
  "POST /v1?key=KEY&alt=sse",
  "%22x-api-key%22%3A%22KEY%22",
  "Incorrect API key: KEY.",
  '{"apiKey":"KEY"}',
];
test.each(echoes)("H2 what stands beside the name of a credential is hidden: %s", (echo) => {
  const seen = createConceal([])(echo.replaceAll("KEY", "zq-7781/plain_key=aaa"));
  expect(seen).not.toContain("7781");
  expect(seen).toContain("[secret]");
  for (const rest of ["accept", "host", "alt=sse"]) expect(seen.includes(rest)).toBe(echo.includes(rest));
});

test.each([
  "This model's maximum context length is 8192 tokens: 9000 were sent",
  "Unexpected token: } in JSON, max_tokens: 5",
  "Invalid key 'messages' at body.n: field required",
  "status 500: upstream: busy, retry in 5 s",
])("H2 other words stay as they are: %s", (words) => {
  expect(createConceal([])(words)).toBe(words);
});

test("H1 and H2 together leave one mark", () => {
  const conceal = createConceal(["corp_gateway_key_55aa"]);
  expect(conceal('{"x-api-key":"corp_gateway_key_55aa","authorization":"Bearer corp_gateway_key_55aa"}')).toBe(
    '{"x-api-key":"[secret]","authorization":"Bearer [secret]"}',
  );
});

test("a text made to take long does not", { timeout: 5_000 }, () => {
  const conceal = createConceal(["\\\\\\\\/\\\\\\\\/key", "a/b/c/d"]);
  for (const piece of ["\\", "a-", "x-api-key", "x-key:", "authorization: ", "\\/", "%5c", "a=;"]) {
    conceal(piece.repeat(50_000));
  }
});

test("of a header its value is hidden, whole and without its scheme; a short word or a version is not", () => {
  const headers = { authorization: "Bearer abc-123-xyz", "api-key": "k3", "x-team": "blue", "x-org": "org-long-name" };
  expect(hiddenHeaders({ ...headers, "api-version": "2024-10-21" })).toEqual([
    "Bearer abc-123-xyz",
    "abc-123-xyz",
    "k3",
    "org-long-name",
  ]);
});
