// What a cluster with a node leaves on the machine: nothing, neither after `down` nor after a kill -9 and `down --all`.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { main } from "../cli/main.ts";
import { busyboxImage } from "../images/programs.ts";
import { startCluster } from "../index.ts";
import { findProcesses } from "../process/proc.ts";
import { silent } from "../progress.ts";
import { clusterDirectory } from "../state/directory.ts";
import { testCluster } from "../testing.ts";
import { cgroupRoot, hierarchies } from "./cgroups.ts";
import { nodeTools } from "./packages.ts";
import { loadBusybox, pod, running, statusOf } from "./pods.fixture.ts";

beforeAll(loadBusybox);

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lc-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const kubernetes = process.env.LOCALCLUSTER_KUBERNETES || undefined;
const environment = () => ({ ...process.env, LOCALCLUSTER_HOME: home });
const processes = () => findProcesses((directory) => directory.startsWith(home)).map(({ component }) => component);
const cgroups = () => {
  const roots = hierarchies().map(({ path }) => join(path, cgroupRoot(clusterDirectory("mine", home))));
  return roots.filter((path) => existsSync(path));
};

/** Where programs of a node write when nobody stops them. */
const places = [
  "/run/containerd",
  "/run/netns",
  "/run/xtables.lock",
  "/var/lib/containerd",
  "/var/lib/kubelet",
  "/var/lib/cni",
].concat(["/var/log/pods", "/var/log/containers", "/opt/containerd", "/etc/cni"]);
const settings = ["vm/overcommit_memory", "kernel/panic", "kernel/panic_on_oops", "net/ipv4/ip_forward"];

/** All that a node could have changed about this machine. */
async function machine(): Promise<object> {
  const { path, env } = await nodeTools();
  const read = (file: string) => readFileSync(file, "utf8");
  return {
    mounts: read("/proc/self/mountinfo"),
    links: await readdir("/sys/class/net"),
    routes: read("/proc/net/route"),
    rules: execFileSync(path("iptables-save"), { env, encoding: "utf8" }).replace(/^#.*$/gm, ""),
    settings: settings.map((name) => [name, read(`/proc/sys/${name}`)]),
    places: places.filter((place) => existsSync(place)),
  };
}

describe("a cluster with a node (real Kubernetes: it creates mounts, links, rules and cgroups)", () => {
  it("leaves nothing behind when it is removed, and another cluster keeps working", async () => {
    await using neighbour = await testCluster({ nodes: "real" });
    const before = await running(neighbour, pod("neighbour"));
    const was = await machine();
    {
      await using cluster = await startCluster({
        name: "mine",
        nodes: "real",
        ...(kubernetes && { kubernetes }),
        env: environment(),
        progress: silent,
      });
      await cluster.load(await busyboxImage({ name: "localcluster/busybox:test", output: join(home, "busybox.tar") }));
      await rm(join(home, "busybox.tar"));
      await cluster.apply(pod("mine"));
      await cluster.eventually(
        () => cluster.pod("mine"),
        (found) => statusOf(found)?.state.running !== undefined,
      );
      expect(cgroups()).not.toEqual([]);
      expect(await machine()).toEqual(was);
    }
    expect(processes()).toEqual([]);
    expect(cgroups()).toEqual([]);
    expect(await readdir(home)).toEqual([]);
    expect(await machine()).toEqual(was);
    expect(await neighbour.kubectl("exec", "neighbour", "--", "echo", "still here")).toBe("still here\n");
    expect(statusOf(await neighbour.pod("neighbour"))).toEqual(statusOf(before));
  });

  it("leaves nothing behind after a kill -9 of its owner and `down --all`", async () => {
    const was = await machine();
    const owner = await killedOwner();
    expect(processes()).toEqual(expect.arrayContaining(["sandbox", "kubelet", "containerd", "etcd"]));
    expect(cgroups().flatMap(everybodyIn)).not.toEqual([]); // the containers run on
    expect(await main(["down", "--all"], { env: environment(), out: { write: () => true }, err: { write: () => true } })).toBe(0);
    expect(owner.signalCode).toBe("SIGKILL");
    expect(processes()).toEqual([]);
    expect(cgroups()).toEqual([]);
    expect(await readdir(home)).toEqual([]);
    expect(await machine()).toEqual(was);
  });

  /** Another process that starts a cluster with a pod in it, says so, and is killed. */
  async function killedOwner() {
    const here = (file: string) => JSON.stringify(join(import.meta.dirname, file));
    const script = `
      import { startCluster } from ${here("../index.ts")};
      import { busyboxImage } from ${here("../images/programs.ts")};
      import { silent } from ${here("../progress.ts")};
      const kubernetes = process.env.LOCALCLUSTER_KUBERNETES || undefined;
      const cluster = await startCluster({ name: "mine", nodes: "real", progress: silent, ...(kubernetes && { kubernetes }) });
      const output = cluster.logs + "/busybox.tar";
      await cluster.load(await busyboxImage({ name: "localcluster/busybox:test", output }));
      await cluster.apply(${JSON.stringify(pod("orphan"))});
      await cluster.eventually(() => cluster.pod("orphan"), (pod) => pod?.status.containerStatuses?.[0]?.state.running !== undefined);
      console.log("ready");
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module-typescript", "--eval", script], {
      ...{ env: environment(), stdio: ["ignore", "pipe", "inherit"] },
    });
    await Promise.race([once(child.stdout, "data"), once(child, "exit").then(() => Promise.reject(new Error("no cluster")))]);
    child.kill("SIGKILL");
    await once(child, "exit");
    return child;
  }

  function everybodyIn(root: string): readonly string[] {
    return execFileSync("find", [root, "-name", "cgroup.procs", "-exec", "cat", "{}", "+"], { encoding: "utf8" })
      .split("\n")
      .filter(Boolean);
  }
});
