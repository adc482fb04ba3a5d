import { describe, expect, it } from "vitest";
import type { ApiObject } from "../../json.ts";
import { podColumns } from "./pod.ts";

const now = Date.UTC(2026, 0, 1, 0, 10);
const restarted = { terminated: { exitCode: 137, reason: "OOMKilled", finishedAt: "2026-01-01T00:09:30Z" } };

const pod = ({ status = {}, spec = {}, metadata = {} }: { status?: object; spec?: object; metadata?: object }): ApiObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", creationTimestamp: "2026-01-01T00:00:00Z", ...metadata },
  spec: { containers: [{ name: "c" }], ...spec },
  status: { phase: "Running", ...status },
});

const ran = (more: object) => ({ containerStatuses: [{ name: "c", restartCount: 0, ...more }] });
const running = { state: { running: {} }, ready: true };
const init = (more: object) => ({
  spec: { initContainers: [{ name: "i" }, { name: "j" }] },
  status: { phase: "Pending", initContainerStatuses: [{ name: "i", restartCount: 0, ...more }] },
});

const cases: readonly { name: string; pod: ApiObject; shows: readonly [ready: string, status: string, restarts: string] }[] = [
  { name: "a pending pod", pod: pod({ status: { phase: "Pending" } }), shows: ["0/1", "Pending", "0"] },
  { name: "a running pod", pod: pod({ status: ran(running) }), shows: ["1/1", "Running", "0"] },
  {
    name: "a restarted pod",
    pod: pod({ status: ran({ ...running, restartCount: 2, lastState: restarted }) }),
    shows: ["1/1", "Running", "2 (30s ago)"],
  },
  {
    name: "a pod in CrashLoopBackOff",
    pod: pod({ status: ran({ state: { waiting: { reason: "CrashLoopBackOff" } } }) }),
    shows: ["0/1", "CrashLoopBackOff", "0"],
  },
  { name: "an OOM-killed pod", pod: pod({ status: ran({ state: restarted }) }), shows: ["0/1", "OOMKilled", "0"] },
  {
    name: "a terminated container without a reason",
    pod: pod({ status: ran({ state: { terminated: { exitCode: 3 } } }) }),
    shows: ["0/1", "ExitCode:3", "0"],
  },
  {
    name: "a pod that is being deleted",
    pod: pod({ status: ran(running), metadata: { deletionTimestamp: "2026-01-01T00:10:00Z" } }),
    shows: ["1/1", "Terminating", "0"],
  },
  { name: "a pod in its first init container", pod: pod(init({ state: { running: {} } })), shows: ["0/1", "Init:0/2", "0"] },
  {
    name: "a pod with a failed init container",
    pod: pod(init({ state: { terminated: { exitCode: 1, reason: "Error" } } })),
    shows: ["0/1", "Init:Error", "0"],
  },
  {
    name: "a pod with a running sidecar",
    pod: pod({
      spec: { initContainers: [{ name: "s", restartPolicy: "Always" }] },
      status: { initContainerStatuses: [{ name: "s", started: true, ready: true, restartCount: 0 }], ...ran(running) },
    }),
    shows: ["2/2", "Running", "0"],
  },
  { name: "an evicted pod", pod: pod({ status: { phase: "Failed", reason: "Evicted" } }), shows: ["0/1", "Evicted", "0"] },
];

describe("the kubectl get row of", () => {
  it.each(cases)("$name", ({ pod: given, shows }) => {
    expect(podColumns.slice(1, 4).map(({ cell }) => cell(given, now))).toEqual(shows);
  });
});
