import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigMap, createClient, dynamicKind, hasCondition, loadConfig, systemEnvironment } from "@memhog/runtime";
import { TransportError } from "@memhog/runtime/client";
import { CustomResourceDefinition, Namespace } from "@memhog/runtime/kinds";
import { eventually, manualEnvironment } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import type { Middleware } from "./server/core.ts";
import { home, mergePatch, pod, simulated } from "./server/testing.ts";
import { type Component, startSimulator } from "./simulator.ts";

const hello = { metadata: { namespace: "default", name: "hello" } };
const environment = systemEnvironment();

describe("a simulator", () => {
  it("has the namespaces of every cluster", async () => {
    await using simulator = await startSimulator({ environment: manualEnvironment() });
    const { items } = await simulator.client().list(Namespace);
    const names = items.map(({ metadata }) => metadata.name);
    expect(names).toEqual(["default", "kube-node-lease", "kube-public", "kube-system"]);
  });

  it("establishes CustomResourceDefinitions without any component", async () => {
    const environment = manualEnvironment();
    await using simulator = await startSimulator({ environment });
    const client = simulator.client();
    const names = { kind: "Widget", plural: "widgets" };
    const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" as const } } };
    const spec = { group: "example.com", scope: "Namespaced" as const, names, versions: [version] };
    await client.create(CustomResourceDefinition, { metadata: { name: "widgets.example.com" }, spec });
    const widget = dynamicKind({ ...names, group: "example.com", version: "v1", namespaced: true });
    await eventually(
      () => client.find(CustomResourceDefinition, { name: "widgets.example.com" }),
      (found) => hasCondition(found?.status?.conditions, "Established"),
      { clock: environment.clock },
    );
    await client.create(widget, hello);
  });

  it.each([false, true])("answers over HTTP as it answers in memory (TLS: %s)", async (tls) => {
    await using simulator = await startSimulator({ environment, http: { tls } });
    await using folder = await mkdtempDisposable(join(tmpdir(), "simulator-"));
    const file = join(folder.path, "kubeconfig");
    await writeFile(file, simulator.kubeconfig ?? "");
    const client = createClient({ config: await loadConfig({ kubeconfig: file }), environment });
    await client.create(ConfigMap, hello);
    expect(await client.get(ConfigMap, hello.metadata)).toEqual(await simulator.client().get(ConfigMap, hello.metadata));
    const seen: string[] = [];
    for await (const event of client.watch(ConfigMap, { namespace: "default" })) {
      if (event.type !== "BOOKMARK") seen.push(event.object.metadata.name);
      break; // leaving the loop closes the connection and the watch
    }
    expect(seen).toEqual(["hello"]);
    await client.close();
  });

  it("ends every watch when it stops, and then refuses connections", async () => {
    const simulator = await startSimulator({ environment: manualEnvironment() });
    const client = simulator.client();
    const watching = Array.fromAsync(client.watch(ConfigMap, { namespace: "default" }));
    await client.create(ConfigMap, hello);
    await simulator.stop();
    expect(await watching).toMatchObject([{ type: "BOOKMARK" }, { type: "ADDED" }]);
    await expect(simulator.transport.request({ method: "GET", path: "/version" })).rejects.toThrow(TransportError);
  });

  it("starts its components in order and stops them in reverse order", async () => {
    const said: string[] = [];
    const part = (name: string): Component => ({
      name,
      prepare: () => void said.push(`prepare ${name}`),
      start: () => {
        said.push(`start ${name}`);
        return () => void said.push(`stop ${name}`);
      },
    });
    const simulator = await startSimulator({ environment: manualEnvironment(), components: [part("a"), part("b")] });
    await simulator.stop();
    await simulator.stop();
    expect(said).toEqual(["prepare a", "prepare b", "start a", "start b", "stop b", "stop a"]);
  });

  it("stops the started components if another component fails to start", async () => {
    const said: string[] = [];
    const good: Component = { name: "good", start: () => () => void said.push("stopped") };
    const bad: Component = { name: "bad", start: () => Promise.reject(new Error("no")) };
    await expect(startSimulator({ environment: manualEnvironment(), components: [good, bad] })).rejects.toThrow("no");
    expect(said).toEqual(["stopped"]);
  });

  it("passes every request through its middleware, the first one outermost", async () => {
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
  /** All responses of the server to a short sequence of requests, as text. */
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

  it("produces byte-identical responses", async () => {
    const once = await story(7);
    expect(await story(7)).toBe(once);
    expect(await story(8)).not.toBe(once);
  });
});
