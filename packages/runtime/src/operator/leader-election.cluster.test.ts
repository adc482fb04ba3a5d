// Leader election depends on the API server's optimistic concurrency control.
import { testCluster } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import type { Client } from "../client/client.ts";
import { anySignal } from "../concurrency/abort.ts";
import { silentLogger } from "../concurrency/environment.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import { Lease } from "../objects/kinds/access.ts";
import { clientOf } from "../testing/cluster-world.ts";
import { acquireLeadership, type Leadership } from "./leader-election.ts";

const environment = systemEnvironment();
// Shorter than in production, in the same proportions. The tests do not depend on the speed of the machine.
const timing = { leaseDurationMs: 6_000, renewDeadlineMs: 4_000, retryPeriodMs: 400 };

class Candidate {
  readonly identity: string;
  leadership: Leadership | undefined;
  readonly #ending = new AbortController();
  readonly #crash = new AbortController();

  constructor(identity: string, client: Client, namespace: string) {
    this.identity = identity;
    const cut = withSignal(client, this.#crash.signal);
    const options = { client: cut, lease: { namespace, name: "election" }, identity, environment, log: silentLogger, ...timing };
    acquireLeadership(options, this.#ending.signal).then(
      (leadership) => {
        this.leadership = leadership;
      },
      () => {},
    );
  }
  get leads() {
    return this.leadership !== undefined && !this.leadership.lost.aborted;
  }
  /** From now on all of its calls fail. */
  crash() {
    this.#crash.abort(new Error("crashed"));
  }
  giveUp() {
    this.#ending.abort();
  }
}

/** A client whose calls fail after this signal aborts. */
function withSignal(client: Client, crash: AbortSignal): Pick<Client, "find" | "create" | "update"> {
  const cut = <O extends { readonly signal?: AbortSignal | undefined }>(o: O | undefined) => ({
    ...(o as O),
    signal: anySignal([o?.signal, crash]).signal,
  });
  return {
    find: (kind, ref, o) => client.find(kind, ref, cut(o)),
    create: (kind, object, o) => client.create(kind, object, cut(o)),
    update: (kind, object, o) => client.update(kind, object, cut(o)),
  };
}

describe("leader election", () => {
  it("L1: exactly one of five concurrent candidates leads", async () => {
    await using cluster = await testCluster();
    await using client = await clientOf(cluster);
    const candidates = Array.from({ length: 5 }, (_, i) => new Candidate(`replica-${i}`, client, cluster.defaultNamespace));
    const leaders = () => candidates.filter(({ leads }) => leads);
    await cluster.eventually(leaders, (found) => found.length > 0);
    const renewed = async () =>
      (await client.get(Lease, { namespace: cluster.defaultNamespace, name: "election" })).spec?.renewTime;
    const before = await renewed();
    await cluster.eventually(renewed, (now) => now !== before);
    expect(leaders()).toHaveLength(1);
    const { spec } = await client.get(Lease, { namespace: cluster.defaultNamespace, name: "election" });
    expect(spec).toMatchObject({ holderIdentity: leaders()[0]?.identity, leaseTransitions: 0 });
    for (const candidate of candidates) candidate.giveUp();
    await leaders()[0]?.leadership?.release();
  });

  it("elects a successor as soon as the leader releases the Lease, which shows the new holder", async () => {
    await using cluster = await testCluster();
    await using client = await clientOf(cluster);
    const first = new Candidate("first", client, cluster.defaultNamespace);
    await cluster.eventually(
      () => first.leads,
      (leads) => leads,
    );
    const second = new Candidate("second", client, cluster.defaultNamespace);
    await first.leadership?.release();
    await cluster.eventually(
      () => second.leads,
      (leads) => leads,
    );
    const { spec } = await client.get(Lease, { namespace: cluster.defaultNamespace, name: "election" });
    expect(spec?.holderIdentity).toBe("second");
    await second.leadership?.release();
  });

  it("L1, L2: a disconnected leader stops before another takes over", async () => {
    await using cluster = await testCluster();
    await using client = await clientOf(cluster);
    const first = new Candidate("first", client, cluster.defaultNamespace);
    await cluster.eventually(
      () => first.leads,
      (leads) => leads,
    );
    const second = new Candidate("second", client, cluster.defaultNamespace);
    first.crash();
    let both = false;
    await cluster.eventually(
      () => {
        both ||= first.leads && second.leads;
        return second.leads;
      },
      (leads) => leads,
    );
    expect(both).toBe(false);
    expect(first.leadership?.lost.reason).toMatchObject({ code: "LEADERSHIP_LOST" });
    await second.leadership?.release();
  });
});
