// The generated roles on a real API server: they allow exactly what was declared. The simulator
// does not enforce RBAC.
import { testCluster } from "@memhog/localcluster/testing";
import { expect, it } from "vitest";
import { loadConfig } from "../client/config/load.ts";
import { createClient } from "../client/create-client.ts";
import { ForbiddenError } from "../client/errors.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import { Event, Lease } from "../objects/kinds/access.ts";
import { ConfigMap, Node, Secret } from "../objects/kinds/core.ts";
import { Pod } from "../objects/kinds/pod.ts";
import type { Kind } from "../objects/object.ts";
import { installCrds } from "./install.ts";
import { withDefaults } from "./parse.ts";
import { allow, type Grant, inferPermissions, type Verb } from "./permissions.ts";
import { rolesFor } from "./rbac.ts";
import { restrict } from "./restricted-client.ts";
import { Wide } from "./wide.fixture.ts";

const verbs: readonly Verb[] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
const doors: readonly (readonly [Kind, string | undefined])[] = [
  ...[Wide, ConfigMap, Secret, Node, Pod, Lease, Event].map((kind) => [kind, undefined] as const),
  ...["status", "finalizers", "scale"].map((subresource) => [Wide, subresource] as const),
  [Pod, "resize"],
];

/** Connects as the service account that gets these rights in this namespace. */
async function operatorWith(grants: readonly Grant[]) {
  const cluster = await testCluster();
  const namespace = cluster.defaultNamespace;
  await cluster.apply(...rolesFor(grants, { name: "operator", namespace, namespaces: [namespace], clusterKinds: false }));
  const environment = systemEnvironment();
  const admin = createClient({ config: await loadConfig({ kubeconfig: cluster.kubeconfig }), environment });
  const kubeconfig = await cluster.kubeconfigFor({ serviceAccount: "operator" });
  const client = createClient({ config: await loadConfig({ kubeconfig }), environment, rateLimit: { qps: 1000, burst: 1000 } });
  return {
    client,
    admin,
    clock: environment.clock,
    namespace,
    async [Symbol.asyncDispose]() {
      await admin.close();
      await client.close();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

const grants = inferPermissions({
  for: Wide,
  owns: [ConfigMap],
  permissions: [allow(Pod, "patch", { subresource: "resize" }), allow(Pod, "get", { names: ["one"] })],
  events: true,
  lease: "leader",
});

it("a Role allows exactly what was declared (real RBAC)", async () => {
  await using operator = await operatorWith(grants);
  const mayI = async (kind: Kind, verb: Verb, subresource: string | undefined, name: string) => {
    const resourceAttributes = {
      group: kind.group,
      resource: kind.plural,
      namespace: operator.namespace,
      verb,
      subresource,
      name,
    };
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const text = await operator.client.request({ method: "POST", path, body: { spec: { resourceAttributes } } });
    return (JSON.parse(text) as { status: { allowed: boolean } }).status.allowed;
  };
  const declared = (kind: Kind, verb: Verb, subresource: string | undefined, name: string) =>
    grants.some(
      (grant: Grant) =>
        grant.kind === kind &&
        grant.subresource === subresource &&
        grant.verbs.includes(verb) &&
        (grant.names?.includes(name) ?? true),
    );
  const questions = doors.flatMap(([kind, subresource]) =>
    verbs.flatMap((verb) => ["one", "leader"].map((name) => ({ kind, verb, subresource, name }))),
  );
  const wrong = questions.map(async ({ kind, verb, subresource, name }) => {
    const expected = declared(kind, verb, subresource, name);
    const found = await mayI(kind, verb, subresource, name);
    return expected === found
      ? []
      : [`${verb} ${kind.plural}/${subresource ?? ""} ${name}: declared ${expected}, allowed ${found}`];
  });
  expect((await Promise.all(wrong)).flat()).toEqual([]);
});

it("the Role generated from grants allows every call of the restricted client, and rejects calls beyond it (real RBAC)", async () => {
  await using operator = await operatorWith(grants);
  const { client, admin, namespace } = operator;
  const restricted = restrict(client, grants);
  const metadata = { name: "a", namespace };
  await installCrds(admin, [Wide], { clock: operator.clock });
  await admin.create(Wide, withDefaults(Wide, { metadata, spec: {} }));
  const status = { replicas: 1, observedGeneration: 1 };
  const reported = await restricted.apply(Wide, { metadata, status }, { fieldManager: "operator", subresource: "status" });
  expect(reported.status).toEqual(status);
  await restricted.apply(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata, data: {} }, { fieldManager: "operator" });
  expect((await restricted.list(ConfigMap, { namespace })).items.map((item) => item.metadata.name)).toContain("a");
  await restricted.create(Lease, { metadata: { name: "leader", namespace } });
  expect((await restricted.get(Lease, { name: "leader", namespace })).metadata.name).toBe("leader");
  await expect(client.apply(Wide, { metadata, spec: { replicas: 2 } }, { fieldManager: "operator" })).rejects.toThrow(
    ForbiddenError,
  );
  await expect(client.list(Secret, { namespace })).rejects.toThrow(ForbiddenError);
  await expect(client.get(Lease, { name: "another", namespace })).rejects.toThrow(ForbiddenError);
});
