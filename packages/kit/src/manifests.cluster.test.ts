// The generated manifests, installed exactly as they are. The operator itself does not run here: that is when a webhook
// configuration does damage.
import { allowed, type Client, controller, done, type KubernetesObject, type OperatorProgram, validate } from "@memhog/runtime";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "@memhog/runtime/kinds";
import { type Cluster, testCluster } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import { Gordon } from "./kinds.fixture.ts";
import { operatorManifests } from "./manifests.ts";

/** A program with a name of its own, because configurations have no namespace. */
function programFor(namespace: string): OperatorProgram {
  const gordons = controller(Gordon, {}, async () => done());
  return {
    ...{ name: `kit-${namespace}`.slice(0, 52), resources: [Gordon], controllers: [gordons] },
    webhooks: [validate(Gordon, () => allowed())],
  };
}

/** The objects of a variant with webhooks, without those for kustomize. */
function objectsOf(program: OperatorProgram, namespace: string, variant: string): readonly KubernetesObject[] {
  const variants = { operator: { namespaces: "own", webhooks: true }, "cluster-wide": { webhooks: true } } as const;
  const files = operatorManifests({ program, image: "none:dev", namespace, samples: {}, variants });
  const paths = Object.keys(files).filter((path) => path.startsWith("crd/") || path.startsWith(`${variant}/`));
  const objects = paths.flatMap((path) => (files[path] ?? []) as readonly KubernetesObject[]);
  return objects.filter(({ kind }) => kind !== "Kustomization");
}

async function installed(cluster: Cluster, variant: string) {
  const client = await cluster.client();
  const program = programFor(cluster.defaultNamespace);
  await cluster.apply(...objectsOf(program, cluster.defaultNamespace, variant));
  const remove = () => removeConfigurations(client, program.name);
  return { client, [Symbol.asyncDispose]: remove };
}

async function removeConfigurations(client: Client, name: string): Promise<void> {
  for (const kind of [ValidatingWebhookConfiguration, MutatingWebhookConfiguration])
    await client.delete(kind, { name }, { ignoreNotFound: true });
}

describe("an operator with webhooks that is down", () => {
  it("blocks no other namespace if it watches its own", async () => {
    await using cluster = await testCluster();
    const elsewhere = await cluster.namespace();
    await using at = await installed(cluster, "operator");
    const attempt = (namespace: string) =>
      at.client.create(Gordon, { metadata: { namespace, generateName: "g-" }, spec: { replicas: 1 } }, { dryRun: true }).then(
        () => "created",
        () => "rejected",
      );
    await cluster.eventually(
      () => attempt(cluster.defaultNamespace),
      (result) => result === "rejected", // the API server watches configurations
    );
    expect(await attempt(elsewhere)).toBe("created");
  });

  it("rejects writes of its kind everywhere if it watches all namespaces", async () => {
    await using cluster = await testCluster();
    const elsewhere = await cluster.namespace();
    await using at = await installed(cluster, "cluster-wide");
    const gordon = { metadata: { namespace: elsewhere, name: "g" }, spec: { replicas: 1 } };
    const attempt = () => at.client.create(Gordon, gordon, { dryRun: true }).then(String, (error: unknown) => String(error));
    await cluster.eventually(attempt, (result) => result.includes("failed calling webhook"));
  });
});
