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
  /** What it logged. */
  readonly said: readonly string[];
  /** From now on each of its calls fails, or never ends. */
  cutOff(how: "refused" | "swallowed"): void;
  reconnect(): void;
  giveUp(): void;
}

function world() {
  const environment = manualEnvironment();
  const objects = new ObjectsInMemory();

  function candidate(identity: string, startsCutOff?: "refused"): Candidate {
    const said: string[] = [];
    const say = (_fields: object, message: string) => said.push(message);
    const log = { ...silentLogger, info: say, warn: say };
    let cut: "refused" | "swallowed" | undefined = startsCutOff;
    let leadership: Leadership | undefined;
    let leads = false;
    const ending = new AbortController();
    const gate = ({ signal, timeoutMs = 0 }: { signal?: AbortSignal; timeoutMs?: number }) => {
      if (cut === "refused") throw new Error("connection refused");
      if (cut !== "swallowed") return undefined;
      return environment.clock.sleep(timeoutMs, signal).then(() => Promise.reject(new Error("no answer")));
    };
    const client = Object.fromEntries(
      Object.entries(objects.client).map(([verb, call]) => [
        verb,
        async (kind: never, what: never, options: { signal?: AbortSignal; timeoutMs?: number }) => {
          await gate(options);
          return (call as (...all: unknown[]) => Promise<unknown>)(kind, what, options);
        },
      ]),
    ) as unknown as typeof objects.client;
    const onChange = (leading: boolean) => {
      leads = leading;
    };
    acquireLeadership({ client, lease, identity, environment, log, onChange }, ending.signal).then(
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
      said,
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
    expect(candidates.flatMap(({ said }) => said)).not.toContain("cannot take the lease; trying again");
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

  it("one call that is swallowed leaves time for another", async () => {
    const { candidate, pass } = world();
    const leader = candidate("replica-1");
    await pass(60_000);
    leader.cutOff("swallowed");
    await pass(2_000);
    leader.reconnect();
    await pass(60_000);
    expect([leader.leads, leader.said]).toEqual([true, ["became leader", "could not renew the lease; trying again"]]);
  });

  it("tries until the API server answers", async () => {
    const { candidate, pass } = world();
    const newcomer = candidate("replica-1", "refused");
    await pass(60_000);
    newcomer.reconnect();
    await pass(4_400);
    expect(newcomer.leads).toBe(true);
    expect(new Set(newcomer.said)).toEqual(new Set(["cannot take the lease; trying again", "became leader"]));
  });

  it("says once for whom it waits", async () => {
    const { candidate, pass } = world();
    candidate("replica-1");
    await pass(1_000);
    const other = candidate("replica-2");
    await pass(60_000);
    expect(other.said).toEqual(["another leads; waiting"]);
  });

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
    const { candidate, pass, objects, environment } = world();
    const leader = candidate("replica-1");
    await pass(60_000);
    await objects.client.update(Lease, { metadata: lease, spec: { holderIdentity: "thief", leaseDurationSeconds: 15 } });
    await pass(2_000);
    expect(leader.leadership?.lost.reason.message).toContain("thief holds it");
    expect(environment.clock.pending).toBe(0);
    const before = objects.calls.length;
    await leader.leadership?.release();
    expect(objects.calls).toHaveLength(before);
  });

  it.each(["refused", "swallowed"] as const)(
    "gives up in order though its calls are %s, and renews nothing afterwards",
    async (how) => {
      const { candidate, pass, environment } = world();
      const leader = candidate("replica-1");
      await pass(60_000);
      leader.cutOff(how);
      await pass(2_000);
      const released = leader.leadership?.release();
      await pass(5_000);
      await released;
      expect([leader.leads, leader.leadership?.lost.aborted, environment.clock.pending]).toEqual([false, false, 0]);
      expect(leader.said.at(-1)).toBe("could not give up the lease; a successor has to wait until it runs out");
    },
  );

  it("a lease that was given up is taken at the next look, without waiting for it to run out", async () => {
    const { candidate, pass, held } = world();
    const [leader, other] = [candidate("replica-1"), candidate("replica-2")];
    await pass(60_000);
    await leader.leadership?.release();
    expect(held()).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 0 });
    expect(leader.said).toEqual(["became leader", "gave up the lease"]);
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
    expect(new Set(leader.said)).toEqual(new Set(["became leader", "could not renew the lease; trying again"]));
  });

  it("goes on when somebody labels or even deletes the Lease", async () => {
    const { candidate, pass, objects, held } = world();
    const leader = candidate("replica-1");
    await pass(60_000);
    const now = objects.read(Lease, lease);
    await objects.client.update(Lease, { ...now, metadata: { ...lease, labels: { a: "b" } } });
    await pass(2_000);
    expect(held()).toEqual({ ...now?.spec, renewTime: "2026-01-01T00:01:02.000000Z" });
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

  it.each([
    { name: "for its whole duration", claim: { leaseDurationSeconds: 15 }, seconds: 15 },
    { name: "for the holder's duration, not ours", claim: { leaseDurationSeconds: 60 }, seconds: 60 },
    { name: "for our duration where it has none", claim: {}, seconds: 15 },
  ])("a newcomer respects an old claim $name before taking over, whatever the times in it say", async ({ claim, seconds }) => {
    const { candidate, pass, objects, held } = world();
    const spec = { holderIdentity: "gone", renewTime: "2001-01-01T00:00:00.000000Z", ...claim };
    await objects.client.create(Lease, { metadata: lease, spec });
    const newcomer = candidate("replica-1");
    await pass(seconds * 1_000 - 1_000);
    expect(newcomer.leads).toBe(false);
    await pass(6_000);
    expect(newcomer.leads).toBe(true);
    expect(held()?.leaseTransitions).toBe(1);
  });

  it("who comes back under its own name leads at once, and nothing has changed hands", async () => {
    const { candidate, pass, objects, held } = world();
    const spec = { holderIdentity: "replica-1", leaseDurationSeconds: 15, leaseTransitions: 3 };
    await objects.client.create(Lease, { metadata: lease, spec });
    const again = candidate("replica-1");
    await pass(0);
    expect([again.leads, held()?.leaseTransitions]).toEqual([true, 3]);
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

  it.each([
    { name: "a deadline after the lease has run out", times: { renewDeadlineMs: 15_000 } },
    { name: "no second try before the deadline", times: { retryPeriodMs: 8_400 } },
  ])("refuses times that cannot work: $name", async ({ times }) => {
    const { environment, objects } = world();
    const options = { client: objects.client, lease, identity: "x", environment, log: silentLogger, ...times };
    await expect(acquireLeadership(options, new AbortController().signal)).rejects.toThrow(
      "expected leaseDurationMs > renewDeadlineMs > 1.2 × retryPeriodMs",
    );
  });
});
