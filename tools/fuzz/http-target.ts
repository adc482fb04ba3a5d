// Sends raw bytes to all HTTP servers of the repository, which run in this process. Findings are: the process exits, a
// server reports an internal error, responds with something that is not HTTP, or stops responding to valid requests.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { Finding, pick, type Random, type Target } from "./engine.ts";
import { type RawRequest, randomRequest } from "./http-requests.ts";
import { type FuzzedServer, startServers } from "./http-servers.ts";

/** A client that sends an incomplete request ends its side after this time. */
const patienceMs = 20;
/** Every server must have responded or closed the connection by then, even on a busy machine. */
const hangingMs = 60_000;

export async function httpTarget(): Promise<Target> {
  const { servers, ...running } = await startServers();
  const weighted = servers.flatMap((server) => Array.from({ length: server.tls ? 1 : 4 }, () => server));
  const statuses = new Map<number, number>();
  return {
    concurrency: 64,
    async attempt(random: Random) {
      const server = pick(random, weighted);
      const request = randomRequest(random, server);
      const status = judge(server, request, await exchange(server, request));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    },
    summary: () =>
      [...statuses]
        .sort()
        .map(([status, count]) => `${count} × ${status || "no answer"}`)
        .join(", "),
    async check() {
      for (const server of servers) await probe(server);
      for (const error of running.errors.splice(0))
        throw new Finding(`a server failed: ${error instanceof Error ? error.stack : String(error)}`);
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

/** Returns the status of the response, or 0 if there is none. @throws Finding */
function judge(server: FuzzedServer, request: RawRequest, answer: string): number {
  const said = () => `${server.name}\nsent ${JSON.stringify(Buffer.concat(request.pieces).toString("latin1").slice(0, 3000))}`;
  if (answer === "") return 0;
  const status = Number(/^HTTP\/1\.[01] ([1-5]\d\d) /.exec(answer)?.[1]);
  if (Number.isNaN(status)) throw new Finding(`an answer that is not HTTP: ${JSON.stringify(answer.slice(0, 200))}\n${said()}`);
  if (server.isFailure(status, answer)) throw new Finding(`${kindOf(answer)}\n${answer.slice(0, 2000)}\n${said()}`);
  return status;
}

/** Groups responses: by the top of the stack trace, or else by their first line. */
function kindOf(answer: string): string {
  const place = /at [^\n"]*?\(?[^\s"(]*\/(\w[\w./-]*\.ts:\d+)/.exec(answer)?.[1];
  const message = /"message":"([^"]{0,80})/.exec(answer)?.[1] ?? "";
  return place === undefined ? `failed: ${answer.split("\r\n", 1)[0]} ${message}` : `failed at ${place}: ${message}`;
}

/** Checks that a valid request still gets the expected response. */
async function probe(server: FuzzedServer): Promise<void> {
  const { request, status } = server.probe;
  const answer = await exchange(server, { pieces: [Buffer.from(request)], afterwards: "wait" });
  if (!answer.startsWith(`HTTP/1.1 ${status} `))
    throw new Finding(`${server.name}: expected ${status} for a proper request, found ${JSON.stringify(answer.slice(0, 300))}`);
}

/** Returns the beginning of the response, or "" if there is none. */
async function exchange({ port, tls }: FuzzedServer, { pieces, afterwards }: RawRequest): Promise<string> {
  const socket: Socket = tls
    ? connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false })
    : connect({ port, host: "127.0.0.1", noDelay: true });
  socket.on("error", () => {}); // a reset is a valid outcome
  const heard = once(socket, "data").then(([chunk]) => (chunk as Buffer).toString("latin1"));
  const closed = once(socket, "close").then(() => "");
  heard.catch(() => {});
  closed.catch(() => {});
  await Promise.race([once(socket, tls ? "secureConnect" : "connect").catch(() => {}), closed.catch(() => {})]);
  for (const piece of pieces) {
    socket.write(piece);
    if (pieces.length > 1) await new Promise((turn) => setImmediate(turn));
  }
  if (afterwards === "end") socket.end();
  if (afterwards === "reset") {
    if (tls) socket.destroy();
    else socket.resetAndDestroy();
    return "";
  }
  const answered = Promise.race([heard.catch(() => ""), closed.catch(() => "")]);
  using _patience = after(patienceMs, () => socket.end());
  using hanging = after(hangingMs, () => socket.destroy(new Error("hanging")));
  const answer = await answered;
  if (hanging.fired)
    throw new Finding(`a connection hangs\nsent ${JSON.stringify(Buffer.concat(pieces).toString("latin1").slice(0, 3000))}`);
  socket.destroy();
  return answer;
}

function after(milliseconds: number, act: () => void): Disposable & { readonly fired: boolean } {
  let fired = false;
  const timer = setTimeout(() => {
    fired = true;
    act();
  }, milliseconds);
  return {
    get fired() {
      return fired;
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
