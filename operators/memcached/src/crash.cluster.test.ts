// C1: an operator that is killed at any write of a life: made, changed, removed. Its successor finishes the work, and nobody can tell
// from the Deployments and ReplicaSets of that life that anybody died.
import { Deployment, type Kind, type KubernetesObject } from "@memhog/runtime";
import { ReplicaSet } from "@memhog/runtime/kinds";
import { killAtEveryWrite, moments } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { stage } from "./stage.fixture.ts";

type Stage = Awaited<ReturnType<typeof stage>>;

/** How often objects of a kind came and went, as a watch tells it. */
function census(on: Stage, kind: Kind<KubernetesObject>) {
  const ending = new AbortController();
  const seen = { added: 0, deleted: 0 };
  const watching = (async () => {
    const options = { namespace: on.namespace, sendInitialEvents: true, signal: ending.signal };
    for await (const { type } of on.client.watch(kind, options)) {
      if (type === "ADDED") seen.added += 1;
      if (type === "DELETED") seen.deleted += 1;
    }
  })().catch(() => {});
  const close = async () => {
    ending.abort();
    await watching;
  };
  return { seen, [Symbol.asyncDispose]: close };
}

const patient = { timeoutMs: 280_000 };

it.each(moments)("killed at each write from creation to removal: %s", { timeout: 300_000 }, async (when) => {
  await using on = await stage();
  await using deployments = census(on, Deployment);
  await using sets = census(on, ReplicaSet);
  const kill = (settled: Promise<unknown>) => killAtEveryWrite({ when, start: on.start, settled });

  await on.ask("a", { size: 3, version: "1.6.9" });
  const made = await kill(on.settled("a", 3, patient));
  expect((await on.deployment("a"))?.metadata.generation).toBe(1);

  await on.ask("a", { size: 5, version: "1.6.10" });
  const changed = await kill(on.settled("a", 5, patient));
  expect((await on.deployment("a"))?.metadata.generation).toBe(2);

  await on.remove("a");
  const removed = await kill(on.gone("a", patient));
  await on.cluster.eventually(
    () => ({ deployments: deployments.seen, sets: sets.seen }),
    (seen) => seen.deployments.deleted === 1 && seen.sets.deleted === 2,
  );
  expect([deployments.seen.added, sets.seen.added]).toEqual([1, 2]);
  expect(await on.pods()).toEqual([]);
  // The finalizer and the Deployment, the Deployment, the Deployment: after the last write of each there may be nobody left to kill.
  const least = [2, 1, 1];
  for (const [phase, deaths] of [made, changed, removed].entries()) expect(deaths).toBeGreaterThanOrEqual(least[phase] ?? 0);
});
