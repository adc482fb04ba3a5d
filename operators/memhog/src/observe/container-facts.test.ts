import { aPod } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import { container, sidecar } from "./facts.fixture.ts";
import { containersOf } from "./pod-facts.ts";

describe("container facts", () => {
  it("contain the requested resources, the actual resources, and the start time", () => {
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

  it("leave out init containers and keep sidecars", () => {
    const spec = {
      initContainers: [container("init", "1Mi"), container("proxy", "2Mi", sidecar)],
      containers: [container("main", "3Mi")],
    };
    expect(containersOf(aPod({ spec })).map(({ name, sidecar: is }) => [name, is])).toEqual([
      ["proxy", true],
      ["main", false],
    ]);
  });

  it("have no actual resources if the kubelet does not report them (Kubernetes < 1.33)", () => {
    const status = { containerStatuses: [{ name: "main", restartCount: 0, state: { running: {} } }] };
    expect(containersOf(aPod({ status }))[0]).toMatchObject({
      appliedLimit: undefined,
      running: true,
      life: { startedAtMs: undefined },
    });
  });

  it("tell which containers a resize would restart", () => {
    const resizePolicy = [{ resourceName: "memory", restartPolicy: "RestartContainer" }];
    const [found] = containersOf(aPod({ spec: { containers: [container("main", "1Mi", { resizePolicy })] } }));
    expect(found?.restartsOnResize).toBe(true);
  });

  const terminated = { exitCode: 137, reason: "OOMKilled", finishedAt: "2026-01-01T00:01:00Z" };
  const atMs = Date.UTC(2026, 0, 1, 0, 1);
  const running = { running: { startedAt: "2026-01-01T00:02:00Z" } };
  it.each([
    {
      name: "the container is terminated",
      status: { state: { terminated }, restartCount: 2 },
      kill: { restart: 2, atMs, stillDown: true },
    },
    {
      name: "the container is in back-off",
      status: { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated }, restartCount: 2 },
      kill: { restart: 2, atMs, stillDown: true },
    },
    {
      name: "the container runs again",
      status: { state: running, lastState: { terminated }, restartCount: 3 },
      kill: { restart: 2, atMs, stillDown: false },
    },
    {
      name: "the container has since failed for another reason",
      status: { state: { terminated: { exitCode: 1, reason: "Error" } }, lastState: { terminated }, restartCount: 3 },
      kill: { restart: 2, atMs, stillDown: true },
    },
    {
      name: "the container was never OOM-killed",
      status: { state: running, lastState: { terminated: { exitCode: 137, reason: "Error" } }, restartCount: 1 },
      kill: undefined,
    },
  ])("G2: identify an OOM kill by its restart count: $name", ({ status, kill }) => {
    const pod = aPod({ status: { containerStatuses: [{ name: "main", ...status }] } });
    expect(containersOf(pod)[0]?.oomKill).toEqual(kill);
  });
});
