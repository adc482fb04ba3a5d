import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  type ClusterRecord,
  clusterDirectory,
  createClusterDirectory,
  isAbandoned,
  pidNamespace,
  readRecord,
  stateOf,
  thisProcess,
  writeRecord,
} from "./directory.ts";

const record = (more: Partial<ClusterRecord> = {}): ClusterRecord => ({
  ...{
    name: "x",
    kubernetes: "1.37.1",
    owner: thisProcess(),
    pidNamespace: pidNamespace(),
    createdAt: "",
    nodes: "none",
    controllers: [],
  },
  ...more,
});

it("a cluster is abandoned when its owner has ended", async () => {
  expect(isAbandoned(record())).toBe(false);
  const child = spawn("sleep", ["60"]);
  await once(child, "spawn");
  const stranger = { pid: child.pid ?? 0, startTime: "1" };
  expect(isAbandoned(record({ owner: stranger }))).toBe(true); // the same number, another process
  child.kill();
  await once(child, "exit");
  expect(isAbandoned(record({ owner: stranger }))).toBe(true);
});

it("a cluster of another pid namespace is never abandoned, because its owner is not visible", () => {
  expect(isAbandoned(record({ owner: { pid: 1, startTime: "long gone" }, pidNamespace: "pid:[1]" }))).toBe(false);
});

it("a detached cluster is never abandoned", () => {
  expect(isAbandoned(record({ owner: "detached" }))).toBe(false);
});

it("a directory without a readable record is abandoned", async () => {
  const root = mkdtempSync(join(tmpdir(), "record-"));
  const directory = clusterDirectory("x", root);
  await createClusterDirectory(directory, record());
  expect(await readRecord(directory)).toEqual(record());
  await writeRecord(directory, record({ server: "https://127.0.0.1:1" }));
  expect((await readRecord(directory))?.server).toBe("https://127.0.0.1:1");
  writeFileSync(directory.record, '{"name": "x"');
  expect(isAbandoned(await readRecord(directory))).toBe(true);
  rmSync(root, { recursive: true });
});

const components = ["etcd", "kube-apiserver"];
it.each([
  { name: "running", record: record({ components }), running: components, abandoned: false, state: "running", missing: [] },
  {
    name: "starting: no list of components yet",
    record: record(),
    running: ["etcd"],
    abandoned: false,
    state: "starting",
    missing: [],
  },
  {
    name: "broken: something ended",
    record: record({ components }),
    running: ["etcd"],
    abandoned: false,
    state: "broken",
    missing: ["kube-apiserver"],
  },
  { name: "failed: never came up, logs kept", record: record(), running: [], abandoned: false, state: "failed", missing: [] },
  {
    name: "abandoned: the owner is gone",
    record: record({ components }),
    running: components,
    abandoned: true,
    state: "abandoned",
    missing: [],
  },
])("a cluster is $name", ({ running, abandoned, state, missing, ...given }) => {
  expect(stateOf(given.record, new Set(running), abandoned)).toEqual({ state, missing });
});
