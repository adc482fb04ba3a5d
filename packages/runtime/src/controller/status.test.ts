import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Cache } from "../cache/cache.ts";
import type { Client } from "../client/client.ts";
import { ConflictError, NotFoundError } from "../client/errors.ts";
import { manualClock } from "../concurrency/manual-clock.ts";
import type { Condition } from "../objects/kinds/common.ts";
import { Node } from "../objects/kinds/core/node.ts";
import type { Kind, ObjectOf, Stored } from "../objects/object.ts";
import { defineResource } from "../schema/define-resource.ts";
import { atWork } from "./at-work.fixture.ts";
import { controller } from "./controller.ts";
import { done } from "./outcome.ts";
import { Outcomes, Settled } from "./settled.ts";
import { type StatedStatus, setStatus } from "./status.ts";

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

/** Sets a status; answers with what was sent. */
async function sent(
  object: Stored<ObjectOf<typeof Tea>>,
  stated: StatedStatus & { cups: number },
  { error, kind = Tea }: { error?: Error; kind?: Kind } = {},
) {
  const sent: unknown[] = [];
  const apply = async (_kind: unknown, body: unknown, { subresource }: { subresource?: string }) => {
    sent.push({ subresource, body });
    if (error) throw error;
    return body;
  };
  const client = { apply } as unknown as Client;
  const known = { settled: new Settled(), reported: new Outcomes() };
  const work = { kind, owns: [], fieldManager: "tea", client, clock: manualClock(), ...known };
  const cacheOf = () => ({ project: (answer: unknown) => answer }) as Cache;
  await setStatus({ ...work, cacheOf, whenGone: () => {}, note: () => {} }, object as never, stated);
  return sent;
}

/** A controller that says the same about every tea, each minute; `written` says how often that was a write since it was asked. */
async function reporting(stated: StatedStatus & { cups: number }) {
  const at = await atWork(() =>
    controller(Tea, { resyncMs: 60_000 }, async (own, ctx) => {
      const found = ctx.get(Tea, own);
      if (found !== undefined) await ctx.setStatus(found, stated as never);
      return done();
    }),
  );
  const put = (status: object) => at.api.put(Tea, tea(status as never));
  const written = () => at.world.writes.splice(0).length;
  return { ...at, put, written };
}

describe("a status", () => {
  it("goes through /status, names its object by UID, and says which generation it speaks of", async () => {
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
    { name: "is not written if it says nothing new", before, stated: { cups: 1, conditions: [hot] }, writes: 0 },
    { name: "is written if a field differs", before, stated: { cups: 2, conditions: [hot] }, writes: 1 },
    {
      name: "is written for a new generation",
      before: { ...before, observedGeneration: 2 },
      stated: { cups: 1, conditions: [hot] },
      writes: 1,
    },
    {
      name: "is written if a condition changes its words",
      before,
      stated: { cups: 1, conditions: [{ ...hot, message: "very" }] },
      writes: 1,
    },
    {
      name: "is written if one of several conditions does",
      before: { ...before, conditions: [storedHot, storedBrewing] },
      stated: { cups: 1, conditions: [hot, { ...brewing, message: "still" }] },
      writes: 1,
    },
    { name: "is written to take a condition of ours back", before, stated: { cups: 1 }, writes: 1 },
    {
      name: "is written to take one of several back",
      before: { ...before, conditions: [storedHot, storedBrewing] },
      stated: { cups: 1, conditions: [hot] },
      writes: 1,
    },
    {
      name: "leaves the conditions of others in peace",
      before: {
        ...before,
        conditions: [storedHot, { type: "Foreign", status: "True", reason: "X", message: "", lastTransitionTime: then } as const],
      },
      stated: { cups: 1, conditions: [hot] },
      writes: 0,
    },
  ];
  it.each(cases)("$name", async ({ before, stated, writes }) => {
    expect(await sent(tea(before), stated)).toHaveLength(writes);
  });

  it("keeps the transition time while the status of a condition stays", async () => {
    const [write] = await sent(tea(before), { cups: 1, conditions: [{ ...hot, message: "very" }] });
    expect(write).toMatchObject({ body: { status: { conditions: [{ message: "very", lastTransitionTime: then }] } } });
  });

  it("says the generation of a kind that is not ours only where there is one already: servers refuse unknown fields", async () => {
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
      name: "a condition that was once ours and is another writer's now",
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

  it("E1: is written once if the server makes something else of it, until something else is stated", async () => {
    const stated = { cups: 1, conditions: [hot] };
    await using at = await reporting(stated);
    const stored = at.put({ cups: 8 });
    at.api.put = () => stored as never; // whatever is written, and so nothing is told
    await at.start();
    await at.clock.advance(100 * 66_000);
    expect(at.written()).toBe(1);
    stated.cups = 2;
    await at.clock.advance(100 * 66_000);
    expect(at.written()).toBe(1);
  });

  it("is written again when somebody else changes what we state, and not when they change what is theirs", async () => {
    await using at = await reporting({ cups: 1, conditions: [hot, brewing] });
    const foreign = { ...storedHot, type: "Foreign" };
    const status = { cups: 1, observedGeneration: 3, conditions: [storedHot, storedBrewing, foreign], theirs: 7 };
    at.put(status);
    await at.start();
    expect(at.written()).toBe(1);
    for (const { change, writes } of [
      { change: { theirs: 8 }, writes: 0 },
      { change: { conditions: [{ ...foreign, message: "news" }, storedBrewing, storedHot] }, writes: 0 },
      { change: { cups: 2 }, writes: 1 },
      { change: { conditions: [{ ...storedHot, reason: "Cold", status: "False" }, storedBrewing, foreign] }, writes: 1 },
      { change: { conditions: [storedHot, storedBrewing, { ...storedHot, type: "Poured" }] }, writes: 1 },
    ]) {
      at.put({ ...status, ...change });
      await at.clock.advance(0);
      expect([change, at.written()]).toEqual([change, writes]);
    }
  });

  it("has nobody to tell once its object is gone, and is an error otherwise", async () => {
    const said = { attempt: "apply Tea/status", status: 404, reason: "NotFound", message: "" };
    const gone = new NotFoundError({ ...said, details: { name: "earl-grey" } });
    expect(await sent(tea(undefined), { cups: 1 }, { error: gone })).toHaveLength(1);
    await expect(sent(tea(undefined), { cups: 1 }, { error: new NotFoundError(said) })).rejects.toThrow();
    await expect(sent(tea(undefined), { cups: 1 }, { error: new ConflictError({ ...said, status: 409 }) })).rejects.toThrow();
  });
});
