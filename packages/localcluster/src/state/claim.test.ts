import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findProcesses } from "../process/orphans.ts";
import { claim, reapAbandoned, remove, removeAll } from "./claim.ts";
import { type ClusterDirectory, clusterDirectory, listClusterDirectories, stateRoot } from "./directory.ts";
import { reap } from "./reap.ts";
import { type ClusterRecord, type Owner, pidNamespace, thisProcess, writeRecord } from "./record.ts";

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

describe("a name", () => {
  it("is given once", async () => {
    const directory = clusterDirectory("x", root);
    await claim(directory, record());
    await expect(claim(directory, record())).rejects.toMatchObject({ code: "CLUSTER_EXISTS" });
  });

  it("is given to one of many that come at the same time", async () => {
    const directory = clusterDirectory("x", root);
    await claim(directory, record(nobody)); // all of them find it abandoned, and may remove it
    const attempts = await Promise.allSettled(Array.from({ length: 5 }, () => claim(directory, record())));
    expect(attempts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(existsSync(directory.record)).toBe(true);
  });

  it("is free again when its owner is gone, and what is left of the old cluster goes first", async () => {
    const directory = clusterDirectory("x", root);
    await claim(directory, record(nobody));
    await writeFile(join(directory.data, "old"), "");
    const { exited } = await idle(directory);
    await claim(directory, record());
    expect(await exited).toEqual([null, "SIGKILL"]);
    expect(existsSync(join(directory.data, "old"))).toBe(false);
  });

  it("is free again when a cluster of `up` has no process left, as after a restart of the machine", async () => {
    const directory = clusterDirectory("x", root);
    await claim(directory, record("detached"));
    await claim(directory, record());
  });

  it("is not free while a cluster of `up` has one", async () => {
    const directory = clusterDirectory("x", root);
    await claim(directory, record("detached"));
    const { child, exited } = await idle(directory);
    await expect(claim(directory, record())).rejects.toMatchObject({ code: "CLUSTER_EXISTS" });
    child.kill();
    await exited;
  });

  it.each(["", "Upper", "under_score", "../up", "-a", "a-", "a".repeat(41)])("is not %j", (name) => {
    expect(() => clusterDirectory(name, root)).toThrow(expect.objectContaining({ code: "INVALID_NAME" }));
  });
});

describe("what is left over", () => {
  it("of the abandoned is removed, and nothing else", async () => {
    for (const [name, owner] of [
      ["dead", nobody],
      ["alive", thisProcess()],
      ["left-running", "detached"],
    ] as const)
      await claim(clusterDirectory(name, root), record(owner));
    expect(await reapAbandoned(root)).toEqual(["dead"]);
    expect((await readdir(root)).sort()).toEqual(["alive", "left-running"]);
  });

  it("of all is removed by `down --all`, also processes whose directory is gone already", async () => {
    const directory = clusterDirectory("x", root);
    const stray = await idle(clusterDirectory("stray", root));
    await claim(directory, record());
    expect(await removeAll(root)).toEqual(["x"]);
    expect(await stray.exited).toEqual([null, "SIGKILL"]);
    expect(await readdir(root)).toEqual([]);
  });

  it("is not what belongs to another root", async () => {
    const other = await idle(clusterDirectory("x", `${root}-other`));
    await removeAll(root);
    expect(findProcesses((path) => path.startsWith(`${root}-other`))).toHaveLength(1);
    other.child.kill();
    await other.exited;
  });

  it("is only the logs, where they may still be needed", async () => {
    const directory = clusterDirectory("x", root);
    await claim(directory, record());
    await reap(directory, { keepLogs: true });
    expect((await readdir(directory.path)).sort()).toEqual(["cluster.json", "logs"]);
  });

  it("is the copy of the kubeconfig too, unless somebody made it theirs", async () => {
    const [ours, theirs] = [join(root, "ours.yaml"), join(root, "theirs.yaml")];
    for (const [name, copy, content] of [
      ["a", ours, "same"],
      ["b", theirs, "edited"],
    ] as const) {
      const directory = clusterDirectory(name, root);
      await claim(directory, record());
      await writeRecord(directory, { ...record(), kubeconfigCopy: copy });
      await writeFile(directory.kubeconfig, "same");
      await writeFile(copy, content);
      await remove(directory, root);
    }
    expect([existsSync(ours), existsSync(theirs)]).toEqual([false, true]);
  });

  it("cannot be removed where there is nothing: says what there is", async () => {
    await claim(clusterDirectory("other", root), record());
    await expect(remove(clusterDirectory("x", root), root)).rejects.toThrow("there is no cluster named x; there is other");
  });
});

describe("the state folder", () => {
  it.each([
    { name: "LOCALCLUSTER_HOME", env: { LOCALCLUSTER_HOME: "/a", XDG_STATE_HOME: "/b" }, path: "/a" },
    { name: "XDG_STATE_HOME", env: { XDG_STATE_HOME: "/b" }, path: "/b/localcluster" },
    { name: "the user's home", env: { HOME: "/home/jane" }, path: "/home/jane/.local/state/localcluster" },
  ])("is where $name says", ({ env, path }) => expect(stateRoot(env)).toBe(path));

  it("is too deep for unix sockets beyond a certain length: that is said at once", async () => {
    const deep = clusterDirectory("x", join(root, "d".repeat(100)));
    await expect(claim(deep, record())).rejects.toMatchObject({ code: "STATE_PATH_TOO_LONG" });
    expect(await listClusterDirectories(join(root, "d".repeat(100)))).toEqual([]);
  });
});
