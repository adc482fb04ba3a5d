// Forwards single ports between the host and a sandbox. The connections are made by a process inside (forwarder.ts), started on
// first use.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { PortForwardError } from "../errors.ts";
import { componentEnvironment, type ExecContext } from "../process/component.ts";
import { assertPortFree, joinSockets } from "../process/sockets.ts";
import type { ClusterDirectory } from "../state/directory.ts";
import type { ForwarderRequest, ForwarderResponse } from "./forwarder.ts";
import { nodeAddress } from "./network.ts";

export interface ForwardOptions {
  /** @default a free port */
  readonly hostPort?: number;
  /** @default the node's address */
  readonly insideAddress?: string;
}

/** Where programs inside reach an exposed server. */
export interface ExposedPort {
  readonly address: string;
  readonly port: number;
}

export class PortForwarding {
  readonly #context: ExecContext;
  readonly #directory: ClusterDirectory;
  readonly #exposed: Server[] = [];
  #forwarder: ForwarderClient | undefined;

  constructor(context: ExecContext, directory: ClusterDirectory) {
    this.#context = context;
    this.#directory = directory;
  }

  /** 127.0.0.1:PORT on the host → address:port inside. Keeps working when this process ends. */
  async forward(insidePort: number, options: ForwardOptions = {}): Promise<number> {
    const listener = createServer();
    const port = await listenOn(listener, { host: "127.0.0.1", port: options.hostPort ?? 0 });
    try {
      const address = options.insideAddress ?? nodeAddress;
      await this.#start().request({ kind: "forward", address, port: insidePort }, listener);
      return port;
    } finally {
      listener.close(); // the forwarder has its own handle
    }
  }

  /** The node's address and a free port inside → 127.0.0.1:hostPort. Works until this process ends. */
  async expose(hostPort: number): Promise<ExposedPort> {
    const { port, listener } = await this.#start().request({ kind: "listen", address: nodeAddress });
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (inside) => {
      joinSockets(inside, connect({ host: "127.0.0.1", port: hostPort, allowHalfOpen: true, noDelay: true }));
    });
    server.listen(listener).unref();
    this.#exposed.push(server);
    return { address: nodeAddress, port };
  }

  close(): void {
    for (const server of this.#exposed) server.close();
    this.#forwarder?.close();
  }

  #start(): ForwarderClient {
    this.#forwarder ??= new ForwarderClient(this.#context, this.#directory);
    return this.#forwarder;
  }
}

/** ForwarderRequest without its id. Spelled out, because Omit would merge the two types. */
type Request =
  | { readonly kind: "forward"; readonly address: string; readonly port: number }
  | { readonly kind: "listen"; readonly address: string };

interface Forwarded {
  readonly port: number;
  readonly listener: Server | undefined;
}

/** The process inside, and the requests that it has not answered yet. */
class ForwarderClient {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, PromiseWithResolvers<Forwarded>>();
  #lastId = 0;

  constructor(context: ExecContext, directory: ClusterDirectory) {
    this.#child = startForwarder(context, directory);
    this.#child.unref();
    this.#child.channel?.unref();
    this.#child.on("message", (response: ForwarderResponse, listener?: unknown) =>
      this.#settle(response, listener as Server | undefined),
    );
    this.#child.on("error", (error) => this.#failAll(error.message));
    this.#child.on("exit", (code, signal) => this.#failAll(`the forwarder exited (${signal ?? `exit code ${code}`})`));
  }

  async request(request: Request, listener?: Server): Promise<Forwarded> {
    this.#lastId += 1;
    const id = this.#lastId;
    const pending = Promise.withResolvers<Forwarded>();
    this.#pending.set(id, pending);
    this.#child.channel?.ref(); // keeps this process alive while a request is pending
    this.#child.send({ id, ...request } satisfies ForwarderRequest, listener, (error) => {
      if (error) this.#settle({ id, kind: "failed", why: error.message }, undefined);
    });
    return pending.promise;
  }

  close(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  #settle(response: ForwarderResponse, listener: Server | undefined): void {
    const pending = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    if (this.#pending.size === 0) this.#child.channel?.unref();
    if (response.kind === "done") pending?.resolve({ port: response.port, listener });
    else pending?.reject(new PortForwardError(response.why));
  }

  #failAll(why: string): void {
    for (const id of this.#pending.keys()) this.#settle({ id, kind: "failed", why }, undefined);
  }
}

/** Like a component of the cluster, but with an IPC channel, which startComponent does not offer. */
function startForwarder(context: ExecContext, directory: ClusterDirectory): ChildProcess {
  const [command = "", ...args] = context.command([process.execPath, join(import.meta.dirname, "forwarder.ts")]);
  const log = openSync(join(directory.logs, "forwarder.log"), "a", 0o600);
  try {
    return spawn(command, args, {
      cwd: directory.path,
      detached: true,
      stdio: ["ignore", log, log, "ipc"],
      env: componentEnvironment({ name: "forwarder" }, directory),
    });
  } finally {
    closeSync(log);
  }
}

async function listenOn(server: Server, at: { readonly host: string; readonly port: number }): Promise<number> {
  if (at.port !== 0) await assertPortFree(at.port); // its error names the process that uses the port
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(at, resolve);
  await promise;
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : at.port;
}
