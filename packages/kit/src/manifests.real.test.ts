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
  operator,
  systemEnvironment,
  validate,
} from "@memhog/runtime";
import { silentLogger } from "@memhog/runtime/concurrency";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "@memhog/runtime/kinds";
import { eventually } from "@memhog/runtime/testing";
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
    // Not startOperator, whose home is "default": the operator keeps its certificates and its Lease in its own namespace.
    const ending = new AbortController();
    const running = operator({
      ...{ name: program.name, controllers: program.controllers ?? [], webhooks: program.webhooks ?? [], leaderElection: true },
      kubeconfig: await cluster.kubeconfigFor({ serviceAccount: program.name }),
      namespaces: namespaces === "own" ? [namespace] : "all",
      webhookServer: { host: "127.0.0.1", port: 0 },
      ...{ metricsBindAddress: "0", healthProbeBindAddress: "0", drainMs: 0, log: silentLogger },
      process: { onStop: () => () => {}, onUnhandledRejection: () => () => {}, exit: () => {} },
    }).run(ending.signal);
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
    ending.abort();
    await running;
    await client.close();
  },
);
