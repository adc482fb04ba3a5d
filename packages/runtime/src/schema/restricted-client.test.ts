import { describe, expect, expectTypeOf, it } from "vitest";
import { ConfigMap, Secret, Service } from "../objects/kinds/core.ts";
import { Pod } from "../objects/kinds/pod.ts";
import type { ObjectOf, Stored } from "../objects/object.ts";
import { clientAnswering } from "../testing/loopback.ts";
import { AccessNotDeclaredError } from "./errors.ts";
import { allow, inferPermissions } from "./permissions.ts";
import { restrict } from "./restricted-client.ts";
import { Gordon } from "./sample-operators.fixture.ts";

const ref = { namespace: "default", name: "a" };
const service = { metadata: { ...ref, resourceVersion: "1" }, spec: {} };
const merge = { type: "merge", body: {} } as const;

function narrowed() {
  const { client, journal } = clientAnswering(() => ({ body: JSON.stringify({ metadata: {}, items: [] }) }));
  const grants = [
    allow(Pod, "get", "list"),
    allow(Pod, "patch", { subresource: "resize" }),
    allow(ConfigMap, "get", { names: ["a"] }),
    allow(Service, "list", "watch", "create", "update", "delete"),
    ...inferPermissions({ for: Gordon }),
  ] as const;
  return { client: restrict(client, grants), journal };
}

describe("a client restricted to its grants", () => {
  it("makes declared calls", async () => {
    const { client, journal } = narrowed();
    await client.get(Pod, ref);
    await client.patch(Pod, ref, merge, { subresource: "resize" });
    await client.get(ConfigMap, ref);
    await client.apply(Gordon, { metadata: ref, status: { replicas: 1 } }, { fieldManager: "test", subresource: "status" });
    await client.list(Service);
    for await (const _none of client.listAll(Service)) expect.unreachable();
    await client.create(Service, service);
    await client.update(Service, service);
    await client.delete(Service, ref);
    expect(client.watch(Service)).toBeDefined();
    expect(journal.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /api/v1/namespaces/default/pods/a",
      "PATCH /api/v1/namespaces/default/pods/a/resize",
      "GET /api/v1/namespaces/default/configmaps/a",
      "PATCH /apis/operator.prgcont.cz/v1/namespaces/default/gordons/a/status",
      "GET /api/v1/services",
      "GET /api/v1/services",
      "POST /api/v1/namespaces/default/services",
      "PUT /api/v1/namespaces/default/services/a",
      "DELETE /api/v1/namespaces/default/services/a",
    ]);
  });

  it("returns the types of the kind", async () => {
    const { client } = narrowed();
    expectTypeOf(await client.get(Pod, ref)).toEqualTypeOf<Stored<Pod>>();
    expectTypeOf((await client.list(Gordon)).items).toEqualTypeOf<Stored<ObjectOf<typeof Gordon>>[]>();
    expectTypeOf(await client.find(Pod, ref)).toEqualTypeOf<Stored<Pod> | undefined>();
  });

  it("rejects undeclared calls at compile time and at run time, and sends nothing", async () => {
    const { client, journal } = narrowed();
    const attempts: readonly (() => unknown)[] = [
      // @ts-expect-error no permission on Secrets
      () => client.get(Secret, ref),
      // @ts-expect-error no permission on Secrets
      () => client.list(Secret),
      // @ts-expect-error no permission on Secrets
      () => client.listAll(Secret),
      // @ts-expect-error no permission to create Secrets
      () => client.create(Secret, { metadata: ref }),
      // @ts-expect-error no permission to update Secrets
      () => client.update(Secret, { metadata: { ...ref, resourceVersion: "1" } }),
      // @ts-expect-error no permission to delete Pods
      () => client.delete(Pod, ref),
      // @ts-expect-error resize may be patched, the pod itself may not
      () => client.patch(Pod, ref, merge),
      // @ts-expect-error status is another subresource
      () => client.patch(Pod, ref, merge, { subresource: "status" }),
      // @ts-expect-error a Gordon's status may be applied, a Gordon may not
      () => client.apply(Gordon, { metadata: ref }, { fieldManager: "test" }),
      // @ts-expect-error list and watch do not imply get
      () => client.get(Gordon, ref),
      // @ts-expect-error nor find
      () => client.find(Gordon, ref),
      // @ts-expect-error watching is not listing
      () => client.watch(Pod),
      // @ts-expect-error raw requests are not available
      () => client.request({ path: "/api/v1/secrets" }),
    ];
    for (const attempt of attempts.slice(0, -1)) await expect((async () => attempt())()).rejects.toThrow(AccessNotDeclaredError);
    expect(attempts.at(-1)).toThrow(TypeError);
    expect(journal.calls).toEqual([]);
  });

  it("names the line to add", async () => {
    const { client } = narrowed();
    // @ts-expect-error not declared
    await expect(client.patch(Pod, ref, merge, { subresource: "status" })).rejects.toThrow(
      'patch pods/status: expected a declared permission, found none → add allow(Pod, "patch", { subresource: "status" })',
    );
  });

  it("restricts a permission with names to those names", async () => {
    const { client } = narrowed();
    await expect(client.get(ConfigMap, { ...ref, name: "b" })).rejects.toThrow("found none for the name b");
  });
});
