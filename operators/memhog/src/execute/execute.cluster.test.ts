import { Pod, type Stored } from "@memhog/runtime";
import { TransportError } from "@memhog/runtime/client";
import { describe, expect, it } from "vitest";
import { aPlan } from "../model/plan.fixture.ts";
import type { Command } from "../model/plan.ts";
import { execute } from "./execute.ts";
import { intentOn, memory, resourcesIn, stage } from "./stage.fixture.ts";

const resizeOf = (pod: Stored<Pod>): Command => ({
  do: "resize",
  intent: intentOn(pod),
  resourceVersion: pod.metadata.resourceVersion,
  step: "limits",
});

async function twoPods() {
  const at = await stage();
  const pods = [await at.make("first"), await at.make("second")];
  const app = { kind: "Deployment", namespace: at.namespace, name: "hungry" } as const;
  const sizes = async () => {
    const { items } = await at.client.list(Pod, { namespace: at.namespace });
    return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, resourcesIn(spec).main]));
  };
  return { ...at, app, sizes, plan: aPlan({ commands: pods.map(resizeOf) }) };
}
const [small, large] = [memory("256Mi", "384Mi"), memory("256Mi", "768Mi")];

describe("carrying out a plan", () => {
  it("does one command after the other; one that fails does not keep the next from being done", async () => {
    await using at = await twoPods();
    await at.annotate("first", "false");
    expect((await execute(at, at.app, at.plan)).map(({ outcome }) => outcome)).toEqual(["stopped", "done"]);
    expect(await at.sizes()).toEqual({ first: small, second: large });
  });

  it("tries nothing more where there was no answer, and gives the error back (C2, A2)", async () => {
    await using at = await twoPods();
    const lost = new TransportError("the connection was reset", { outcome: "unknown" });
    const client: typeof at.client = { ...at.client, patch: () => Promise.reject(lost) };
    expect(await execute({ client }, at.app, at.plan)).toMatchObject([{ outcome: "unknown", error: lost }]);
    expect(await at.sizes()).toEqual({ first: small, second: small });
  });

  it("stops before the next write when it is told to (E4)", async () => {
    await using at = await twoPods();
    const paused = ["AppMonitor johnny-cache is paused", undefined];
    const outcomes = await execute(at, at.app, at.plan, { halted: () => paused.pop() });
    expect(outcomes).toMatchObject([{ outcome: "done" }, { outcome: "stopped", message: "AppMonitor johnny-cache is paused" }]);
    expect(await at.sizes()).toEqual({ first: large, second: small });
  });

  it("ends with the reconcile: what was not sent is nobody's outcome (L2)", async () => {
    await using at = await twoPods();
    const over = new AbortController();
    over.abort();
    const client: typeof at.client = { ...at.client, patch: () => Promise.reject(over.signal.reason) };
    await expect(execute({ client }, at.app, at.plan)).rejects.toBe(over.signal.reason);
  });
});
