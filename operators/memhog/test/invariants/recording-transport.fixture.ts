// A transport for one operator that records every write and can stop at any of them. To the rest of the cluster that is the same as
// a killed process.
import { type Transport, TransportError, type TransportRequest, type TransportResponse } from "@memhog/runtime/client";
import type { Moment } from "@memhog/runtime/testing";

export interface Said {
  readonly method: TransportRequest["method"];
  readonly path: string;
  readonly body: string;
  /** Undefined until the response arrives. */
  status: number | undefined;
}

export interface Death {
  /** 1 for the first counted write. */
  readonly atWrite: number;
  readonly when: Moment;
}

export class Voice implements Transport {
  /** Every write, Events included. */
  readonly said: Said[] = [];
  /** Every path that was read or written. */
  readonly asked = new Set<string>();
  /** The write at which the operator crashes. */
  death: Death | undefined;
  /** Called once, after the crash. */
  onDeath: () => void = () => {};
  readonly #transport: Transport;
  readonly #name: string;
  #writes = 0;
  #dead = false;

  constructor(transport: Transport, name: string) {
    this.#transport = transport;
    this.#name = name;
  }

  /** Counted writes. Events are not counted: they are sent in the background, and nothing depends on them. */
  get writes(): readonly Said[] {
    return this.said.filter(counts);
  }

  get isDead(): boolean {
    return this.#dead;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    if (this.#dead) throw silence(request);
    this.asked.add(request.path);
    const named = { ...request, headers: { ...request.headers, "user-agent": this.#name } };
    if (request.method === "GET") return this.#transport.request(named);
    const said: Said = { method: request.method, path: request.path, body: request.body ?? "", status: undefined };
    this.said.push(said);
    if (counts(said)) this.#writes += 1;
    const when = counts(said) && this.#writes === this.death?.atWrite ? this.death.when : undefined;
    if (when === "before" || when === "after") this.#die();
    if (when === "before") throw silence(request);
    const response = await this.#transport.request(named);
    said.status = response.status;
    if (when === "after") throw silence(request);
    if (when === "answered") this.#die();
    return response;
  }

  #die(): void {
    this.#dead = true;
    this.onDeath();
  }
}

const counts = ({ path }: Said) => !path.includes("/events.k8s.io/");

function silence({ method, path }: TransportRequest): TransportError {
  return new TransportError(`${method} ${path}: the process is dead (a fault of the test)`, { outcome: "unknown" });
}
