// Clusters of one's own: what they survive, what they leave behind, what is said when they cannot be. Each test has a state
// folder of its own, so that "nothing is left" can be said of all of it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { main } from "./cli/main.ts";
import { type StartOptions, startCluster as start } from "./index.ts";
import { findProcesses } from "./process/proc.ts";
import { freePort } from "./process/sockets.ts";
import { silent } from "./progress.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lc-"));
});
afterEach(async () => {
  expect(leftBehind()).toEqual([]);
  await rm(home, { recursive: true, force: true });
});

const environment = () => ({ ...process.env, LOCALCLUSTER_HOME: home });
const startCluster = (options: StartOptions = {}) => start({ progress: silent, env: environment(), ...options });
const leftBehind = () => findProcesses((directory) => directory.startsWith(home)).map(({ component }) => component);
const localcluster = (...argv: readonly string[]) =>
  main(argv, { env: environment(), out: { write: () => true }, err: { write: () => true } });

const note = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "note" }, data: { text: "still here" } };

describe("an owned cluster (real Kubernetes: it starts processes)", () => {
  it("keeps its data and address when the API server, and then etcd, is restarted", async () => {
    await using cluster = await startCluster();
    await cluster.apply(note);
    await cluster.stop("kube-apiserver");
    await expect(cluster.get(note)).rejects.toMatchObject({ code: "API_UNREACHABLE" });
    await cluster.start("kube-apiserver");
    expect((await cluster.get(note))?.data).toEqual({ text: "still here" });
    await cluster.stop("etcd");
    await cluster.start("etcd");
    await cluster.eventually(
      () => cluster.get(note),
      (found) => found?.data.text === "still here",
    );
  });

  it("keeps working after its controllers are restarted, and lists the components that can be stopped", async () => {
    await using cluster = await startCluster();
    await expect(cluster.stop("kubelet")).rejects.toMatchObject({
      code: "UNKNOWN_COMPONENT",
      message: expect.stringContaining("etcd, egress-proxy, kube-apiserver, kube-controller-manager"),
    });
    await cluster.stop("kube-controller-manager");
    await cluster.stop("kube-controller-manager");
    await cluster.start("kube-controller-manager");
    await cluster.start("kube-controller-manager");
    await cluster.namespace();
  });

  it("runs beside another cluster", async () => {
    await using one = await startCluster({ controllers: [] });
    await using other = await startCluster({ controllers: [] });
    expect(one.server).not.toBe(other.server);
    await one.apply(note);
    expect(await other.get(note)).toBeUndefined();
    await other.down();
    expect((await one.get(note))?.data).toEqual({ text: "still here" });
  });

  it("has a unique name, and leaves no process and no file behind", async () => {
    const cluster = await startCluster({ name: "short-lived" });
    await expect(startCluster({ name: "short-lived" })).rejects.toMatchObject({ code: "CLUSTER_EXISTS" });
    expect(leftBehind().sort()).toEqual(["egress-proxy", "etcd", "kube-apiserver", "kube-controller-manager"]);
    await cluster.down();
    await cluster.down();
    expect(leftBehind()).toEqual([]);
    expect(await readdir(home)).toEqual([]);
  });
});

describe("a cluster whose owner is killed", () => {
  /** Another process that starts a cluster, says so, and waits to be killed. */
  async function owner() {
    const script = `
      import { startCluster } from ${JSON.stringify(join(import.meta.dirname, "index.ts"))};
      const cluster = await startCluster({ name: "orphan", controllers: [] });
      console.log("ready");
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module-typescript", "--eval", script], {
      ...{ env: environment(), stdio: ["ignore", "pipe", "inherit"] },
    });
    await Promise.race([once(child.stdout, "data"), once(child, "exit").then(() => Promise.reject(new Error("no cluster")))]);
    return child;
  }
  it("is removed completely by `down --all` after a kill -9", async () => {
    const child = await owner();
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(leftBehind().sort()).toEqual(["egress-proxy", "etcd", "kube-apiserver"]);
    expect(await localcluster("down", "--all")).toBe(0);
    expect(leftBehind()).toEqual([]);
    expect(await readdir(home)).toEqual([]);
  });

  it("is removed by the next start after a kill -9, even of the same name", async () => {
    const child = await owner();
    child.kill("SIGKILL");
    await once(child, "exit");
    await using cluster = await startCluster({ name: "orphan", controllers: [] });
    expect(await cluster.get(note)).toBeUndefined();
    expect(leftBehind().sort()).toEqual(["egress-proxy", "etcd", "kube-apiserver"]);
  });

  it("is removed on SIGTERM", async () => {
    const child = await owner();
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([null, "SIGTERM"]);
    expect(leftBehind()).toEqual([]);
    expect(await readdir(home)).toEqual([]);
  });
});

describe("a cluster that cannot start", () => {
  it("because the port is in use: the error names the process", async () => {
    const port = await freePort();
    const server = createServer().listen(port, "127.0.0.1");
    await once(server, "listening");
    await expect(startCluster({ port })).rejects.toMatchObject({
      code: "PORT_IN_USE",
      message: expect.stringContaining(`process ${process.pid}`),
    });
    server.close();
    expect(await readdir(home)).toEqual([]);
  });

  it("because a component fails: its log is in the message, and kept", async () => {
    const broken = { ...environment(), LOCALCLUSTER_KUBE_APISERVER: "/bin/false" };
    const attempt = startCluster({ name: "broken", env: broken });
    await expect(attempt).rejects.toMatchObject({ code: "COMPONENT_FAILED", message: expect.stringContaining("exit code 1") });
    expect(await readdir(join(home, "broken"))).toEqual(["cluster.json", "logs"]);
    expect(await readFile(join(home, "broken", "logs", "kube-apiserver.log"), "utf8")).toBe("");
  });

  it("because the start is aborted: nothing is left behind", async () => {
    const abort = new AbortController();
    const attempt = startCluster({ signal: abort.signal });
    await expect.poll(leftBehind, { timeout: 60_000 }).toContain("etcd");
    abort.abort(new Error("changed my mind"));
    await expect(attempt).rejects.toThrow("changed my mind");
    expect(await readdir(home)).toEqual([]);
  });
});
