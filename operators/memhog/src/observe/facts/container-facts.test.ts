import { aPod } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { mib } from "../../model/bytes.ts";
import { containersOf } from "./container-facts.ts";
import { container, sidecar } from "./facts.fixture.ts";

describe("what is kept of containers", () => {
  it("is what is asked for, what is in force, and since when it runs", () => {
    expect(containersOf(aPod())).toEqual([
      {
        name: "main",
        sidecar: false,
        limit: mib(384),
        request: mib(256),
        appliedLimit: mib(384),
        appliedRequest: mib(256),
        restartsOnResize: false,
        running: true,
        life: { id: undefined, startedAtMs: Date.UTC(2026, 0, 1) },
        restarts: 0,
        oomKill: undefined,
      },
    ]);
  });

  it("leaves out init containers, and keeps sidecars", () => {
    const spec = {
      initContainers: [container("init", "1Mi"), container("proxy", "2Mi", sidecar)],
      containers: [container("main", "3Mi")],
    };
    expect(containersOf(aPod({ spec })).map(({ name, sidecar: is }) => [name, is])).toEqual([
      ["proxy", true],
      ["main", false],
    ]);
  });

  it("says nothing about what is in force where the kubelet says nothing (Kubernetes < 1.33)", () => {
    const status = { containerStatuses: [{ name: "main", restartCount: 0, state: { running: {} } }] };
    expect(containersOf(aPod({ status }))[0]).toMatchObject({
      appliedLimit: undefined,
      running: true,
      life: { startedAtMs: undefined },
    });
  });

  it("knows who would be restarted by a resize", () => {
    const resizePolicy = [{ resourceName: "memory", restartPolicy: "RestartContainer" }];
    const [found] = containersOf(aPod({ spec: { containers: [container("main", "1Mi", { resizePolicy })] } }));
    expect(found?.restartsOnResize).toBe(true);
  });

  const terminated = { exitCode: 137, reason: "OOMKilled", finishedAt: "2026-01-01T00:01:00Z" };
  const atMs = Date.UTC(2026, 0, 1, 0, 1);
  const running = { running: { startedAt: "2026-01-01T00:02:00Z" } };
  it.each([
    { name: "it lies dead", status: { state: { terminated }, restartCount: 2 }, kill: { restart: 2, atMs, stillDown: true } },
    {
      name: "it waits in back-off",
      status: { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated }, restartCount: 2 },
      kill: { restart: 2, atMs, stillDown: true },
    },
    {
      name: "it runs again",
      status: { state: running, lastState: { terminated }, restartCount: 3 },
      kill: { restart: 2, atMs, stillDown: false },
    },
    {
      name: "it ended in another way since",
      status: { state: { terminated: { exitCode: 1, reason: "Error" } }, lastState: { terminated }, restartCount: 3 },
      kill: { restart: 2, atMs, stillDown: true },
    },
    {
      name: "it was never killed for lack of memory",
      status: { state: running, lastState: { terminated: { exitCode: 137, reason: "Error" } }, restartCount: 1 },
      kill: undefined,
    },
  ])("G2: a kill has one number, whether $name", ({ status, kill }) => {
    const pod = aPod({ status: { containerStatuses: [{ name: "main", ...status }] } });
    expect(containersOf(pod)[0]?.oomKill).toEqual(kill);
  });
});
