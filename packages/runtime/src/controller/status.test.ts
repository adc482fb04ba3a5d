import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Client } from "../client/client.ts";
import { ConflictError, NotFoundError } from "../client/errors.ts";
import { manualClock } from "../concurrency/manual-clock.ts";
import type { Condition } from "../objects/kinds/common.ts";
import { Node } from "../objects/kinds/core/node.ts";
import type { Kind, ObjectOf, Stored } from "../objects/object.ts";
import { defineResource } from "../schema/define-resource.ts";
import { Settled } from "./settled.ts";
import { type StatedStatus, setStatus } from "./status.ts";

const Tea = defineResource({
  group: "test.example.com",
  version: "v1",
  kind: "Tea",
  spec: z.object({}),
  status: z.object({ cups: z.int() }),
  conditions: { Ready: ["Hot", "Cold"], Brewing: ["Started"] },
});

const then = "2025-01-01T00:00:00Z";
const now = "2026-01-01T00:00:00Z";
const hot = { type: "Ready", status: "True", reason: "Hot", message: "" } as const;
const storedHot = { ...hot, observedGeneration: 3, lastTransitionTime: then };

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
  };
  const client = { apply } as unknown as Client;
  const work = { kind, owns: [], fieldManager: "tea", client, clock: manualClock(), settled: new Settled() };
  await setStatus({ ...work, cacheOf: () => expect.unreachable(), whenGone: () => {}, note: () => {} }, object as never, stated);
  return sent;
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
    { name: "is written to take a condition of ours back", before, stated: { cups: 1 }, writes: 1 },
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

  it("has nobody to tell once its object is gone, and is an error otherwise", async () => {
    const said = { attempt: "apply Tea/status", status: 404, reason: "NotFound", message: "" };
    const gone = new NotFoundError({ ...said, details: { name: "earl-grey" } });
    expect(await sent(tea(undefined), { cups: 1 }, { error: gone })).toHaveLength(1);
    await expect(sent(tea(undefined), { cups: 1 }, { error: new NotFoundError(said) })).rejects.toThrow();
    await expect(sent(tea(undefined), { cups: 1 }, { error: new ConflictError({ ...said, status: 409 }) })).rejects.toThrow();
  });
});
