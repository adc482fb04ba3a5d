import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Cache } from "../cache/cache.ts";
import type { Client } from "../client/client.ts";
import { ConflictError, NotFoundError } from "../client/errors.ts";
import { manualClock } from "../concurrency/manual-clock.ts";
import { Node } from "../objects/kinds/core.ts";
import type { Condition } from "../objects/kinds/kind.ts";
import type { Kind, ObjectOf, Stored } from "../objects/object.ts";
import { defineResource } from "../schema/define-resource.ts";
import { atWork } from "./at-work.fixture.ts";
import { controller } from "./controller.ts";
import { done } from "./outcome.ts";
import type { ReconcileScope } from "./reconcile.ts";
import { WriteResults } from "./settled.ts";
import { type StatusToSet, setStatus } from "./status.ts";

const Tea = defineResource({
  group: "test.example.com",
  version: "v1",
  kind: "Tea",
  spec: z.object({}),
  status: z.object({ cups: z.int() }),
  conditions: { Ready: ["Hot", "Cold"], Brewing: ["Started"], Poured: ["Once"] },
});

const then = "2025-01-01T00:00:00Z";
const now = "2026-01-01T00:00:00Z";
const hot = { type: "Ready", status: "True", reason: "Hot", message: "" } as const;
const storedHot = { ...hot, observedGeneration: 3, lastTransitionTime: then };
const brewing = { type: "Brewing", status: "True", reason: "Started", message: "" } as const;
const storedBrewing = { ...brewing, observedGeneration: 3, lastTransitionTime: then };

function tea(status: { cups?: number; observedGeneration?: number; conditions?: readonly Condition[] } | undefined) {
  const metadata = { namespace: "home", name: "earl-grey", uid: "u", resourceVersion: "1", generation: 3 };
  return { metadata, spec: {}, ...(status && { status }) } as unknown as Stored<ObjectOf<typeof Tea>>;
}

/** Sets a status and returns the requests. */
async function sent(
  object: Stored<ObjectOf<typeof Tea>>,
  desired: StatusToSet & { cups: number },
  { error, kind = Tea }: { error?: Error; kind?: Kind } = {},
) {
  const sent: unknown[] = [];
  const apply = async (_kind: unknown, body: unknown, { subresource }: { subresource?: string }) => {
    sent.push({ subresource, body });
    if (error) throw error;
    return body;
  };
  const client = { apply } as unknown as Client;
  const cacheOf = () => ({ project: (answer: unknown) => answer }) as Cache;
  const deps = { writtenStatuses: new WriteResults() };
  const own = { latest: (given: unknown) => given, remember: (answer: unknown) => answer };
  const scope = { kind, fieldManager: "tea", client, clock: manualClock(), cacheOf, deps, ...own } as unknown as ReconcileScope;
  await setStatus(scope, object as never, desired);
  return sent;
}

/** A controller that sets the same status on every tea each minute; `written` counts the writes since its last call. */
async function reporting(desired: StatusToSet & { cups: number }) {
  const at = await atWork(() =>
    controller(Tea, { resyncMs: 60_000 }, async (own, ctx) => {
      const found = ctx.get(Tea, own);
      if (found !== undefined) await ctx.setStatus(found, desired as never);
      return done();
    }),
  );
  const put = (status: object) => at.api.put(Tea, tea(status as never));
  const written = () => at.world.writes.splice(0).length;
  return { ...at, put, written };
}

