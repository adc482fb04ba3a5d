import { ConflictError, LimitRange, Node, Pod, ResourceQuota, type Stored } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import type { Command } from "../model/plan.ts";
import type { Intent } from "../model/record.ts";
import { doubled, intentOn, memory, resourcesIn, stage } from "./stage.fixture.ts";

type Step = Extract<Command, { readonly do: "resize" }>["step"];
const resizeOf = (pod: Stored<Pod>, step: Step, different: Partial<Intent> = {}): Command => ({
  do: "resize",
  intent: intentOn(pod, different),
  resourceVersion: pod.metadata.resourceVersion,
  step,
});

/** With the error that makes the loop look again at once. */
const again = { ended: "changed", error: expect.any(ConflictError) };

describe("a resize in place", () => {
  it("raises the limits first and the requests in a second step, and may be repeated (C2)", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    expect(await at.act(resizeOf(pod, "limits"))).toMatchObject({ ended: "done" });
    const raised = await at.client.get(Pod, { namespace: at.namespace, name: "hungry" });
    expect(resourcesIn(raised.spec)).toEqual({ main: memory("256Mi", "768Mi") });

    // The answer of the first was lost: the same command again, about a version that is old by now.
    expect(await at.act(resizeOf(pod, "limits"))).toMatchObject({ ended: "done" });
    expect((await at.get("hungry"))?.metadata.resourceVersion).toBe(raised.metadata.resourceVersion);

    expect(await at.act(resizeOf(raised, "requests"))).toMatchObject({ ended: "done" });
    expect(resourcesIn((await at.get("hungry"))?.spec)).toEqual({ main: memory("512Mi", "768Mi") });
  });

  it("raises both at once where they must stay equal, sidecars too, and CPU not at all", async () => {
    await using at = await stage();
    const equal = (size: string) => ({ requests: { cpu: "1", memory: size }, limits: { cpu: "1", memory: size } });
    const pod = await at.make("hungry", {
      spec: {
        containers: [{ name: "main", image: "example.com/none", resources: equal("384Mi") }],
        initContainers: [{ name: "proxy", image: "example.com/none", restartPolicy: "Always", resources: equal("64Mi") }],
      },
    });
    const to = (container: string, size: number) => ({ ...doubled(container), to: { limit: mib(size), request: mib(size) } });
    const outcome = await at.act(resizeOf(pod, "both", { changes: [to("main", 768), to("proxy", 128)] }));
    expect(outcome).toMatchObject({ ended: "done" });
    expect(resourcesIn((await at.get("hungry"))?.spec)).toEqual({ main: equal("768Mi"), proxy: equal("128Mi") });
  });

  it("takes back a request that the node has no room for, and never a limit", async () => {
    await using at = await stage();
    const pod = await at.make("hungry", {
      spec: { containers: [{ name: "main", image: "example.com/none", resources: memory("512Mi", "768Mi") }] },
    });
    const changes = [{ ...doubled("main"), to: { limit: mib(384), request: mib(256) } }];
    expect(await at.act(resizeOf(pod, "limits", { changes }))).toMatchObject({ detail: expect.stringContaining("already") });
    expect(await at.act(resizeOf(pod, "requests", { changes }))).toMatchObject({ ended: "done" });
    expect(resourcesIn((await at.get("hungry"))?.spec)).toEqual({ main: memory("256Mi", "768Mi") });
  });

  it("never lowers what somebody else has raised further", async () => {
    await using at = await stage();
    const pod = await at.make("hungry", {
      spec: { containers: [{ name: "main", image: "example.com/none", resources: memory("256Mi", "2Gi") }] },
    });
    expect(await at.act(resizeOf(pod, "both"))).toMatchObject({ ended: "done" });
    expect(resourcesIn((await at.get("hungry"))?.spec)).toEqual({ main: memory("512Mi", "2Gi") });
  });

  it("of a pod that changed since the decision is not done (W1)", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    await at.client.patch(
      Pod,
      { namespace: at.namespace, name: "hungry" },
      { type: "merge", body: { metadata: { labels: { a: "b" } } } },
    );
    expect(await at.act(resizeOf(pod, "limits"))).toMatchObject(again);
    expect(resourcesIn((await at.get("hungry"))?.spec)).toEqual({ main: memory("256Mi", "384Mi") });
  });

  it("of a pod that changes between the last look and the write is refused by the server (W1)", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    const late: typeof at.client = {
      ...at.client,
      patch: async (...call) => {
        await at.say("hungry", { phase: "Running" });
        return at.client.patch(...call);
      },
    };
    expect(await at.act(resizeOf(pod, "limits"), { as: late })).toMatchObject(again);
    expect(resourcesIn((await at.get("hungry"))?.spec)).toEqual({ main: memory("256Mi", "384Mi") });
  });

  it("of a namesake is not done (W4)", async () => {
    await using at = await stage();
    const first = await at.make("hungry");
    await at.client.delete(Pod, { namespace: at.namespace, name: "hungry" });
    const second = await at.cluster.eventually(
      () => at.make("hungry"),
      () => true,
    );
    expect(await at.act({ ...resizeOf(second, "limits"), intent: intentOn(first) } as Command)).toMatchObject({ ended: "gone" });
    expect(resourcesIn((await at.get("hungry"))?.spec)).toEqual({ main: memory("256Mi", "384Mi") });
  });

  it("is stopped by the annotation, even where the cache has not seen it yet (E4)", async () => {
    await using at = await stage();
    await at.make("hungry");
    const off = await at.annotate("hungry", "false");
    expect(await at.act(resizeOf(off, "limits"))).toMatchObject({ ended: "stopped" });
    expect(resourcesIn((await at.get("hungry"))?.spec)).toEqual({ main: memory("256Mi", "384Mi") });
  });

  it("beyond a LimitRange or a quota is refused, by name (D5)", async () => {
    await using at = await stage();
    const pod = await at.make("hungry");
    const { client, namespace } = at;
    await client.create(ResourceQuota, { metadata: { namespace, name: "team" }, spec: { hard: { "limits.memory": "500Mi" } } });
    await at.cluster.eventually(
      () => client.get(ResourceQuota, { namespace, name: "team" }),
      ({ status }) => status?.used?.["limits.memory"] === "384Mi",
    );
    const outcome = await at.act(resizeOf(pod, "limits"));
    expect(outcome).toMatchObject({ ended: "refused" });
    expect(outcome.detail).toContain("exceeded quota: team");
    await client.delete(ResourceQuota, { namespace, name: "team" });
    const max = { memory: "400Mi" };
    await client.create(LimitRange, { metadata: { namespace, name: "small" }, spec: { limits: [{ type: "Container", max }] } });
    const ranged = await at.cluster.eventually(
      () => at.act(resizeOf(pod, "limits")),
      ({ detail }) => detail.includes("maximum memory usage per Container is 400Mi"),
    );
    expect(ranged.ended).toBe("refused");
  });

  it("beyond the node is infeasible", async () => {
    await using at = await stage();
    const { client, namespace } = at;
    const name = `small-${namespace}`;
    const room = { cpu: "1", memory: "400Mi", pods: "10" };
    await client.create(Node, { metadata: { name } });
    await client.patch(
      Node,
      { name },
      { type: "merge", body: { status: { capacity: room, allocatable: room } } },
      { subresource: "status" },
    );
    const pod = await at.make("hungry", {
      spec: {
        nodeName: name,
        terminationGracePeriodSeconds: 0,
        containers: [{ name: "main", image: "example.com/none", resources: memory("256Mi", "384Mi") }],
      },
    });
    const outcome = await at.cluster.eventually(
      () => at.act(resizeOf(pod, "both")),
      ({ ended }) => ended !== "changed",
    );
    expect(outcome).toMatchObject({ ended: "infeasible" });
    expect(outcome.detail).toContain("node didn't have enough allocatable resources");
    await client.delete(Pod, { namespace, name: "hungry" }, { gracePeriodSeconds: 0 });
    await client.delete(Node, { name });
  });
});
