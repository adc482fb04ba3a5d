import { describe, expect, expectTypeOf, it } from "vitest";
import { ConfigMap, Node, type Secret } from "../objects/kinds/core.ts";
import { Pod } from "../objects/kinds/pod.ts";
import type { Deployment } from "../objects/kinds/workloads.ts";
import type { ObjectOf } from "../objects/object.ts";
import { GrantError } from "./errors.ts";
import { allow, type Granted, inferPermissions } from "./permissions.ts";
import { rulesFor } from "./rbac.ts";
import { Gordon } from "./sample-operators.fixture.ts";

type GordonObject = ObjectOf<typeof Gordon>;

describe("allow()", () => {
  it("is a value with the kind, the verbs and their limits", () => {
    expect(allow(Pod, "create", "delete")).toEqual({ kind: Pod, verbs: ["create", "delete"] });
    expect(allow(Pod, "patch", { subresource: "resize" })).toEqual({ kind: Pod, verbs: ["patch"], subresource: "resize" });
  });

  it("rejects a limit to names for verbs that name no object", () => {
    expect(() => allow(ConfigMap, "get", "create", { names: ["a"] })).toThrow(GrantError);
  });

  it("is known to the compiler by kind, verb and subresource", () => {
    const grants = [allow(Pod, "get", "list"), allow(Pod, "patch", { subresource: "resize" })] as const;
    type G = typeof grants;
    expectTypeOf<Granted<G, Pod, "get">>().toEqualTypeOf<true>();
    expectTypeOf<Granted<G, Pod, "patch">>().toEqualTypeOf<false>();
    expectTypeOf<Granted<G, Pod, "patch", "resize">>().toEqualTypeOf<true>();
    expectTypeOf<Granted<G, Pod, "get", "resize">>().toEqualTypeOf<false>();
    expectTypeOf<Granted<G, Deployment, "get">>().toEqualTypeOf<false>();
    expect(grants).toHaveLength(2);
  });

  it("does not confuse kinds with the same shape", () => {
    const grants = [allow(ConfigMap, "get")] as const;
    expectTypeOf<Granted<typeof grants, Secret, "get">>().toEqualTypeOf<false>();
    expect(grants).toHaveLength(1);
  });
});

describe("inferPermissions()", () => {
  const grants = inferPermissions({
    for: Gordon,
    owns: [Pod],
    watches: [Node],
    permissions: [allow(ConfigMap, "get")],
    events: true,
    lease: "gordon",
  });

  it("infers permissions from the definition of the controller", () => {
    expect(rulesFor(grants)).toEqual([
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] },
      { apiGroups: [""], resources: ["nodes"], verbs: ["list", "watch"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["create", "delete", "get", "list", "patch", "watch"] },
      { apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: ["gordon"], verbs: ["get", "update"] },
      { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
      { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
      { apiGroups: ["operator.prgcont.cz"], resources: ["gordons"], verbs: ["list", "watch"] },
      { apiGroups: ["operator.prgcont.cz"], resources: ["gordons/finalizers"], verbs: ["update"] },
      { apiGroups: ["operator.prgcont.cz"], resources: ["gordons/status"], verbs: ["patch"] },
    ]);
  });

  it("is known to the compiler", () => {
    type G = typeof grants;
    expectTypeOf<Granted<G, Pod, "delete">>().toEqualTypeOf<true>();
    expectTypeOf<Granted<G, Pod, "get">>().toEqualTypeOf<true>(); // looked for before it is made
    expectTypeOf<Granted<G, Node, "watch">>().toEqualTypeOf<true>();
    expectTypeOf<Granted<G, Node, "get">>().toEqualTypeOf<false>();
    expectTypeOf<Granted<G, GordonObject, "get">>().toEqualTypeOf<false>();
    expectTypeOf<Granted<G, Node, "patch">>().toEqualTypeOf<false>();
    expectTypeOf<Granted<G, GordonObject, "patch", "status">>().toEqualTypeOf<true>();
    expectTypeOf<Granted<G, GordonObject, "patch">>().toEqualTypeOf<false>();
    expectTypeOf<Granted<G, ConfigMap, "get">>().toEqualTypeOf<true>();
  });

  it("lets a controller with a finalizer patch its own objects, and no other", () => {
    const finalizing = inferPermissions({ for: Gordon, finalizer: true });
    expectTypeOf<Granted<typeof finalizing, GordonObject, "patch">>().toEqualTypeOf<true>();
    expect(rulesFor(finalizing)).toContainEqual({
      apiGroups: ["operator.prgcont.cz"],
      resources: ["gordons"],
      verbs: ["list", "patch", "watch"],
    });
  });

  it("does not include the status with writesStatus: false", () => {
    const silent = inferPermissions({ for: Gordon, writesStatus: false });
    expectTypeOf<Granted<typeof silent, GordonObject, "patch", "status">>().toEqualTypeOf<false>();
    expect(rulesFor(silent)).toEqual([{ apiGroups: ["operator.prgcont.cz"], resources: ["gordons"], verbs: ["list", "watch"] }]);
  });

  it("does not include finalizers if nothing is owned", () => {
    const childless = inferPermissions({ for: Gordon });
    expectTypeOf<Granted<typeof childless, GordonObject, "update", "finalizers">>().toEqualTypeOf<false>();
    expectTypeOf<Granted<typeof grants, GordonObject, "update", "finalizers">>().toEqualTypeOf<true>();
    expect(rulesFor(childless).flatMap(({ resources }) => resources)).not.toContain("gordons/finalizers");
  });
});
