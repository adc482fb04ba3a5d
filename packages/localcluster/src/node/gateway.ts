// The ways into a sandbox and out of it, as seen from the host. The work is done by a gate inside (gate.ts), started when it is
// first needed; see there how a socket of one network comes to be used in another.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join as joinPath } from "node:path";
import { GateError } from "../errors.ts";
import { componentEnvironment } from "../process/component.ts";
import type { Place } from "../process/place.ts";
import { mustBeFree } from "../process/ports.ts";
import type { ClusterDirectory } from "../state/directory.ts";
import type { GateAnswer, GateRequest } from "./gate.ts";
import { join } from "./join.ts";
import { nodeAddress } from "./network.ts";

export interface ForwardOptions {
  /** @default a free one */
  readonly hostPort?: number;
  /** @default the node's */
  readonly insideAddress?: string;
}

/** Where programs inside reach what was exposed. */
export interface ExposedPort {
  readonly address: string;
  readonly port: number;
}

export class Gateway {
  readonly #place: Place;
  readonly #directory: ClusterDirectory;
  readonly #exposed: Server[] = [];
  #gate: Gate | undefined;

  constructor(place: Place, directory: ClusterDirectory) {
    this.#place = place;
    this.#directory = directory;
  }

  /** 127.0.0.1:PORT on the host → address:port inside. Stays when this process ends. */
  async forward(insidePort: number, options: ForwardOptions = {}): Promise<number> {
    const listener = createServer();
    const port = await listenOn(listener, { host: "127.0.0.1", port: options.hostPort ?? 0 });
    try {
      await this.#start().ask({ kind: "forward", address: options.insideAddress ?? nodeAddress, port: insidePort }, listener);
      return port;
    } finally {
      listener.close(); // the gate has its own hold on it
    }
  }

  /** The node's address, a free port inside → 127.0.0.1:hostPort. Needs this process: that is where the server is, or was asked for. */
  async expose(hostPort: number): Promise<ExposedPort> {
    const { port, listener } = await this.#start().ask({ kind: "listen", address: nodeAddress });
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (inside) => {
      join(inside, connect({ host: "127.0.0.1", port: hostPort, allowHalfOpen: true, noDelay: true }));
    });
    server.listen(listener).unref();
    this.#exposed.push(server);
    return { address: nodeAddress, port };
  }

  close(): void {
    for (const server of this.#exposed) server.close();
    this.#gate?.close();
  }

  #start(): Gate {
    this.#gate ??= new Gate(this.#place, this.#directory);
    return this.#gate;
  }
}

/** A request without its number. Spelled out, because Omit would make one type of the two. */
type Question =
  | { readonly kind: "forward"; readonly address: string; readonly port: number }
  | { readonly kind: "listen"; readonly address: string };

interface Reply {
  readonly port: number;
  readonly listener: Server | undefined;
}

/** The process inside, and the questions it has not answered yet. */
class Gate {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<Reply>>();
  #asked = 0;

  constructor(place: Place, directory: ClusterDirectory) {
    this.#child = startGate(place, directory);
    this.#child.unref();
    this.#child.channel?.unref();
    this.#child.on("message", (answer: GateAnswer, listener?: unknown) => this.#settle(answer, listener as Server | undefined));
    this.#child.on("error", (error) => this.#fail(error.message));
    this.#child.on("exit", (code, signal) => this.#fail(`it ended (${signal ?? `exit code ${code}`})`));
  }

  async ask(question: Question, listener?: Server): Promise<Reply> {
    const id = ++this.#asked;
    const reply = Promise.withResolvers<Reply>();
    this.#waiting.set(id, reply);
    this.#child.channel?.ref(); // as long as somebody waits, so does the process
    this.#child.send({ id, ...question } satisfies GateRequest, listener, (error) => {
      if (error) this.#settle({ id, kind: "failed", why: error.message }, undefined);
    });
    return reply.promise;
  }

  close(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  #settle(answer: GateAnswer, listener: Server | undefined): void {
    const reply = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) this.#child.channel?.unref();
    if (answer.kind === "done") reply?.resolve({ port: answer.port, listener });
    else reply?.reject(new GateError(answer.why));
  }

  #fail(why: string): void {
    for (const id of this.#waiting.keys()) this.#settle({ id, kind: "failed", why }, undefined);
  }
}

/** Like any component of the cluster, but with a channel, which startComponent does not offer. */
function startGate(place: Place, directory: ClusterDirectory): ChildProcess {
  const [command = "", ...args] = place.command([process.execPath, joinPath(import.meta.dirname, "gate.ts")]);
  const log = openSync(joinPath(directory.logs, "gate.log"), "a", 0o600);
  try {
    return spawn(command, args, {
      cwd: directory.path,
      detached: true,
      stdio: ["ignore", log, log, "ipc"],
      env: componentEnvironment({ name: "gate" }, directory),
    });
  } finally {
    closeSync(log);
  }
}

async function listenOn(server: Server, at: { readonly host: string; readonly port: number }): Promise<number> {
  if (at.port !== 0) await mustBeFree(at.port); // says who has it
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(at, resolve);
  await promise;
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : at.port;
}
