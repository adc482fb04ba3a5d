import { existsSync, mkdtempSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type ClusterDirectory, clusterDirectory, createClusterDirectory } from "../state/directory.ts";
import { type ComponentSpec, host, startComponent } from "./component.ts";
import { readEnvironment, readStat } from "./proc.ts";

let directory: ClusterDirectory;
let root: string;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "component-"));
  directory = clusterDirectory("test", root);
  await createClusterDirectory(directory, {});
});
afterEach(() => rm(root, { recursive: true }));

/** A shell script as a component; it is ready once it has said so in its log. */
function script(text: string, more: Partial<ComponentSpec> = {}): ComponentSpec {
  const said = async (signal: AbortSignal) => {
    while (!(await readFile(join(directory.logs, "script.log"), "utf8")).includes("ready")) await sleep(5, undefined, { signal });
  };
  return { name: "script", argv: ["sh", "-c", text], context: host, ready: said, ...more };
}

it("marks a component in its environment and keeps its log", async () => {
  const component = await startComponent(script("echo ready; exec sleep 60"), directory);
  // In the moment of its exec a process has no environment to be read.
  await vi.waitFor(() => expect(readEnvironment(component.pid)?.get("LOCALCLUSTER")).toBe(directory.path));
  expect(readEnvironment(component.pid)?.get("LOCALCLUSTER_COMPONENT")).toBe("script");
  expect(await readFile(component.logFile, "utf8")).toBe("ready\n");
  await component.stop();
  expect(await component.exited).toBe("SIGTERM");
});

it("passes no proxy settings to components", async () => {
  process.env.HTTPS_PROXY = "http://127.0.0.1:1";
  try {
    const component = await startComponent(script("echo ready; exec sleep 60"), directory);
    await vi.waitFor(() => expect(readEnvironment(component.pid)?.has("PATH")).toBe(true));
    expect(readEnvironment(component.pid)?.has("HTTPS_PROXY")).toBe(false);
    await component.stop();
  } finally {
    delete process.env.HTTPS_PROXY;
  }
});

it("fails at once, with the last lines of the log, if a component exits before it is ready", async () => {
  const start = startComponent(script("echo the disk is full; exit 3"), directory);
  await expect(start).rejects.toMatchObject({ code: "COMPONENT_FAILED" });
  await expect(start).rejects.toThrow(/script exited before it was ready \(exit code 3\)[\s\S]*the disk is full/);
});

it("reports a program that does not exist", async () => {
  const start = startComponent({ ...script(""), argv: ["/no/such/program"] }, directory);
  await expect(start).rejects.toThrow(/script could not be started.*ENOENT/);
});

it("stops a component that is not ready in time", async () => {
  const start = startComponent(script("echo $$; exec sleep 60", { readyWithinMs: 50 }), directory);
  await expect(start).rejects.toThrow("script was not ready after 0.05 s");
  const pid = Number((await readFile(join(directory.logs, "script.log"), "utf8")).trim());
  expect(readStat(pid)).toBeUndefined();
});

it("stops a component whose start is aborted", async () => {
  const abort = new AbortController();
  const ready = async () => {
    abort.abort(new Error("changed my mind"));
    await new Promise(() => {});
  };
  await expect(startComponent(script("exec sleep 60", { ready, signal: abort.signal }), directory)).rejects.toThrow(
    "changed my mind",
  );
});

it("sends SIGKILL if SIGTERM is ignored, and stops child processes as well", async () => {
  const ignorant = "trap '' TERM; (trap '' TERM; while :; do sleep 0.05; done) & echo $! ready; while :; do sleep 0.05; done";
  const component = await startComponent(script(ignorant, { graceMs: 20 }), directory);
  const child = Number.parseInt(await readFile(component.logFile, "utf8"), 10);
  expect(existsSync(`/proc/${child}`)).toBe(true);
  await component.stop();
  expect([undefined, "Z"]).toContain(readStat(child)?.state);
  expect(await component.exited).toBe("SIGKILL");
});
