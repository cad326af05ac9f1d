/** A small TCP proxy in front of the server: it can cut a connection after a request, and change what the server says. */
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** What becomes of a connection on which the client has just sent this. */
export type Verdict = "pass" | "cut-before-answer" | "cut-before-request";

export interface Proxy {
  readonly url: string;
  cuts(): number;
  /** How often someone has connected. */
  connections(): number;
}

type Judge = (sent: Buffer) => Verdict;
/** The server's answer as the client gets it; of the same length. */
type Edit = (answer: Buffer) => Buffer;

export async function createProxy(url: string, judge: Judge, edit?: Edit): Promise<Proxy> {
  const target = new URL(url);
  const open = new Set<Socket>();
  let cuts = 0;
  let connections = 0;

  function join(client: Socket): void {
    const server = connect(Number(target.port || 5432), target.hostname);
    let isMute = false;
    connections += 1;
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on("error", end);
      socket.on("close", () => {
        open.delete(socket);
        end();
      });
    }
    client.on("data", (sent) => {
      const verdict = isMute ? "pass" : judge(sent);
      if (verdict !== "pass") cuts += 1;
      if (verdict === "cut-before-request") return end();
      isMute ||= verdict === "cut-before-answer";
      server.write(sent);
    });
    server.on("data", (answer) => {
      if (isMute) end();
      else client.write(edit?.(answer) ?? answer);
    });
  }

  const listener = createServer(join);
  await new Promise<void>((resolve) => {
    listener.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    listener.close();
  });
  const address = listener.address();
  const through = new URL(url);
  through.hostname = "127.0.0.1";
  through.port = String(typeof address === "object" && address ? address.port : 0);
  return { url: through.href, cuts: () => cuts, connections: () => connections };
}
