// An operator in a world where time moves by hand and nothing is real but its own code: for tests of how it starts and stops.
import { once } from "node:events";
import { get } from "node:http";
import { expect } from "vitest";
import { ScriptedApi } from "../../cache/scripted-api.fixture.ts";
import type { Client } from "../../client/client.ts";
import { silentLogger } from "../../concurrency/logger.ts";
import { manualEnvironment } from "../../concurrency/manual-clock.ts";
import { settled } from "../../concurrency/system-environment.ts";
import { controller } from "../../controller/controller.ts";
import type { Controller } from "../../controller/definition.ts";
import { done } from "../../controller/outcome.ts";
import { Lease } from "../../objects/kinds/coordination.ts";
import { ConfigMap } from "../../objects/kinds/core/config.ts";
import { type Operator, operator } from "../operator.ts";
import type { OperatorOptions } from "../options.ts";
import type { ProcessHooks } from "../process-hooks.ts";
import { ObjectsInMemory } from "./objects-in-memory.ts";

/** A process that can be asked to stop, and whose end is only noted. */
export class PretendedProcess implements ProcessHooks {
  readonly exits: number[] = [];
  #stop: ((signal: string) => void)[] = [];
  onStop(listener: (signal: string) => void) {
    this.#stop.push(listener);
    return () => {
      this.#stop = this.#stop.filter((each) => each !== listener);
    };
  }
  onForgotten() {
    return () => {};
  }
  exit(code: number) {
    this.exits.push(code);
  }
  sigterm() {
    for (const listener of this.#stop) listener("SIGTERM");
  }
}

/** A reconcile that waits to be told how to go on. */
export class Held {
  begun = 0;
  ended = 0;
  aborted: unknown;
  readonly #gate = Promise.withResolvers<void>();
  readonly controller: Controller;

  constructor({ deaf = false } = {}) {
    this.controller = controller(ConfigMap, { name: "held" }, async (_ref, ctx) => {
      this.begun += 1;
      ctx.signal.addEventListener("abort", () => {
        this.aborted = ctx.signal.reason;
        if (!deaf) this.release();
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

/** An operator in a world of one ConfigMap, where time moves by hand. */
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
  const process = new PretendedProcess();
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
  /** Sockets are opened in real time, which a manual clock does not wait for. */
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
