import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigMap, connect, Namespace, systemEnvironment, TransportError } from "@memhog/runtime";
import { manualEnvironment } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import type { Middleware } from "./server/handler.ts";
import { home, mergePatch, pod, simulated } from "./server/testing.ts";
import { type SimulatorPart, startSimulator } from "./simulator.ts";

const hello = { metadata: { namespace: "default", name: "hello" } };
const environment = systemEnvironment();

describe("a simulator", () => {
  it("has the namespaces that every cluster has", async () => {
    await using simulator = await startSimulator({ environment: manualEnvironment() });
    const { items } = await simulator.client().list(Namespace);
    const names = items.map(({ metadata }) => metadata.name);
    expect(names).toEqual(["default", "kube-node-lease", "kube-public", "kube-system"]);
  });

  it.each([false, true])("answers by HTTP what it answers in memory (TLS: %s)", async (tls) => {
    await using simulator = await startSimulator({ environment, http: { tls } });
    await using folder = await mkdtempDisposable(join(tmpdir(), "simulator-"));
    const file = join(folder.path, "kubeconfig");
    await writeFile(file, simulator.kubeconfig ?? "");
    const client = await connect({ environment, kubeconfig: file });
    await client.create(ConfigMap, hello);
    expect(await client.get(ConfigMap, hello.metadata)).toEqual(await simulator.client().get(ConfigMap, hello.metadata));
    const seen: string[] = [];
    for await (const event of client.watch(ConfigMap, { namespace: "default" })) {
      if (event.type !== "BOOKMARK") seen.push(event.object.metadata.name);
      break; // leaving closes the connection, and with it the watch
    }
    expect(seen).toEqual(["hello"]);
    await client.close();
  });

  it("stops with every watch, and is not there afterwards", async () => {
    const simulator = await startSimulator({ environment: manualEnvironment() });
    const client = simulator.client();
    const watching = Array.fromAsync(client.watch(ConfigMap, { namespace: "default" }));
    await client.create(ConfigMap, hello);
    await simulator.stop();
    expect(await watching).toMatchObject([{ type: "BOOKMARK" }, { type: "ADDED" }]);
    await expect(simulator.transport.request({ method: "GET", path: "/version" })).rejects.toThrow(TransportError);
  });

  it("starts its parts in order, and stops them the other way round", async () => {
    const said: string[] = [];
    const part = (name: string): SimulatorPart => ({
      name,
      prepare: () => void said.push(`prepare ${name}`),
      start: () => {
        said.push(`start ${name}`);
        return () => void said.push(`stop ${name}`);
      },
    });
    const simulator = await startSimulator({ environment: manualEnvironment(), parts: [part("a"), part("b")] });
    await simulator.stop();
    await simulator.stop();
    expect(said).toEqual(["prepare a", "prepare b", "start a", "start b", "stop b", "stop a"]);
  });

  it("stops what it has started if a part cannot start", async () => {
    const said: string[] = [];
    const good: SimulatorPart = { name: "good", start: () => () => void said.push("stopped") };
    const bad: SimulatorPart = { name: "bad", start: () => Promise.reject(new Error("no")) };
    await expect(startSimulator({ environment: manualEnvironment(), parts: [good, bad] })).rejects.toThrow("no");
    expect(said).toEqual(["stopped"]);
  });

  it("lets middleware see every request, the first one outermost", async () => {
    const said: string[] = [];
    const wrap =
      (name: string): Middleware =>
      (next) =>
      async (request) => {
        said.push(name);
        return next(request);
      };
    const { ask } = await simulated({ middleware: [wrap("outer"), wrap("inner")] });
    said.length = 0;
    await ask("GET", "/version");
    expect(said).toEqual(["outer", "inner"]);
  });
});

describe("the same seed", () => {
  /** Everything a small story makes the server say, as bytes. */
  async function story(seed: number): Promise<string> {
    const { ask, watch, clock, simulator } = await simulated({ seed });
    const { seen } = await watch(`${home}/pods?allowWatchBookmarks=true`);
    const answers = [
      await ask("POST", `${home}/pods`, { ...pod("p"), metadata: { generateName: "p-" } }),
      await ask("POST", `${home}/services`, { metadata: { name: "s" }, spec: { type: "NodePort", ports: [{ port: 80 }] } }),
      await ask("PATCH", `${home}/services/s`, { spec: { selector: { a: "b" } } }, mergePatch),
      await ask("DELETE", `${home}/services/s`),
      await ask("GET", "/api/v1/pods"),
    ];
    await clock.advance(3_600_000);
    await simulator.stop();
    return JSON.stringify([answers, seen]);
  }

  it("says the same, byte by byte", async () => {
    const once = await story(7);
    expect(await story(7)).toBe(once);
    expect(await story(8)).not.toBe(once);
  });
});
