// The permissions in the generated manifests. Real Kubernetes, because in the simulator everyone is admin.

import { testCluster } from "@memhog/localcluster/testing";
import {
  allowed,
  controller,
  createClient,
  done,
  type KubernetesObject,
  loadConfig,
  mutate,
  type OperatorProgram,
  systemEnvironment,
  validate,
} from "@memhog/runtime";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "@memhog/runtime/kinds";
import { eventually, startOperator } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { Gordon } from "./kinds.fixture.ts";
import { operatorManifests } from "./manifests.ts";

it.each([
  { variant: "operator", namespaces: "own" },
  { variant: "cluster-wide", namespaces: "all" },
] as const)(
  "S1: the manifests of the variant $variant allow it to serve its webhooks (real RBAC)",
  async ({ variant, namespaces }) => {
    await using cluster = await testCluster();
    const namespace = cluster.defaultNamespace;
    const program: OperatorProgram = {
      ...{ name: `kit-${namespace}`, resources: [Gordon], controllers: [controller(Gordon, {}, async () => done())] },
      webhooks: [validate(Gordon, () => allowed()), mutate(Gordon, (gordon) => gordon)],
    };
    const variants = { [variant]: { namespaces, webhooks: true } };
    const files = operatorManifests({ program, image: "none:dev", namespace, samples: {}, variants });
    const paths = Object.keys(files).filter((path) => path.startsWith("crd/") || path.startsWith(`${variant}/`));
    const objects = paths.flatMap((path) => (files[path] ?? []) as readonly KubernetesObject[]);
    await cluster.apply(...objects.filter(({ kind }) => kind !== "Kustomization"));
    const config = await loadConfig({ kubeconfig: cluster.kubeconfig });
    const client = createClient({ config, environment: systemEnvironment() });
    await using _operator = await startOperator({
      ...program,
      controllers: program.controllers ?? [],
      kubeconfig: await cluster.kubeconfigFor({ serviceAccount: program.name }),
      namespaces: namespaces === "own" ? [namespace] : "all",
      webhookServer: { host: "127.0.0.1", port: 0 },
      leaderElection: { lease: { namespace, name: program.name } },
    });
    const bundles = async () => {
      const found = [
        await client.get(ValidatingWebhookConfiguration, { name: program.name }),
        await client.get(MutatingWebhookConfiguration, { name: program.name }),
      ];
      return found.flatMap(({ webhooks = [] }) => webhooks.map(({ clientConfig }) => clientConfig.caBundle ?? ""));
    };
    const placed = await eventually(bundles, (all) => all.every((bundle) => bundle !== ""));
    expect(placed.length).toBe(2);
    for (const kind of [ValidatingWebhookConfiguration, MutatingWebhookConfiguration])
      await client.delete(kind, { name: program.name });
    await client.close();
  },
);