describe("setStatus", () => {
  it("writes to /status with the UID of the object and observedGeneration", async () => {
    expect(await sent(tea(undefined), { cups: 1, conditions: [hot] })).toEqual([
      {
        subresource: "status",
        body: {
          metadata: { namespace: "home", name: "earl-grey", uid: "u" },
          status: { cups: 1, observedGeneration: 3, conditions: [{ ...hot, observedGeneration: 3, lastTransitionTime: now }] },
        },
      },
    ]);
  });

  const before = { cups: 1, observedGeneration: 3, conditions: [storedHot] };
  const cases = [
    { name: "writes nothing if nothing changes", before, desired: { cups: 1, conditions: [hot] }, writes: 0 },
    { name: "writes if a field differs", before, desired: { cups: 2, conditions: [hot] }, writes: 1 },
    {
      name: "writes for a new generation",
      before: { ...before, observedGeneration: 2 },
      desired: { cups: 1, conditions: [hot] },
      writes: 1,
    },
    {
      name: "writes if the message of a condition changes",
      before,
      desired: { cups: 1, conditions: [{ ...hot, message: "very" }] },
      writes: 1,
    },
    {
      name: "writes if one of several conditions changes",
      before: { ...before, conditions: [storedHot, storedBrewing] },
      desired: { cups: 1, conditions: [hot, { ...brewing, message: "still" }] },
      writes: 1,
    },
    { name: "writes to remove a condition of ours", before, desired: { cups: 1 }, writes: 1 },
    {
      name: "writes to remove one of several conditions",
      before: { ...before, conditions: [storedHot, storedBrewing] },
      desired: { cups: 1, conditions: [hot] },
      writes: 1,
    },
    {
      name: "keeps the conditions of other writers",
      before: {
        ...before,
        conditions: [storedHot, { type: "Foreign", status: "True", reason: "X", message: "", lastTransitionTime: then } as const],
      },
      desired: { cups: 1, conditions: [hot] },
      writes: 0,
    },
  ];
  it.each(cases)("$name", async ({ before, desired, writes }) => {
    expect(await sent(tea(before), desired)).toHaveLength(writes);
  });

  it("keeps the transition time while the status of a condition stays", async () => {
    const [write] = await sent(tea(before), { cups: 1, conditions: [{ ...hot, message: "very" }] });
    expect(write).toMatchObject({ body: { status: { conditions: [{ message: "very", lastTransitionTime: then }] } } });
  });

  it("sets observedGeneration of a kind without a definition only if it is there already: servers reject unknown fields", async () => {
    const { observedGeneration: _, ...plainHot } = storedHot;
    const [plain] = await sent(tea({ cups: 1, conditions: [plainHot] }), { cups: 2, conditions: [hot] }, { kind: Node });
    expect(plain).toMatchObject({ body: { status: { cups: 2, conditions: [plainHot] } } });
    expect(JSON.stringify(plain)).not.toContain("observedGeneration");
    const old = { cups: 1, observedGeneration: 2, conditions: [{ ...storedHot, observedGeneration: 2 }] };
    const [known] = await sent(tea(old), { cups: 1, conditions: [hot] }, { kind: Node });
    expect(known).toMatchObject({ body: { status: { observedGeneration: 3, conditions: [storedHot] } } });
  });

  it.each([
    { name: "a field of another writer", more: { theirs: 7 } },
    {
      name: "a former condition of ours that another writer took over",
      more: { conditions: [{ ...storedHot, type: "Brewing" }] },
    },
  ])("E1: is written once beside $name, and not again over 100 resyncs", async ({ more }) => {
    await using at = await reporting({ cups: 1 });
    at.put({ cups: 1, observedGeneration: 3, ...more });
    await at.start();
    expect(at.written()).toBe(1);
    await at.clock.advance(100 * 66_000);
    expect(at.written()).toBe(0);
  });

  it("E1: writes once if the server stores the status differently, until the desired status changes", async () => {
    const desired = { cups: 1, conditions: [hot] };
    await using at = await reporting(desired);
    const stored = at.put({ cups: 8 });
    at.api.put = () => stored as never; // whatever is written, so there is no watch event
    await at.start();
    await at.clock.advance(100 * 66_000);
    expect(at.written()).toBe(1);
    desired.cups = 2;
    await at.clock.advance(100 * 66_000);
    expect(at.written()).toBe(1);
  });

  it("writes again when another writer changes our fields, and not when it changes its own", async () => {
    await using at = await reporting({ cups: 1, conditions: [hot, brewing] });
    const unmanaged = { ...storedHot, type: "Foreign" };
    const status = { cups: 1, observedGeneration: 3, conditions: [storedHot, storedBrewing, unmanaged], theirs: 7 };
    at.put(status);
    await at.start();
    expect(at.written()).toBe(1);
    for (const { change, writes } of [
      { change: { theirs: 8 }, writes: 0 },
      { change: { conditions: [{ ...unmanaged, message: "changed" }, storedBrewing, storedHot] }, writes: 0 },
      { change: { cups: 2 }, writes: 1 },
      { change: { conditions: [{ ...storedHot, reason: "Cold", status: "False" }, storedBrewing, unmanaged] }, writes: 1 },
      { change: { conditions: [storedHot, storedBrewing, { ...storedHot, type: "Poured" }] }, writes: 1 },
    ]) {
      at.put({ ...status, ...change });
      await at.clock.advance(0);
      expect([change, at.written()]).toEqual([change, writes]);
    }
  });

  it("accepts that the object is gone, and fails on any other 404", async () => {
    const said = { attempt: "apply Tea/status", status: 404, reason: "NotFound", message: "" };
    const gone = new NotFoundError({ ...said, details: { name: "earl-grey" } });
    expect(await sent(tea(undefined), { cups: 1 }, { error: gone })).toHaveLength(1);
    await expect(sent(tea(undefined), { cups: 1 }, { error: new NotFoundError(said) })).rejects.toThrow();
    await expect(sent(tea(undefined), { cups: 1 }, { error: new ConflictError({ ...said, status: 409 }) })).rejects.toThrow();
  });
});
