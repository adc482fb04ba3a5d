// Malformed content that users, backups or other versions may leave in an AppMemory.
import { expect, it } from "vitest";
import { AppMemory } from "../../src/api/app-memory.ts";
import { sizeOf } from "./hogs.fixture.ts";
import { home, minutes, world } from "./world.fixture.ts";

it("E3: a malformed AppMemory is counted and repaired and does not affect other apps", async () => {
  await using w = await world();
  await w.monitor();
  await w.pod("spoiled");
  const { program } = w.start();
  await w.pass(minutes(1));
  const learned = [{ container: "main", limit: "as much as it takes", at: "2026-01-01T00:00:00Z" }];
  const ref = { namespace: home, name: "pod-spoiled" };
  await w.client.patch(AppMemory, ref, { type: "merge", body: { status: { learned } } }, { subresource: "status" });
  await w.pod("hungry");
  await w.pass(minutes(1));
  expect((await w.pods()).map(sizeOf)).toEqual(["512Mi/768Mi", "512Mi/768Mi"]);
  expect((await w.memory("pod-spoiled"))?.status).toMatchObject({ reason: "BelowThreshold", raises: 1 });
  expect((await w.memory("pod-spoiled"))?.status?.learned ?? []).toEqual([]);
  expect((await program.metrics.text()).body).toMatch(/^memhog_broken_records_total [1-9]/m);
});
