import { expect, it } from "vitest";
import { silentLogger } from "../concurrency/environment.ts";
import { manualClock } from "../concurrency/manual-clock.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { controller } from "./controller.ts";
import { ReconcileEndedError } from "./errors.ts";
import { PendingWrites } from "./key-state.ts";
import { NameConflicts, OpenCaches } from "./open-caches.ts";
import { done } from "./outcome.ts";
import { ReconcileScope } from "./reconcile.ts";
import { AppliedChildren, WriteResults } from "./settled.ts";

const { signal } = new AbortController();

function scopeOf(log = () => silentLogger) {
  const caches = new OpenCaches("test");
  caches.list = () => [];
  const deps = {
    controller: controller(ConfigMap, {}, async () => done()),
    client: {} as never,
    clock: manualClock(),
    events: { record: () => {} },
    caches,
    appliedChildren: new AppliedChildren(),
    writtenStatuses: new WriteResults(),
    nameConflicts: new NameConflicts(),
    ended: new ReconcileEndedError("test"),
    random: () => 0,
  };
  const request = { key: "home/a", ref: { name: "a" }, log, writes: new PendingWrites(), failures: 3, stopping: signal };
  return new ReconcileScope(deps, request, signal) as ReconcileScope & { readonly log: unknown; readonly failures: number };
}

it("ReconcileScope can be destructured and copied", () => {
  for (const scope of [scopeOf(), { ...scopeOf() }]) {
    const { list, log, failures } = scope;
    expect([list(ConfigMap), log, failures]).toEqual([[], silentLogger, 3]);
  }
});

it("ReconcileScope creates its parts on first use", () => {
  const scope = scopeOf(() => {
    throw new Error("created");
  });
  expect(() => scope.log).toThrow("created");
});

it("ReconcileScope shares its getters: V8 would keep getters of its own until the next full collection", () => {
  const getter = (scope: ReconcileScope) => Object.getOwnPropertyDescriptor(scope, "client")?.get;
  expect(getter(scopeOf())).toBeTypeOf("function");
  expect(getter(scopeOf())).toBe(getter(scopeOf()));
});
