// Webhooks as an API server calls them: its TLS, its JSON, its patches, its error messages.
import { type Cluster, testCluster } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import { ForbiddenError, InvalidError } from "../client/errors.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { CustomResourceDefinition } from "../objects/kinds/extension.ts";
import { dynamicKind } from "../objects/kinds/kind.ts";
import type { KubernetesObject } from "../objects/object.ts";
import { clientOf } from "../testing/cluster-world.ts";
import { allowed, denied } from "./admission.ts";
import { conversionThrough } from "./configuration.ts";
import { convert } from "./conversion.ts";
import { type Place, place, serving } from "./testing/place.ts";
import { mutate, validate } from "./webhooks.ts";

/** The API server watches configurations: until it has seen them, it allows writes or fails to connect. */
const once = <T>({ cluster }: Place<Cluster>, act: () => Promise<T>, holds: (value: T) => boolean) =>
  cluster.eventually(act, holds);

describe("a webhook called by an API server", () => {
  it("rejects a write with its own message", async () => {
    await using at = await place(await testCluster());
    const judge = validate(
      ConfigMap,
      ({ data }) => (data?.size === "small" ? denied("expected a large one, found small") : allowed()),
      at.here,
    );
    await using _served = await serving(at, [judge]);
    const attempt = () =>
      at.client.create(ConfigMap, at.configMap("a", { size: "small" }), { dryRun: true }).catch((error: unknown) => error);
    const error = await once(at, attempt, (value) => value instanceof ForbiddenError);
    expect(error).toMatchObject({
      status: 403,
      message: expect.stringContaining("denied the request: expected a large one, found small"),
    });
    await at.client.create(ConfigMap, at.configMap("b", { size: "large" }));
  });

  it("rejects like the API server's own validation, with field causes and warnings", async () => {
    await using at = await place(await testCluster());
    const causes = [{ field: "data.size", message: "must be large" }];
    const judge = validate(
      ConfigMap,
      ({ data }) => (data?.size === "small" ? denied("must be large", { causes }) : allowed("sizes will be required soon")),
      at.here,
    );
    await using _served = await serving(at, [judge]);
    const attempt = () =>
      at.client.create(ConfigMap, at.configMap("a", { size: "small" }), { dryRun: true }).catch((error: unknown) => error);
    const error = await once(at, attempt, (value) => value instanceof InvalidError);
    expect(error).toMatchObject({ status: 422, causes: [expect.objectContaining({ field: "data.size" })] });
    const warnings: string[] = [];
    await using listening = await clientOf(at.cluster, { observer: { warned: ({ text }) => warnings.push(text) } });
    await listening.create(ConfigMap, at.configMap("b", { size: "large" }), { dryRun: true });
    expect(warnings).toEqual(["sizes will be required soon"]);
  });

  it("mutates an object on create, and receives the object on delete", async () => {
    await using at = await place(await testCluster());
    const seen: string[] = [];
    const label = mutate(
      ConfigMap,
      (map) => ({ ...map, metadata: { ...map.metadata, labels: { ...map.metadata?.labels, "memhog.test/touched": "yes" } } }),
      at.here,
    );
    const keep = validate(
      ConfigMap,
      (map, _old, { operation }) => {
        seen.push(`${operation} ${map.metadata?.name}`);
        return denied("not this one");
      },
      { ...at.here, operations: ["DELETE"] },
    );
    await using _served = await serving(at, [label, keep]);
    const probe = () => at.client.create(ConfigMap, at.configMap("probe"), { dryRun: true });
    await once(at, probe, (map) => map.metadata.labels?.["memhog.test/touched"] === "yes");
    await at.client.create(ConfigMap, at.configMap("a"));
    const remove = () => at.client.delete(ConfigMap, { namespace: at.namespace, name: "a" }).catch((error: unknown) => error);
    await once(at, remove, (value) => value instanceof ForbiddenError);
    expect(seen).toContain("DELETE a");
  });

  it("converts between the versions of a CRD", async () => {
    await using at = await place(await testCluster());
    interface Sized extends KubernetesObject {
      readonly spec: { readonly size?: number; readonly replicas?: number };
    }
    const group = "convert.memhog.test";
    const kindOf = (version: string) => dynamicKind<Sized>({ group, version, kind: "Sized", plural: "sizeds", namespaced: true });
    const [Old, New] = [kindOf("v1alpha1"), kindOf("v1")];
    const conversion = convert(New, {
      v1alpha1: { v1: (old: Sized): Sized => ({ ...old, spec: { replicas: old.spec.size ?? 0 } }) },
      v1: { v1alpha1: (now: Sized): Sized => ({ ...now, spec: { size: now.spec.replicas ?? 0 } }) },
    });
    await using served = await serving(at, [conversion]);
    const schema = (field: string) => ({
      openAPIV3Schema: {
        type: "object" as const,
        properties: { spec: { type: "object" as const, properties: { [field]: { type: "integer" as const } } } },
      },
    });
    const crd: CustomResourceDefinition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `sizeds.${group}` },
      spec: {
        group,
        names: { kind: "Sized", plural: "sizeds" },
        scope: "Namespaced",
        conversion: conversionThrough({ url: served.url }),
        versions: [
          { name: "v1alpha1", served: true, storage: false, schema: schema("size") },
          { name: "v1", served: true, storage: true, schema: schema("replicas") },
        ],
      },
    };
    await at.cluster.apply(crd);
    const ref = { namespace: at.namespace, name: "a" };
    const make = () => at.client.create(Old, { metadata: ref, spec: { size: 3 } }).catch((error: unknown) => error as Error);
    await once(at, make, (made) => !(made instanceof Error));
    expect((await at.client.get(New, ref)).spec).toEqual({ replicas: 3 });
    expect((await at.client.get(Old, ref)).spec).toEqual({ size: 3 });
    await at.client.delete(CustomResourceDefinition, { name: `sizeds.${group}` });
  });
});
