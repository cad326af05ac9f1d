/**
 * A pooler in transaction mode, as small as it can be: each client has two connections to the server, and every
 * transaction (all between two answers "ready, idle") goes to the other one. What a client leaves behind on a connection
 * is not there in its next transaction. Needs a server that asks for the password in clear text, so that it can log in
 * twice with what the client sent.
 */
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface TransactionPooler {
  readonly url: string;
  /** How often a client was moved to its other connection. */
  moves(): number;
}

export async function createTransactionPooler(url: string): Promise<TransactionPooler> {
  const { port, hostname } = new URL(url);
  const open = new Set<Socket>();
  let moves = 0;

  function serve(client: Socket): void {
    const lines = [connect(Number(port), hostname), connect(Number(port), hostname)] as const;
    const hello: Buffer[] = []; // the startup packet and the password
    let ready = 0;
    let current = 0;
    const end = (): void => {
      for (const socket of [client, ...lines]) socket.destroy();
    };
    for (const socket of [client, ...lines]) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on("error", end);
      socket.on("close", end);
    }
    client.on("data", (sent) => {
      if (ready < 2) hello.push(sent);
      lines[current]?.write(sent);
    });

    /** The second connection logs in with the client's own words; the client hears nothing of it. */
    function logIn(type: string, frame: Buffer): void {
      const isAsked = type === "R" && frame.readInt32BE(5) === 3;
      if (isAsked && hello[1]) lines[1].write(hello[1]);
      if (type === "E") end();
      if (type !== "Z") return;
      ready = 2;
      client.write(frame);
    }

    eachFrame(lines[0], (type, frame) => {
      if (type === "Z" && ready === 0) {
        ready = 1;
        lines[1].write(hello[0] ?? "");
      } else pass(type, frame);
    });
    eachFrame(lines[1], (type, frame) => (ready < 2 ? logIn(type, frame) : pass(type, frame)));

    function pass(type: string, frame: Buffer): void {
      const isIdle = type === "Z" && frame.toString("latin1", 5, 6) === "I";
      if (isIdle && ready === 2) {
        current = 1 - current;
        moves += 1;
      }
      client.write(frame);
    }
  }

  const listener = createServer(serve);
  await new Promise<void>((resolve) => {
    listener.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    listener.close();
  });
  const address = listener.address();
  const through = new URL(url);
  through.port = String(typeof address === "object" && address ? address.port : 0);
  return { url: through.href, moves: () => moves };
}

/** The server's messages, one by one: a letter, a length, a body. */
function eachFrame(socket: Socket, take: (type: string, frame: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on("data", (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 5) {
      const size = rest.readInt32BE(1) + 1;
      if (rest.length < size) return;
      const frame = rest.subarray(0, size);
      rest = rest.subarray(size);
      take(frame.toString("latin1", 0, 1), frame);
    }
  });
}
