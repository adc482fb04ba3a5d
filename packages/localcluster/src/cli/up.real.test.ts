// The command line from end to end, as a person would use it (real Kubernetes: what it leaves running must answer).
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findProcesses } from "../process/proc.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lc-"));
});
afterEach(async () => {
  await localcluster("down", "--all");
  expect(leftBehind()).toEqual([]);
  await rm(home, { recursive: true, force: true });
});

const leftBehind = () => findProcesses((directory) => directory.startsWith(home)).map(({ component }) => component);

/** Runs the program itself, in a process of its own, and waits for its end. */
async function localcluster(...argv: readonly string[]) {
  const child = launch(argv);
  const [out, err, [code, signal]] = await Promise.all([
    Array.fromAsync(child.stdout),
    Array.fromAsync(child.stderr),
    once(child, "close"),
  ]);
  return { code: code ?? signal, out: out.join(""), err: err.join("") };
}

function launch(argv: readonly string[]) {
  const env = { ...process.env, LOCALCLUSTER_HOME: join(home, "state") };
  return spawn(process.execPath, [join(import.meta.dirname, "..", "main.ts"), ...argv], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

it("starts a cluster, uses it with kubectl, lists it, and removes it completely", async () => {
  const kubeconfig = join(home, "kubeconfig");
  const started = await localcluster("up", "--audit", "--kubeconfig", kubeconfig);
  expect(started).toMatchObject({
    code: 0,
    out: expect.stringMatching(/Kubernetes 1\.\d+\.\d+ is ready: cluster default at https:/),
  });

  const [, kubectl = ""] = /alias kubectl=(\S+)/.exec(started.out) ?? [];
  const { stdout } = await promisify(execFile)(kubectl, ["--kubeconfig", kubeconfig, "get", "namespaces", "-o", "name"]);
  expect(stdout).toContain("namespace/kube-system");

  const status = await localcluster("status");
  expect(status.out).toMatch(/^default +running +1\.\d+\.\d+ +none +https:\/\/127\.0\.0\.1:\d+ +none \(up\)$/m);

  const again = await localcluster("up");
  expect(again).toMatchObject({
    code: 1,
    err: expect.stringMatching(/a cluster named default exists.*localcluster down/),
  });

  expect(await localcluster("down")).toMatchObject({ code: 0, out: "removed default\n" });
  expect(leftBehind()).toEqual([]);
  expect(await readdir(join(home, "state"))).toEqual([]);
  expect(existsSync(kubeconfig)).toBe(false);
});

it("prints JSON for scripts, and reports a broken cluster without repairing it", async () => {
  const { out } = await localcluster("up", "--name", "scripted", "--output", "json");
  const facts = JSON.parse(out);
  expect(facts).toMatchObject({ name: "scripted", server: expect.stringMatching(/^https:/), kubectl: expect.any(String) });
  expect(existsSync(facts.kubeconfig) && existsSync(facts.logs)).toBe(true);

  const [apiServer] = findProcesses((directory) => directory.startsWith(home)).filter(
    ({ component }) => component === "kube-apiserver",
  );
  process.kill(apiServer?.pid ?? 0, "SIGKILL");
  await expect
    .poll(async () => JSON.parse((await localcluster("status", "--output", "json")).out), { timeout: 30_000 })
    .toMatchObject([{ name: "scripted", state: "broken", missing: ["kube-apiserver"] }]);
});

it("reports that a real node needs root before creating anything", async () => {
  const argv = [process.execPath, join(import.meta.dirname, "..", "main.ts"), "up", "--nodes", "real"];
  // In a user namespace of its own even root is nobody.
  const [command = "", ...args] = process.getuid?.() === 0 ? ["unshare", "--user", ...argv] : argv;
  const env = { ...process.env, LOCALCLUSTER_HOME: join(home, "state") };
  const attempt = promisify(execFile)(command, args, { env });
  await expect(attempt).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/expected to run as root/) });
  expect(existsSync(join(home, "state"))).toBe(false);
});

it("leaves nothing behind when the start is interrupted", async () => {
  const child = launch(["up"]);
  await expect.poll(leftBehind, { timeout: 60_000 }).toContain("etcd");
  child.kill("SIGINT");
  const [code, signal] = await once(child, "close");
  expect(code ?? signal).not.toBe(0);
  expect(leftBehind()).toEqual([]);
  expect(await readdir(join(home, "state"))).toEqual([]);
});
