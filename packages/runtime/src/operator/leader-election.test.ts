import { describe, expect, it } from "vitest";
import { silentLogger } from "../concurrency/logger.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { Lease } from "../objects/kinds/coordination.ts";
import { acquireLeadership, type Leadership } from "./leader-election.ts";
import { ObjectsInMemory } from "./testing/objects-in-memory.ts";

const lease = { namespace: "apps", name: "gordon-operator" };

/** One candidate, what became of it, and a way to cut it off from the API server. */
interface Candidate {
  readonly leadership: Leadership | undefined;
  readonly leads: boolean;
  /** From now on each of its calls fails, or never ends. */
  cutOff(how: "refused" | "swallowed"): void;
  reconnect(): void;
  giveUp(): void;
}

function world() {
  const environment = manualEnvironment();
  const objects = new ObjectsInMemory();

  function candidate(identity: string): Candidate {
    let cut: "refused" | "swallowed" | undefined;
    let leadership: Leadership | undefined;
    let leads = false;
    const ending = new AbortController();
    const gate = (signal: AbortSignal | undefined) => {
      if (cut === "refused") throw new Error("connection refused");
      if (cut === "swallowed")
        return new Promise<void>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
      return undefined;
    };
    const client = Object.fromEntries(
      Object.entries(objects.client).map(([verb, call]) => [
        verb,
        async (kind: never, what: never, options: { signal?: AbortSignal }) => {
          await gate(options.signal);
          return (call as (...all: unknown[]) => Promise<unknown>)(kind, what, options);
        },
      ]),
    ) as unknown as typeof objects.client;
    const onChange = (leading: boolean) => {
      leads = leading;
    };
    acquireLeadership({ client, lease, identity, environment, log: silentLogger, onChange }, ending.signal).then(
      (held) => {
        leadership = held;
      },
      () => {},
    );
    return {
      get leadership() {
        return leadership;
      },
      get leads() {
        return leads;
      },
      cutOff: (how) => {
        cut = how;
      },
      reconnect: () => {
        cut = undefined;
      },
      giveUp: () => ending.abort(),
    };
  }

  return {
    environment,
    objects,
    candidate,
    pass: (ms: number) => environment.clock.advance(ms),
    held: () => objects.read(Lease, lease)?.spec,
  };
}

