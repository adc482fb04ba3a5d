// C1: an operator that is killed at any write of a scale-up. Its successor finishes the work: exactly as many pods are made
// as were asked for, none twice, and none is taken back.
import { Pod } from "@memhog/runtime";
import { eventually, killAtEveryWrite, moments } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { stage } from "./stage.fixture.ts";

type Stage = Awaited<ReturnType<typeof stage>>;

/** Everything that ever happened to pods, as a watch tells it. */
function census(on: Stage) {
  const ending = new AbortController();
  const seen = { added: [] as string[], deleted: [] as string[] };
  const watching = (async () => {
    for await (const event of on.client.watch(Pod, {
      namespace: on.namespace,
      sendInitialEvents: true,
      signal: ending.signal,
    })) {
      if (event.type === "ADDED") seen.added.push(event.object.metadata.name);
      if (event.type === "DELETED") seen.deleted.push(event.object.metadata.name);
    }
  })().catch(() => {});
  const close = async () => {
    ending.abort();
    await watching;
  };
  return { seen, [Symbol.asyncDispose]: close };
}

const replicas = 30;

it.each(moments)("killed at each write of 0 → 30: %s", { timeout: 300_000 }, async (when) => {
  await using on = await stage();
  await using counted = census(on);
  await on.ask("a", replicas);
  const settled = on.settled("a", replicas, { timeoutMs: 280_000, everyMs: 250 });
  const deaths = await killAtEveryWrite({ when, start: on.start, settled });
  await eventually(
    () => counted.seen.added.length,
    (added) => added >= replicas,
  );
  expect(counted.seen).toEqual({ added: expect.any(Array), deleted: [] });
  expect(counted.seen.added.toSorted()).toEqual((await on.pods("a")).map(({ metadata }) => metadata.name).sort());
  expect(counted.seen.added).toHaveLength(replicas);
  expect(deaths).toBeGreaterThanOrEqual(replicas);
});
