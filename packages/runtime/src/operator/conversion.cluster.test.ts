// An operator whose kind has two versions. Objects of the first version exist when it starts, so its caches cannot list the kind
// before its own conversion webhook is served.
import { type Cluster, testCluster } from "@memhog/simulator/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { silentLogger } from "../concurrency/environment.ts";
import { child } from "../controller/children.ts";
import { controller } from "../controller/controller.ts";
import { done } from "../controller/outcome.ts";
import { ConfigMap, Secret } from "../objects/kinds/core.ts";
import { CustomResourceDefinition } from "../objects/kinds/extension.ts";
import type { ObjectOf } from "../objects/object.ts";
import { crdOf } from "../schema/custom-resource-definition.ts";
import { defineResource } from "../schema/define-resource.ts";
import { clientOf } from "../testing/cluster-world.ts";
import { freePort } from "../testing/loopback.ts";
import { convert } from "../webhook/conversion.ts";
import { operator } from "./operator.ts";

const names = { group: "evolves.memhog.test", kind: "Evolving" } as const;
const Old = defineResource({ ...names, version: "v1alpha1", spec: z.object({ size: z.int() }) });
const Evolving = defineResource({
  ...{ ...names, version: "v1", additionalVersions: [Old] },
  spec: z.object({ replicas: z.int() }),
  status: z.object({ wanted: z.int() }), // of which the old version says nothing
});

const conversion = convert(Evolving, {
  v1alpha1: { v1: (old: ObjectOf<typeof Old>) => ({ ...old, spec: { replicas: old.spec.size } }) },
  v1: { v1alpha1: (now: ObjectOf<typeof Evolving>) => ({ ...now, spec: { size: now.spec.replicas } }) },
});

/** Copies the replicas of each object to a ConfigMap. */
const evolvings = controller(Evolving, { owns: [ConfigMap] }, async (ref, ctx) => {
  const evolving = ctx.get(Evolving, ref);
  if (evolving === undefined) return done();
  const data = { replicas: `${evolving.spec.replicas}` };
  await ctx.applyChildren(evolving, [child(ConfigMap, { metadata: { name: `${ref.name}-wants` }, data })]);
  await ctx.setStatus(evolving, { wanted: evolving.spec.replicas });
  return done();
});

async function run(cluster: Cluster, name: string) {
  const port = await freePort();
  const stop = new AbortController();
  const program = operator({
    ...{ name, controllers: [evolvings], installCrds: [Evolving], webhooks: [conversion] },
    ...{ kubeconfig: cluster.kubeconfig, namespaces: [cluster.defaultNamespace], log: silentLogger },
    ...{ metricsBindAddress: "0", healthProbeBindAddress: "0" },
    webhookServer: { host: "127.0.0.1", port, address: { url: `https://127.0.0.1:${port}` } },
  });
  const running = program.run(stop.signal);
  const end = async () => {
    stop.abort();
    await running;
  };
  return { program, [Symbol.asyncDispose]: end };
}

it("starts with objects of the old version, reads them in the new one, and loses no field in either", async () => {
  await using cluster = await testCluster();
  await using client = await clientOf(cluster);
  const namespace = cluster.defaultNamespace;
  const name = `evolving-${namespace}`;
  await cluster.apply(crdOf(Old));
  const create = () => client.create(Old, { metadata: { namespace, name: "a" }, spec: { size: 3 } }).catch(() => undefined);
  await cluster.eventually(create, (made) => made !== undefined); // served a moment after it is established
  const wanted = async (of: string) => (await client.find(ConfigMap, { namespace, name: `${of}-wants` }))?.data?.replicas;

  for (const start of ["the first", "another, when the CRD is there"]) {
    await using on = await run(cluster, name);
    await on.program.ready;
    await cluster.eventually(
      () => wanted("a"),
      (replicas) => replicas === "3",
    );
    if (start === "the first") continue;
    await client.create(Evolving, { metadata: { namespace, name: "b" }, spec: { replicas: 5 } });
    expect((await client.get(Old, { namespace, name: "b" })).spec).toEqual({ size: 5 });
    await client.create(Old, { metadata: { namespace, name: "c" }, spec: { size: 7 } });
    await cluster.eventually(
      () => wanted("c"),
      (replicas) => replicas === "7",
    );
    // The API server converts in both directions to track field ownership: the status must survive in the old version, too.
    const spec = { size: 8 };
    await client.apply(Old, { metadata: { namespace, name: "c" }, spec }, { fieldManager: "kubectl", force: true });
    await cluster.eventually(
      () => client.find(Evolving, { namespace, name: "c" }),
      (evolving) => evolving?.status?.wanted === 8,
    );
    // While the webhook is served: deleting objects requires reading them.
    const crd = { name: `${Evolving.plural}.${Evolving.group}` };
    await client.delete(CustomResourceDefinition, crd);
    await cluster.eventually(
      () => client.find(CustomResourceDefinition, crd),
      (found) => found === undefined,
    );
  }
  await client.delete(Secret, { namespace: "default", name: `${name}-webhook-certificates` });
});
