import { expect, it } from "vitest";
import { NodeUnsupportedError } from "../errors.ts";
import { type Machine, unmetRequirements } from "./requirements.ts";

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
  { name: "accepts root on a complete machine", machine: good, codes: [] },
  {
    name: "accepts a missing CAP_SYS_RESOURCE",
    machine: { ...good, capabilities: everything & ~(1n << 24n) },
    codes: [],
  },
  {
    name: "reports nothing else to a user who is not root",
    machine: { ...good, uid: 1000, capabilities: 0n },
    codes: ["NOT_ROOT"],
  },
  {
    name: "names the capabilities that root lacks in a container",
    machine: { ...good, capabilities: everything & ~(1n << 21n) & ~(1n << 12n) },
    codes: ["CAPABILITY_MISSING"],
    says: "CAP_NET_ADMIN, CAP_SYS_ADMIN",
  },
  {
    name: "names the missing memory controller",
    machine: { ...good, controllers: ["cpuset", "cpu", "pids"] },
    codes: ["CGROUP_MISSING"],
    says: "expected the cgroup controllers memory, found cpuset, cpu, pids",
  },
  {
    name: "requires cpusets with cgroup version 1",
    machine: { ...good, controllers: ["cpu", "memory", "pids"] },
    codes: ["CGROUP_MISSING"],
    says: "expected the cgroup controllers cpuset",
  },
  {
    name: "does not require cpusets with cgroup version 2",
    machine: { ...good, isUnified: true, controllers: ["cpu", "io", "memory", "pids"] },
    codes: [],
  },
  {
    name: "reports all problems at once",
    machine: { ...good, controllers: [], hasKernelLog: false, namespaceProblem: "unshare failed: Operation not permitted" },
    codes: ["NAMESPACE_MISSING", "CGROUP_MISSING", "DEVICE_MISSING"],
    says: "Operation not permitted",
  },
];

it.each(cases)("$name", ({ machine, codes, says }) => {
  const requirements = unmetRequirements(machine);
  expect(requirements.map(({ code }) => code)).toEqual(codes);
  if (says !== undefined) expect(new NodeUnsupportedError(requirements).message).toContain(says);
});
