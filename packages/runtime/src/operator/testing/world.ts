// A complete operator with a manual clock, an in-memory API and a fake process: for tests of startup and shutdown.
import { once } from "node:events";
import { get } from "node:http";
import { expect } from "vitest";
import { ScriptedApi } from "../../cache/scripted-api.fixture.ts";
import type { Client } from "../../client/client.ts";
import { silentLogger } from "../../concurrency/environment.ts";
import { manualEnvironment } from "../../concurrency/manual-clock.ts";
import { settled } from "../../concurrency/system-environment.ts";
import type { Controller } from "../../controller/controller.ts";
import { controller } from "../../controller/controller.ts";
import { done } from "../../controller/outcome.ts";
import { Lease } from "../../objects/kinds/access.ts";
import { ConfigMap } from "../../objects/kinds/core.ts";
import { type Operator, operator } from "../operator.ts";
import type { OperatorOptions } from "../options.ts";
import type { ProcessHooks } from "../process.ts";
import { ObjectsInMemory } from "./objects-in-memory.ts";

/** A process that receives signals from the test and records exits. */
export class FakeProcess implements ProcessHooks {
  readonly exits: number[] = [];
  #stop: ((signal: string) => void)[] = [];
  onStop(listener: (signal: string) => void) {
    this.#stop.push(listener);
    return () => {
      this.#stop = this.#stop.filter((each) => each !== listener);
    };
  }
  onUnhandledRejection() {
    return () => {};
  }
  exit(code: number) {
    this.exits.push(code);
  }
  sigterm() {
    for (const listener of this.#stop) listener("SIGTERM");
  }
}

/** A controller whose reconcile blocks until the test releases it. */
export class BlockedController {
  begun = 0;
  ended = 0;
  aborted: unknown;
  readonly #gate = Promise.withResolvers<void>();
  readonly controller: Controller;

  constructor({ ignoresAbort = false } = {}) {
    this.controller = controller(ConfigMap, { name: "held" }, async (_ref, ctx) => {
      this.begun += 1;
      ctx.signal.addEventListener("abort", () => {
        this.aborted = ctx.signal.reason;
        if (!ignoresAbort) this.release();
      });
      await this.#gate.promise;
      this.ended += 1;
      return done();
    });
  }
  release() {
    this.#gate.resolve();
  }
}

export const lease = { namespace: "default", name: "gordon-operator" };

/** An operator and an API with one ConfigMap, on a manual clock. */
export function world(options: Partial<OperatorOptions> = {}) {
  const environment = manualEnvironment();
  const objects = new ObjectsInMemory();
  const api = new ScriptedApi();
  api.put(ConfigMap, { metadata: { namespace: "apps", name: "a" } });
  const client = {
    ...objects.client,
    list: api.list.bind(api),
    watch: (...all: Parameters<typeof api.watch>) => api.watch(...all),
  } as unknown as Client;
  const process = new FakeProcess();
  const made: Operator = operator({
    ...{ name: "gordon-operator", controllers: [], leaderElection: true },
    ...{ metricsBindAddress: "0", healthProbeBindAddress: "127.0.0.1:0" },
    ...{ environment, client, process, log: silentLogger },
    ...options,
  });
  const run = { state: "running" as "running" | "ended" | Error };
  const begin = () => {
    made.run().then(
      () => {
        run.state = "ended";
      },
      (error: Error) => {
        run.state = error;
      },
    );
  };
  /** Polls, because sockets open in real time and not on the manual clock. */
  const until = async (holds: () => boolean) => {
    for (let turns = 0; !holds() && turns < 10_000; turns += 1) await settled();
    expect(holds()).toBe(true);
  };
  const ready = async () => {
    if (made.ports.health === undefined) return "not listening";
    const [response] = await once(get({ port: made.ports.health, host: "127.0.0.1", path: "/readyz", agent: false }), "response");
    let text = "";
    for await (const chunk of response) text += chunk;
    return text;
  };
  return {
    environment,
    clock: environment.clock,
    objects,
    api,
    process,
    made,
    run,
    begin,
    until,
    ready,
    held: () => objects.read(Lease, lease)?.spec,
  };
}