describe("leader election", () => {
  it("L1: of ten who start at once exactly one leads, and goes on leading", async () => {
    const { candidate, pass } = world();
    const candidates = Array.from({ length: 10 }, (_, i) => candidate(`replica-${i}`));
    for (let minute = 0; minute < 10; minute += 1) {
      await pass(60_000);
      expect(candidates.filter(({ leads }) => leads)).toHaveLength(1);
    }
    expect(candidates.filter(({ leadership }) => leadership !== undefined)).toHaveLength(1);
  });

  it("writes a Lease that kubectl and client-go understand", async () => {
    const { candidate, pass, held } = world();
    candidate("replica-1");
    await pass(0);
    expect(held()).toEqual({
      holderIdentity: "replica-1",
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:00.000000Z",
    });
    await pass(60_000);
    expect(held()).toMatchObject({ acquireTime: "2026-01-01T00:00:00.000000Z", renewTime: "2026-01-01T00:01:00.000000Z" });
  });

  it.each(["refused", "swallowed"] as const)(
    "L2: a leader whose calls are %s gives up 10 s after its last renewal",
    async (how) => {
      const { candidate, pass } = world();
      const leader = candidate("replica-1");
      await pass(60_000); // the last renewal is now
      leader.cutOff(how);
      await pass(9_999);
      expect(leader.leadership?.lost.aborted).toBe(false);
      await pass(1);
      expect(leader.leadership?.lost.reason).toMatchObject({ code: "LEADERSHIP_LOST" });
      expect(leader.leads).toBe(false);
    },
  );

  it("L1: nobody takes over before the loser has given up, though it may be cut off", async () => {
    const { candidate, pass } = world();
    const [leader, other] = [candidate("replica-1"), candidate("replica-2")];
    await pass(60_000);
    leader.cutOff("swallowed");
    for (let ms = 0; ms < 25_000; ms += 100) {
      await pass(100);
      expect(leader.leads && other.leads).toBe(false);
    }
    expect(other.leads).toBe(true);
  });

  it("survives an API server that is away for less than 10 s", async () => {
    const { candidate, pass } = world();
    const leader = candidate("replica-1");
    await pass(60_000);
    leader.cutOff("refused");
    await pass(7_500);
    leader.reconnect();
    await pass(60_000);
    expect(leader.leads).toBe(true);
  });

  it("L2: a leader that sees another in its place gives up at its next renewal", async () => {
    const { candidate, pass, objects } = world();
    const leader = candidate("replica-1");
    await pass(60_000);
    await objects.client.update(Lease, { metadata: lease, spec: { holderIdentity: "thief", leaseDurationSeconds: 15 } });
    await pass(2_000);
    expect(leader.leadership?.lost.reason.message).toContain("thief holds it");
  });

  it("a lease that was given up is taken at the next look, without waiting for it to run out", async () => {
    const { candidate, pass, held } = world();
    const [leader, other] = [candidate("replica-1"), candidate("replica-2")];
    await pass(60_000);
    await leader.leadership?.release();
    expect(held()).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
    await pass(4_400);
    expect(other.leads).toBe(true);
    expect(leader.leads).toBe(false);
    expect(held()).toMatchObject({ holderIdentity: "replica-2", leaseDurationSeconds: 15, leaseTransitions: 1 });
  });

  it("does not take back what another has taken when it gives up late", async () => {
    const { candidate, pass, objects, held } = world();
    const leader = candidate("replica-1");
    await pass(1_000);
    await objects.client.update(Lease, { metadata: lease, spec: { holderIdentity: "replica-2" } });
    await leader.leadership?.release();
    expect(held()?.holderIdentity).toBe("replica-2");
  });

  it("C2: goes on when the answer to a renewal was lost but the renewal was not", async () => {
    const { candidate, pass, objects } = world();
    const leader = candidate("replica-1");
    await pass(60_000);
    let lost = 0;
    objects.after = ({ verb }) => {
      if (verb !== "update" || lost === 3) return;
      lost += 1;
      throw new Error("socket hang up");
    };
    await pass(60_000);
    expect(lost).toBe(3);
    expect(leader.leads).toBe(true);
  });

  it("goes on when somebody labels or even deletes the Lease", async () => {
    const { candidate, pass, objects, held } = world();
    const leader = candidate("replica-1");
    await pass(60_000);
    const now = objects.read(Lease, lease);
    await objects.client.update(Lease, { ...now, metadata: { ...lease, labels: { a: "b" } } });
    await pass(10_000);
    expect(objects.read(Lease, lease)?.metadata.labels).toEqual({ a: "b" });
    objects.delete(Lease, lease);
    await pass(10_000);
    expect(leader.leads).toBe(true);
    expect(held()?.holderIdentity).toBe("replica-1");
  });

  it("goes on when somebody writes to the Lease each time it renews, unless that lasts for 10 s", async () => {
    const { candidate, pass, objects, held } = world();
    const leader = candidate("replica-1");
    await pass(60_000);
    let inTheWay = 2; // once before each of the two writes of one renewal
    objects.before = async ({ verb }) => {
      if (verb !== "update" || inTheWay === 0) return;
      inTheWay -= 1;
      const { before } = objects;
      objects.before = () => {};
      const now = objects.read(Lease, lease);
      await objects.client.update(Lease, { ...now, metadata: { ...lease, labels: { written: `${inTheWay}` } } });
      objects.before = before;
    };
    await pass(60_000);
    expect(inTheWay).toBe(0);
    expect(leader.leads).toBe(true);
    expect(held()?.holderIdentity).toBe("replica-1");
    inTheWay = Number.POSITIVE_INFINITY;
    await pass(10_000);
    expect(leader.leadership?.lost.reason.message).toContain("it could not be renewed for 10 s");
  });

  it("M5: a wall clock that steps by an hour changes nothing, in either direction", async () => {
    const { environment, candidate, pass, held } = world();
    const [leader, other] = [candidate("replica-1"), candidate("replica-2")];
    await pass(60_000);
    for (const step of [3_600_000, -7_200_000]) {
      environment.clock.stepWallClock(step);
      await pass(60_000);
      expect([leader.leads, other.leads]).toEqual([true, false]);
    }
    expect(held()?.leaseTransitions).toBe(0);
  });

  it("a newcomer respects an old claim for its whole duration before taking over, whatever the times in it say", async () => {
    const { candidate, pass, objects } = world();
    const spec = { holderIdentity: "gone", leaseDurationSeconds: 15, renewTime: "2001-01-01T00:00:00.000000Z" };
    await objects.client.create(Lease, { metadata: lease, spec });
    const newcomer = candidate("replica-1");
    await pass(14_000);
    expect(newcomer.leads).toBe(false);
    await pass(6_000);
    expect(newcomer.leads).toBe(true);
  });

  it("stops waiting for its turn when told to", async () => {
    const { candidate, pass, objects } = world();
    candidate("replica-1");
    await pass(1_000);
    const other = candidate("replica-2");
    await pass(10_000);
    other.giveUp();
    await pass(0);
    const before = objects.calls.filter(({ verb }) => verb === "find").length;
    await pass(60_000);
    expect(objects.calls.filter(({ verb }) => verb === "find")).toHaveLength(before);
  });

  it("refuses times that cannot work", async () => {
    const { environment, objects } = world();
    const options = { client: objects.client, lease, identity: "x", environment, log: silentLogger, renewDeadlineMs: 15_000 };
    await expect(acquireLeadership(options, new AbortController().signal)).rejects.toThrow(
      "expected leaseDurationMs > renewDeadlineMs",
    );
  });
});
