import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findProcesses } from "../process/proc.ts";
import {
  type ClusterDirectory,
  type ClusterRecord,
  clusterDirectory,
  listClusterDirectories,
  type Owner,
  pidNamespace,
  stateRoot,
  thisProcess,
  writeRecord,
} from "./directory.ts";
import { claimName, cleanUp, removeAbandoned, removeAllClusters, removeCluster } from "./lifecycle.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "claim-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const nobody: Owner = { pid: 1, startTime: "long gone" };
const record = (owner: Owner = thisProcess()): ClusterRecord => ({
  ...{ name: "x", kubernetes: "1.37.1", owner, pidNamespace: pidNamespace(), createdAt: "", nodes: "none", controllers: [] },
});

/** A process that is marked as one of the cluster's. */
async function idle({ path }: ClusterDirectory) {
  const env = { PATH: process.env.PATH, LOCALCLUSTER: path, LOCALCLUSTER_COMPONENT: "idle" };
  const child = spawn("sleep", ["600"], { env, detached: true });
  await once(child, "spawn");
  return { child, exited: once(child, "exit") };
}

describe("the name of a cluster", () => {
  it("is given once", async () => {
    const directory = clusterDirectory("x", root);
    await claimName(directory, record());
    await expect(claimName(directory, record())).rejects.toMatchObject({ code: "CLUSTER_EXISTS" });
  });

  it("is given to one of several concurrent starts", async () => {
    const directory = clusterDirectory("x", root);
    await claimName(directory, record(nobody)); // all of them find it abandoned, and may remove it
    const attempts = await Promise.allSettled(Array.from({ length: 5 }, () => claimName(directory, record())));
    expect(attempts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(existsSync(directory.record)).toBe(true);
  });

  it("can be reused when its owner has ended, after the old cluster is removed", async () => {
    const directory = clusterDirectory("x", root);
    await claimName(directory, record(nobody));
    await writeFile(join(directory.data, "old"), "");
    const { exited } = await idle(directory);
    await claimName(directory, record());
    expect(await exited).toEqual([null, "SIGKILL"]);
    expect(existsSync(join(directory.data, "old"))).toBe(false);
  });

  it("can be reused when a cluster of `up` has no process left, as after a reboot", async () => {
    const directory = clusterDirectory("x", root);
    await claimName(directory, record("detached"));
    await claimName(directory, record());
  });

  it("cannot be reused while a cluster of `up` has a process", async () => {
    const directory = clusterDirectory("x", root);
    await claimName(directory, record("detached"));
    const { child, exited } = await idle(directory);
    await expect(claimName(directory, record())).rejects.toMatchObject({ code: "CLUSTER_EXISTS" });
    child.kill();
    await exited;
  });

  it.each(["", "Upper", "under_score", "../up", "-a", "a-", "a".repeat(41)])("is not %j", (name) => {
    expect(() => clusterDirectory(name, root)).toThrow(expect.objectContaining({ code: "INVALID_NAME" }));
  });
});

describe("removing clusters", () => {
  it("removes abandoned clusters and no others", async () => {
    for (const [name, owner] of [
      ["dead", nobody],
      ["alive", thisProcess()],
      ["left-running", "detached"],
    ] as const)
      await claimName(clusterDirectory(name, root), record(owner));
    expect(await removeAbandoned(root)).toEqual(["dead"]);
    expect((await readdir(root)).sort()).toEqual(["alive", "left-running"]);
  });

  it("removes all clusters, and processes whose directory was deleted", async () => {
    const directory = clusterDirectory("x", root);
    const stray = await idle(clusterDirectory("stray", root));
    await claimName(directory, record());
    expect(await removeAllClusters(root)).toEqual(["x"]);
    expect(await stray.exited).toEqual([null, "SIGKILL"]);
    expect(await readdir(root)).toEqual([]);
  });

  it("keeps clusters of another state root", async () => {
    const other = await idle(clusterDirectory("x", `${root}-other`));
    await removeAllClusters(root);
    expect(findProcesses((path) => path.startsWith(`${root}-other`))).toHaveLength(1);
    other.child.kill();
    await other.exited;
  });

  it("keeps only the logs with keepLogs", async () => {
    const directory = clusterDirectory("x", root);
    await claimName(directory, record());
    await cleanUp(directory, { keepLogs: true });
    expect((await readdir(directory.path)).sort()).toEqual(["cluster.json", "logs"]);
  });

  it("removes the copy of the kubeconfig unless it was edited", async () => {
    const [ours, theirs] = [join(root, "ours.yaml"), join(root, "theirs.yaml")];
    for (const [name, copy, content] of [
      ["a", ours, "same"],
      ["b", theirs, "edited"],
    ] as const) {
      const directory = clusterDirectory(name, root);
      await claimName(directory, record());
      await writeRecord(directory, { ...record(), kubeconfigCopy: copy });
      await writeFile(directory.kubeconfig, "same");
      await writeFile(copy, content);
      await removeCluster(directory, root);
    }
    expect([existsSync(ours), existsSync(theirs)]).toEqual([false, true]);
  });

  it("rejects an unknown cluster, and lists the known ones", async () => {
    await claimName(clusterDirectory("other", root), record());
    await expect(removeCluster(clusterDirectory("x", root), root)).rejects.toThrow("no cluster named x; found other");
  });
});

describe("the state folder", () => {
  it.each([
    { name: "LOCALCLUSTER_HOME", env: { LOCALCLUSTER_HOME: "/a", XDG_STATE_HOME: "/b" }, path: "/a" },
    { name: "XDG_STATE_HOME", env: { XDG_STATE_HOME: "/b" }, path: "/b/localcluster" },
    { name: "the user's home", env: { HOME: "/home/jane" }, path: "/home/jane/.local/state/localcluster" },
  ])("is the one of $name", ({ env, path }) => expect(stateRoot(env)).toBe(path));

  it("is rejected at once if its path is too long for unix sockets", async () => {
    const deep = clusterDirectory("x", join(root, "d".repeat(100)));
    await expect(claimName(deep, record())).rejects.toMatchObject({ code: "STATE_PATH_TOO_LONG" });
    expect(await listClusterDirectories(join(root, "d".repeat(100)))).toEqual([]);
  });
});

// With a component that only sleeps. start.real.test.ts repeats it with real components, and shows what happens after a kill -9.
describe("a cluster and its owner", { timeout: 60_000 }, () => {
  const leftBehind = () => findProcesses((directory) => directory.startsWith(root)).map(({ component }) => component);

  /** Another process that owns a cluster of one idle program, says so, and goes on as told. */
  async function owner(ending: string) {
    const from = (file: string) => JSON.stringify(join(import.meta.dirname, file));
    const script = `
    import { host, startComponent } from ${from("../process/component.ts")};
    import { clusterDirectory, createClusterDirectory } from ${from("directory.ts")};
    import { cleanUp, stopOnExit } from ${from("lifecycle.ts")};
    const directory = clusterDirectory("owned", ${JSON.stringify(root)});
    await createClusterDirectory(directory, { nodes: "none" });
    stopOnExit({ directory, hasNode: false, down: () => cleanUp(directory) });
    await startComponent({ name: "idle", argv: ["sleep", "600"], context: host, ready: async () => {} }, directory);
    console.log("ready");
    ${ending}`;
    const child = spawn(process.execPath, ["--input-type=module-typescript", "--eval", script], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const exited = once(child, "exit");
    await Promise.race([once(child.stdout, "data"), exited]);
    return { child, exited };
  }

  const wait = "setInterval(() => {}, 1000);";

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "the cluster is removed on %s, which then has its default effect",
    async (signal) => {
      const { child, exited } = await owner(wait);
      expect(leftBehind()).toEqual(["idle"]);
      child.kill(signal);
      expect(await exited).toEqual([null, signal]);
      expect(leftBehind()).toEqual([]);
      expect(existsSync(clusterDirectory("owned", root).path)).toBe(false);
    },
  );

  it("other listeners decide how the process ends", async () => {
    const { child, exited } = await owner(`process.on("SIGTERM", () => setTimeout(() => process.exit(7), 200)); ${wait}`);
    child.kill("SIGTERM");
    expect(await exited).toEqual([7, null]);
    expect(leftBehind()).toEqual([]);
  });

  it.each([
    { name: "process.exit", ending: "process.exit(3);", code: 3 },
    { name: "an uncaught error", ending: "setImmediate(() => { throw new Error('deliberate'); });", code: 1 },
    { name: "a normal exit", ending: "", code: 0 },
  ])("the cluster is removed on $name", async ({ ending, code }) => {
    const { exited } = await owner(ending);
    expect(await exited).toEqual([code, null]);
    await expect.poll(leftBehind).toEqual([]); // killed, but nobody waited for it
    expect(existsSync(clusterDirectory("owned", root).path)).toBe(false);
  });
});
