import { expect, it } from "vitest";
import { ConfigMap, Secret } from "../objects/kinds/core.ts";
import { atWork, config, ref } from "./at-work.fixture.ts";
import { child } from "./children.ts";
import { declarative } from "./declarative.ts";
import { requeueAfter } from "./outcome.ts";
import { loseAnswer } from "./scripted-client.fixture.ts";

/** As many Secrets as the ConfigMap requests. */
const counted = (ran: string[]) =>
  declarative(ConfigMap, { owns: [Secret] }, ({ metadata, data }, seen) => {
    ran.push(`sees ${seen.children(Secret).length}`);
    const names = Array.from({ length: Number(data?.count) }, (_, index) => `${metadata.name}-${index}`);
    return {
      children: names.map((name) => child(Secret, { metadata: { name } })),
      prune: [Secret],
      events: [{ reason: "Counted", message: data?.count ?? "" }],
    };
  });

it("declarative applies, keeps and prunes the children that the function returns, and records its events", async () => {
  await using at = await atWork(counted);
  at.api.put(ConfigMap, config("a", { count: "2" }));
  await at.start();
  await at.clock.advance(0);
  expect(at.world.writes.splice(0)).toEqual(["apply Secret home/a-0", "apply Secret home/a-1"]);
  expect(at.ran.at(-1)).toBe("sees 2");
  at.api.put(ConfigMap, config("a", { count: "1" }));
  await at.clock.advance(0);
  expect(at.world.writes).toEqual(["delete Secret home/a-1"]);
  expect(at.events.at(-1)).toMatchObject({ regarding: { kind: "ConfigMap", name: "a" }, reason: "Counted", message: "1" });
});

it("declarative records no event if a write fails", async () => {
  await using at = await atWork(counted);
  at.world.spoil = () => loseAnswer();
  at.api.put(ConfigMap, config("a", { count: "1" }));
  await at.start();
  expect([at.world.writes, at.events]).toEqual([["apply Secret home/a-0"], []]);
  at.world.spoil = () => undefined;
  await at.clock.advance(60_000);
  expect(at.events[0]).toMatchObject({ reason: "Counted", message: "1" });
});

it("declarative leaves an object that is being deleted to the garbage collector", async () => {
  await using at = await atWork(counted);
  at.api.put(ConfigMap, { metadata: { ...ref("a"), deletionTimestamp: "2026-01-01T00:00:00Z" }, data: { count: "2" } });
  await at.start();
  expect([at.ran, at.world.writes]).toEqual([[], []]);
});

it("declarative ends with the outcome that the function returns", async () => {
  await using at = await atWork((ran) =>
    declarative(ConfigMap, {}, (_config, { now }) => {
      ran.push(`${now}`);
      return { children: [], outcome: requeueAfter(1_000, "a second is over") };
    }),
  );
  at.api.put(ConfigMap, config("a"));
  await at.start();
  await at.clock.advance(2_000);
  const begun = Date.UTC(2026, 0, 1);
  expect(at.ran).toEqual([`${begun}`, `${begun + 1_000}`, `${begun + 2_000}`]);
});
