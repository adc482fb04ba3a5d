import { expect, it } from "vitest";
import { NodeImpossibleError } from "../errors.ts";
import { type Machine, obstaclesOn } from "./requirements.ts";

const everything = (1n << 41n) - 1n;
const good: Machine = {
  platform: "linux",
  uid: 0,
  capabilities: everything,
  controllers: ["cpuset", "cpu", "io", "memory", "pids"],
  isUnified: false,
  hasKernelLog: true,
  namespaceProblem: undefined,
};

const cases = [
  { name: "nothing stands against root on a whole machine", machine: good, codes: [] },
  {
    name: "a missing CAP_SYS_RESOURCE is no obstacle",
    machine: { ...good, capabilities: everything & ~(1n << 24n) },
    codes: [],
  },
  { name: "somebody who is not root is told only that", machine: { ...good, uid: 1000, capabilities: 0n }, codes: ["NOT_ROOT"] },
  {
    name: "root in a container without rights is told which are missing",
    machine: { ...good, capabilities: everything & ~(1n << 21n) & ~(1n << 12n) },
    codes: ["CAPABILITY_MISSING"],
    says: "CAP_NET_ADMIN, CAP_SYS_ADMIN",
  },
  {
    name: "a kernel that does not limit memory is named",
    machine: { ...good, controllers: ["cpuset", "cpu", "pids"] },
    codes: ["CGROUP_MISSING"],
    says: "no cgroup controller for memory (found cpuset, cpu, pids)",
  },
  {
    name: "version 1 needs cpusets",
    machine: { ...good, controllers: ["cpu", "memory", "pids"] },
    codes: ["CGROUP_MISSING"],
    says: "no cgroup controller for cpuset",
  },
  {
    name: "version 2 does without cpusets",
    machine: { ...good, isUnified: true, controllers: ["cpu", "io", "memory", "pids"] },
    codes: [],
  },
  {
    name: "every obstacle is said at once",
    machine: { ...good, controllers: [], hasKernelLog: false, namespaceProblem: "unshare failed: Operation not permitted" },
    codes: ["NAMESPACE_MISSING", "CGROUP_MISSING", "DEVICE_MISSING"],
    says: "Operation not permitted",
  },
];

it.each(cases)("$name", ({ machine, codes, says }) => {
  const obstacles = obstaclesOn(machine);
  expect(obstacles.map(({ code }) => code)).toEqual(codes);
  if (says !== undefined) expect(new NodeImpossibleError(obstacles).message).toContain(says);
});
