// C1, C2, L1: plans on an API server. Operators that are killed at every write, and two at the same time, do the work of a plan once.
import { testCluster } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import { ConfigMap } from "../objects/kinds/core.ts";
import { installCrds } from "../schema/install.ts";
import { clientOf, quick } from "../testing/cluster-world.ts";
import { eventually } from "../testing/eventually.ts";
import { killAtEveryWrite, moments, startOperator } from "../testing/start-operator.ts";
import { Vault, vaults } from "./vault.fixture.ts";

async function stage() {
  const closing = new AsyncDisposableStack();
  const cluster = closing.use(await testCluster());
  const client = closing.use(await clientOf(cluster));
  await installCrds(client, [Vault], { clock: quick.environment.clock });
  const namespace = cluster.defaultNamespace;
  const ref = { namespace, name: "gold" };
  const put = (version: string, annotations = {}) =>
    client.apply(
      Vault,
      { metadata: { ...ref, annotations }, spec: { version, work: [] } },
      { fieldManager: "test", force: true },
    );
  const start = async () =>
    closing.use(
      await startOperator({ name: "vaults", controllers: [vaults], kubeconfig: cluster.kubeconfig, namespaces: [namespace] }),
    );
  const get = () => client.find(Vault, ref);
  /** Waits until nothing is running, the last run of the plan has this number, and the reconcile function has reported it. */
  const idle = (name: string, number: number) =>
    eventually(
      get,
      (vault) => {
        const { active, runs = [] } = vault?.status?.plans ?? {};
        const run = runs.find((other) => other.name === name);
        const reported = vault?.status?.conditions?.[0]?.reason === "Idle" && vault.status.version === vault.spec.version;
        return active === undefined && run?.number === number && run.state === "Succeeded" && reported;
      },
      { timeoutMs: 80_000 },
    );
  const gone = () => eventually(get, (vault) => vault === undefined, { timeoutMs: 80_000 });
  return { client, namespace, ref, put, start, get, idle, gone, [Symbol.asyncDispose]: () => closing.disposeAsync() };
}

type Stage = Awaited<ReturnType<typeof stage>>;

/** The steps whose objects were made, in that order, as a watch tells it: an object that is made twice appears twice. */
function history(on: Stage) {
  const ending = new AbortController();
  const made: string[] = [];
  const watching = (async () => {
    const options = { namespace: on.namespace, sendInitialEvents: true, signal: ending.signal };
    for await (const event of on.client.watch(ConfigMap, options)) {
      const name = event.type === "ADDED" ? event.object.metadata.name : "";
      if (name.startsWith("gold-")) made.push(name.split("-")[1] ?? "");
    }
  })().catch(() => {});
  const close = async () => {
    ending.abort();
    await watching;
  };
  return { made, [Symbol.asyncDispose]: close };
}

const everything = ["format", "seed", "dump", "convert", "copy", "verify", "switch", "snapshot", "archive", "shred"];

/** The whole life of an object; `during` runs operators until the promise resolves. */
async function live(on: Stage, during: (settled: Promise<unknown>) => Promise<unknown>): Promise<readonly string[]> {
  await using seen = history(on);
  await on.put("15");
  await during(on.idle("init", 1));
  await on.put("17");
  await during(on.idle("upgrade", 1));
  await on.put("17", { "plans-test.example.com/backup": "monday" });
  await during(on.idle("backup", 1));
  const status = (await on.get())?.status;
  expect([status?.version, status?.plans?.runs?.map(({ number }) => number)]).toEqual(["17", [1, 1, 1, 0]]);
  await on.client.delete(Vault, on.ref);
  await during(on.gone());
  await eventually(
    () => seen.made.length,
    (count) => count >= everything.length,
  );
  return [...seen.made];
}

describe("C1, C2: an operator that is killed at each write", () => {
  it.each(moments)("does every step of every plan once: %s", { timeout: 400_000 }, async (when) => {
    await using on = await stage();
    let deaths = 0;
    const made = await live(on, async (settled) => {
      deaths += await killAtEveryWrite({ when, start: on.start, settled });
    });
    expect(made.toSorted()).toEqual(everything.toSorted());
    expect(made.indexOf("dump")).toBeLessThan(made.indexOf("convert"));
    expect(made.indexOf("switch")).toBeGreaterThan(made.indexOf("verify"));
    expect(deaths).toBeGreaterThan(20);
  });
});

// Either guard is enough here: both operators derive the same id for a run, and one of two first writes gets a conflict. The test fails
// without both. executor.test.ts shows the compare-and-swap alone.
describe("L1: two operators at the same time", () => {
  it("make the objects of every run once", { timeout: 200_000 }, async () => {
    await using on = await stage();
    await on.start();
    await on.start();
    const made = await live(on, (settled) => settled);
    expect(made.toSorted()).toEqual(everything.toSorted());
  });
});
