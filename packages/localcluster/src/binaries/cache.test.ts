// Several processes that want the same binary, and processes that die while they make it: real ones, killed for real.
import { type ChildProcessByStdio, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { silent } from "../progress.ts";
import { findBinaries } from "./binaries.ts";
import { program, publish, type ReleaseSite, releaseSite } from "./fixtures/release-site.ts";

vi.setConfig({ testTimeout: 30_000 }); // several Nodes start in each test

it("provides a binary once for two processes, and the second reports that it waits", async () => {
  await using site = await releaseSite();
  const gate = holdBack(site);
  await using first = findInProcess(site);
  const response = await gate.asked;
  await using second = findInProcess(site);
  expect(await second.tells("doing")).toBe("waiting for another process to provide kubectl 1.37.1");
  expect(await second.tells("detail")).toBe(`process ${first.pid}`);
  response.end(program("kubectl"));
  const path = await first.tells("found");
  expect(await second.tells("found")).toBe(path);
  expect(site.asked.filter((asked) => asked === gate.path)).toHaveLength(1);
});

it("provides a binary once for two callers in one process", async () => {
  await using site = await releaseSite();
  const path = publish(site, "kubectl");
  const search = () => findBinaries(["kubectl"], { env: site.env, progress: silent });
  const [one, other] = await Promise.all([search(), search()]);
  expect(one).toEqual(other);
  expect(site.asked.filter((asked) => asked === path)).toHaveLength(1);
});

it("takes over at once from a killed process, and removes its files", async () => {
  await using site = await releaseSite();
  const gate = holdBack(site);
  await using first = findInProcess(site);
  (await gate.asked).write(program("kubectl").slice(0, 5));
  await first.tells("detail"); // some bytes have arrived
  await using second = findInProcess(site);
  await second.tells("detail"); // it waits for the first
  publish(site, "kubectl");
  first.kill();
  const path = await second.tells("found");
  expect(readFileSync(path, "utf8")).toBe(program("kubectl"));
  await second.end();
  expect(readdirSync(join(site.cache, "tmp"))).toEqual([]);
});

it("never uses partial files of a killed process, and removes them later", async () => {
  await using site = await releaseSite();
  const gate = holdBack(site);
  await using first = findInProcess(site);
  (await gate.asked).write(program("kubectl").slice(0, 5));
  await first.tells("detail");
  first.kill();
  await first.end();
  expect(globSync("tmp/*/*/kubectl", { cwd: site.cache })).toHaveLength(1);
  expect(existsSync(join(site.cache, "kubernetes"))).toBe(false);
  publish(site, "kubelet");
  const { kubelet } = await findBinaries(["kubelet"], { env: site.env, progress: silent });
  expect(execFileSync(kubelet).toString()).toBe("kubelet\n");
  expect(readdirSync(join(site.cache, "tmp"))).toEqual([]);
});

it("stops waiting when it is aborted", async () => {
  await using site = await releaseSite();
  const gate = holdBack(site);
  await using _first = findInProcess(site);
  await gate.asked;
  const stop = new AbortController();
  const progress = {
    ...silent,
    during: (_: string, work: (detail: () => void) => Promise<never>) => work(() => stop.abort(new Error("enough"))),
  };
  await expect(findBinaries(["kubectl"], { env: site.env, progress, signal: stop.signal })).rejects.toThrow("enough");
});

/** Publishes kubectl on a site that does not send it until the test does. */
function holdBack(site: ReleaseSite): { readonly path: string; readonly asked: Promise<ServerResponse> } {
  const path = publish(site, "kubectl");
  return { path, asked: new Promise((done) => site.answer(path, done)) };
}

type Child = ChildProcessByStdio<null, Readable, null>;

interface FindProcess extends AsyncDisposable {
  readonly pid: number | undefined;
  /** The next thing of this kind that it says. */
  tells(kind: "doing" | "detail" | "found"): Promise<string>;
  kill(): void;
  end(): Promise<void>;
}

/** A process that looks for kubectl. */
function findInProcess(site: ReleaseSite): FindProcess {
  const script = fileURLToPath(new URL("./fixtures/find-binary.ts", import.meta.url));
  const child: Child = spawn(process.execPath, [script, "kubectl"], { env: site.env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const end = async () => {
    await ended;
  };
  return {
    pid: child.pid,
    async tells(kind) {
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`find-binary.ts exited without reporting ${kind}`);
        const news = JSON.parse(value);
        if (kind in news) return news[kind];
      }
    },
    kill: () => child.kill("SIGKILL"),
    end,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await end();
    },
  };
}
