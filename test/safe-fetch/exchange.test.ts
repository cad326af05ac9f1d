/** F2 to F5 against servers of this machine. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { createSafeFetch } from "../../src/platform/safe-fetch/safe-fetch.ts";
import { openFetch, openSite, refusal, resolverOf } from "./world.ts";

const redirectTo = (response: ServerResponse, location: string, status = 302): void => {
  response.writeHead(status, { location }).end("moved");
};

describe("a connection", () => {
  it("F2: goes to the address that was judged, whatever the name resolves to afterwards", async () => {
    await using site = await openSite((_request, response) => response.end("hello"));
    const names = resolverOf({ "rebind.example": [["127.0.0.1"], ["10.0.0.1"]] });
    const fetch = createSafeFetch(
      { hosts: ["rebind.example"], privateRanges: ["127.0.0.1"] },
      { resolver: names.resolver },
    );
    const url = site.url("rebind.example");
    expect(await (await fetch(url)).text()).toBe("hello");
    expect(site.seen[0]?.headers.host).toBe(new URL(url).host);
    expect(names.asked).toEqual(["rebind.example"]); // once for the connection
    expect((await refusal(fetch(url))).message).toContain("10.0.0.1 (private");
    expect(site.seen).toHaveLength(1);
  });

  it("carries method, headers and body, and gives status, headers and body back", async () => {
    await using site = await openSite(async (request, response) => {
      const [body] = await once(request, "data");
      response.writeHead(418, { "x-seen": `${request.method} ${request.headers["x-a"]} ${body}` }).end("tea");
    });
    const response = await openFetch()(site.url(), { method: "POST", headers: { "x-a": "b" }, body: "c" });
    expect([response.status, response.headers.get("x-seen"), await response.text()]).toEqual([418, "POST b c", "tea"]);
    expect(site.seen[0]?.headers["accept-encoding"]).toBe("identity");
  });

  it("F5: says that nothing was sent when nobody listens, and that something may have been when it broke later", async () => {
    const site = await openSite((request) => request.socket.destroy());
    expect(await refusal(openFetch()(site.url()))).toMatchObject({ code: "fetch-unreachable", sent: true });
    await site[Symbol.asyncDispose]();
    expect(await refusal(openFetch()(site.url()))).toMatchObject({ code: "fetch-unreachable", sent: false });
  });

  it("rejects with the caller's own reason, before and during the answer", async () => {
    await using site = await openSite((_request, response) => {
      response.write("a");
    });
    const mine = new Error("mine");
    await expect(openFetch()(site.url(), { signal: AbortSignal.abort(mine) })).rejects.toBe(mine);
    expect(site.seen).toHaveLength(0);
    const stop = new AbortController();
    const response = await openFetch()(site.url(), { signal: stop.signal });
    stop.abort(mine);
    await expect(response.text()).rejects.toBe(mine);
  });
});

describe("redirects", () => {
  it("F3: each is judged: to a private address, another host, http: or another scheme it is refused", async () => {
    let location = "";
    await using site = await openSite((_request, response) => redirectTo(response, location));
    const fetch = openFetch({}, { hosts: ["127.0.0.1", "10.0.0.1", "inner.example"], privateRanges: ["127.0.0.1"] });
    for (const [to, why] of [
      ["http://10.0.0.1/", "10.0.0.1 (private"],
      ["http://127.0.0.1.nip.example/", "not among the hosts"],
      ["http://2130706434/", "not among the hosts"],
      ["file:///etc/passwd", "its scheme is file"],
      ["http://user:pw@127.0.0.1/", "a user or a password"],
      ["http://[", "no address"],
    ]) {
      location = to ?? "";
      const { code, message } = await refusal(fetch(site.url()));
      expect(code).toBe("fetch-refused");
      expect(message).toContain(why);
    }
  });

  it("F3: there are few of them", async () => {
    let left = 3;
    await using site = await openSite((_request, response) => {
      left -= 1;
      if (left >= 0) redirectTo(response, `/${left}`);
      else response.end("arrived");
    });
    expect(await (await openFetch({ redirects: 3 })(site.url())).text()).toBe("arrived");
    left = 1_000;
    expect((await refusal(openFetch({ redirects: 3 })(site.url()))).message).toContain("again after 3 redirects");
  });

  it("F3: to another origin go no credentials, within one they stay", async () => {
    await using other = await openSite((_request, response) => response.end("there"));
    await using site = await openSite((request, response) => {
      redirectTo(response, request.url === "/" ? "/again" : other.url());
    });
    const headers = {
      authorization: "Bearer key",
      "x-api-key": "key",
      cookie: "a=key",
      accept: "text/plain",
      "x-open": "1",
    };
    const response = await openFetch({}, { publicHeaders: ["X-Open"] })(site.url(), { headers });
    expect(await response.text()).toBe("there");
    expect(site.seen[1]?.headers).toMatchObject({ authorization: "Bearer key", "x-api-key": "key" });
    expect(other.seen[0]?.headers).toMatchObject({ accept: "text/plain", "x-open": "1" });
    expect(JSON.stringify(other.seen[0]?.headers)).not.toContain("key");
  });

  it("F3: a request with a body stays what it is, or is refused", async () => {
    let status = 307;
    await using other = await openSite((_request, response) => response.end());
    await using site = await openSite((request, response) => {
      if (request.url === "/") redirectTo(response, "/moved", status);
      else if (request.url === "/out") redirectTo(response, other.url(), 307);
      else request.pipe(response);
    });
    const send = (path: string): Promise<Response> =>
      openFetch()(`${site.url()}${path}`, { method: "POST", body: "message" });
    expect(await (await send("")).text()).toBe("message");
    for (status of [301, 302, 303]) expect((await refusal(send(""))).code).toBe("fetch-refused");
    expect((await refusal(send("out"))).message).toContain("redirects a POST to");
    expect(other.seen).toHaveLength(0);
  });
});

describe("limits of an answer", () => {
  it("F4: one that is announced as too large is refused before it is read, one that grows too large when it does", async () => {
    await using site = await openSite((request, response) => {
      if (request.url === "/announced") response.writeHead(200, { "content-length": "100000000" });
      response.write("x".repeat(600));
      setTimeout(() => response.write("x".repeat(600)), 5);
    });
    const fetch = openFetch({ bytes: 1_000 });
    expect(await refusal(fetch(`${site.url()}announced`))).toMatchObject({ code: "fetch-too-large", sent: true });
    const growing = await fetch(site.url());
    expect((await refusal(growing.text())).message).toContain("more than 1000 bytes");
  });

  it("F4: an answer that is packed is refused", async () => {
    await using site = await openSite((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end("bomb");
    });
    expect((await refusal(openFetch()(site.url()))).message).toContain("its answer is gzip");
  });

  it("F4: no answer, a slow head and a slow body end in time", async () => {
    await using site = await openSite((request, response) => {
      if (request.url === "/body") response.write("x");
    });
    const fetch = openFetch({ timeoutMs: 40 });
    expect(await refusal(fetch(site.url()))).toMatchObject({ code: "fetch-timeout", sent: true });
    const body = await fetch(`${site.url()}body`);
    expect((await refusal(body.text())).code).toBe("fetch-timeout");
  });

  it("F4: an answer that breaks off is not taken for whole, also when nobody reads it yet", async () => {
    await using site = await openSite((_request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half");
      setTimeout(() => response.destroy(), 5);
    });
    const read = await openFetch()(site.url());
    expect((await refusal(read.text())).code).toBe("fetch-unreachable");
    const late = await openFetch()(site.url());
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await refusal(late.text())).code).toBe("fetch-unreachable");
  });
});

describe("a stream of events", () => {
  const stream = (response: ServerResponse): ServerResponse =>
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });

  it("F4: may be longer than the time for an answer and larger than one answer", async () => {
    await using site = await openSite((_request, response) => {
      stream(response);
      let sent = 0;
      const timer = setInterval(() => {
        response.write(`data: ${"x".repeat(100)}\n\n`);
        sent += 1;
        if (sent < 20) return;
        clearInterval(timer);
        response.end();
      }, 5);
    });
    const response = await openFetch({ timeoutMs: 60, idleMs: 5_000, bytes: 200 })(site.url());
    expect((await response.text()).length).toBe(20 * 108);
  });

  it("F4: a line, or all of it, that is too large ends it", async () => {
    await using site = await openSite((request, response) => {
      stream(response).write(request.url === "/line" ? `data: a\n${"x".repeat(300)}` : "data: a\n\n".repeat(200));
    });
    const fetch = openFetch({ bytes: 200, streamBytes: 1_000 });
    expect((await refusal((await fetch(`${site.url()}line`)).text())).message).toContain(
      "a line of more than 200 bytes",
    );
    expect((await refusal((await fetch(site.url())).text())).message).toContain("a stream of more than 1000 bytes");
  });

  it("F4: silence ends it; whoever stops reading ends the connection", async () => {
    let closed = 0;
    await using site = await openSite((request, response) => {
      request.socket.on("close", () => {
        closed += 1;
      });
      stream(response).write("data: a\n\n");
    });
    const response = await openFetch({ idleMs: 30 })(site.url());
    expect((await refusal(response.text())).message).toContain("silent for 30 ms");
    const reader = (await openFetch()(site.url())).body!.getReader();
    await reader.read();
    const pending = reader.read();
    await reader.cancel();
    expect((await pending).done).toBe(true);
    while (closed < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});
