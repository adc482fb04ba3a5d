import { expect, it } from "vitest";
import { controllersOf, hierarchies } from "./cgroups.ts";

const version1 = `\
22 27 0:21 / /proc rw,relatime - proc proc rw
29 28 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755
30 29 0:27 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
31 29 0:28 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
32 29 0:29 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd
33 29 0:30 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate
34 40 0:27 / /var/lib/docker/cgroup/memory rw,relatime - cgroup cgroup rw,memory
`;
const version2 =
  "35 24 0:30 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n";

it("finds each cgroup hierarchy once: version 1, named, and version 2", () => {
  expect(hierarchies(version1).map(({ path, version }) => [path, version])).toEqual([
    ["/sys/fs/cgroup/memory", 1],
    ["/sys/fs/cgroup/cpu,cpuacct", 1],
    ["/sys/fs/cgroup/systemd", 1],
    ["/sys/fs/cgroup/unified", 2],
  ]);
});

it("finds the single hierarchy of cgroup version 2", () => {
  expect(hierarchies(version2)).toMatchObject([{ path: "/sys/fs/cgroup", version: 2 }]);
});

it("reads the controllers of cgroup version 1 from the mount options", () => {
  expect(hierarchies(version1).slice(0, 3).map(controllersOf)).toEqual([["memory"], ["cpu", "cpuacct"], []]);
});
