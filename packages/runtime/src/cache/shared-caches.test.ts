import { describe, expect, it } from "vitest";
import { silentLogger } from "../concurrency/logger.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { dynamicKind } from "../objects/kinds/kind.ts";
import { view } from "./projection.ts";
import { ScriptedApi } from "./scripted-api.fixture.ts";
import { SharedCaches } from "./shared-caches.ts";

function sharing() {
  const api = new ScriptedApi();
  const environment = manualEnvironment();
  return { api, clock: environment.clock, caches: new SharedCaches({ client: api, environment, log: silentLogger }) };
}

describe("shared caches", () => {
  it("give one cache to everyone who wants the same kind, however they spell it", async () => {
    const { api, caches, clock } = sharing();
    const spelled = dynamicKind({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });
    await using first = caches.open(ConfigMap);
    await using second = caches.open(spelled);
    await clock.advance(0);
    expect(second.cache).toBe(first.cache);
    expect(api.openWatches).toBe(1);
  });

  it("keep views with another projection or selection apart", async () => {
    const { api, caches, clock } = sharing();
    await using whole = caches.open(ConfigMap);
    await using lean = caches.open(view(ConfigMap, { project: ({ metadata }) => ({ metadata }) }));
    await using some = caches.open(view(ConfigMap, { labelSelector: "app=web" }));
    await using same = caches.open(view(ConfigMap, { labelSelector: "app=web" }));
    await clock.advance(0);
    expect(new Set([whole.cache, lean.cache, some.cache, same.cache]).size).toBe(3);
    expect(api.openWatches).toBe(3);
  });

  it("stop a cache when its last user has closed it, once", async () => {
    const { api, caches, clock } = sharing();
    const first = caches.open(ConfigMap);
    const second = caches.open(ConfigMap);
    await clock.advance(0);
    await first[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    expect([api.openWatches, caches.synced, caches.status().length]).toEqual([1, true, 1]);
    await second[Symbol.asyncDispose]();
    expect([api.openWatches, caches.status().length]).toEqual([0, 0]);
  });
});
