import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Kind, KubernetesObject } from "../objects/object.ts";
import { defineResource } from "../schema/define-resource.ts";
import { preserveUnknown } from "../schema/fields.ts";
import { answerConversion, convert } from "./conversion.ts";

interface Sized extends KubernetesObject {
  readonly spec: { readonly size?: number; readonly replicas?: number; readonly count?: number };
}
const Gordon: Kind = { group: "operator.prgcont.cz", version: "v1", kind: "Gordon", plural: "gordons", namespaced: true };
const gordon = (version: string, spec: Sized["spec"]): Sized => ({
  apiVersion: `operator.prgcont.cz/${version}`,
  kind: "Gordon",
  metadata: { name: "g", uid: "1", labels: { a: "b" } },
  spec,
});

// v1 is the hub; v1alpha1 and v1beta1 convert only to and from it.
const gordons = convert(Gordon, {
  v1alpha1: { v1: (old: Sized) => ({ ...old, spec: { replicas: old.spec.size } }) as Sized },
  v1beta1: { v1: (old: Sized) => ({ ...old, spec: { replicas: old.spec.count } }) as Sized },
  v1: {
    v1alpha1: (now: Sized) => ({ ...now, spec: { size: now.spec.replicas } }) as Sized,
    v1beta1: (now: Sized) => ({ ...now, spec: { count: now.spec.replicas } }) as Sized,
  },
});

const ask = (to: string, ...objects: readonly KubernetesObject[]) =>
  answerConversion({ uid: "7", desiredAPIVersion: `operator.prgcont.cz/${to}`, objects }, [gordons]);

describe("a conversion", () => {
  it("applies the step to the desired version", () => {
    expect(ask("v1", gordon("v1alpha1", { size: 3 }))).toEqual({
      uid: "7",
      result: { status: "Success" },
      convertedObjects: [gordon("v1", { replicas: 3 })],
    });
  });

  it.each(["constructor", "__proto__", "toString"])("rejects %s, which is not a version", (version) => {
    for (const answer of [ask("v1", gordon(version, {})), ask(version, gordon("v1", {}))])
      expect(answer.result).toMatchObject({ status: "Failure", message: expect.stringContaining("expected a way to convert") });
  });

  it("converts through an intermediate version", () => {
    expect(ask("v1beta1", gordon("v1alpha1", { size: 3 })).convertedObjects).toEqual([gordon("v1beta1", { count: 3 })]);
  });

  it("returns an object of the desired version unchanged", () => {
    expect(ask("v1", gordon("v1", { replicas: 3 })).convertedObjects).toEqual([gordon("v1", { replicas: 3 })]);
  });

  it("preserves the object's identity whatever a step returns, but lets labels and annotations change", () => {
    const clumsy = convert(Gordon, { v1alpha1: { v1: () => ({ metadata: { name: "other", annotations: { c: "d" } } }) } });
    const { convertedObjects } = answerConversion(
      { uid: "7", desiredAPIVersion: "operator.prgcont.cz/v1", objects: [gordon("v1alpha1", {})] },
      [clumsy],
    );
    expect(convertedObjects).toEqual([
      { apiVersion: "operator.prgcont.cz/v1", kind: "Gordon", metadata: { name: "g", uid: "1", annotations: { c: "d" } } },
    ]);
  });

  it("drops fields unknown to the desired version, for which the API server answers an apply with 500", () => {
    const names = { group: "operator.prgcont.cz", kind: "Gordon" } as const;
    const Old = defineResource({
      ...names,
      version: "v1alpha1",
      spec: z.object({ size: z.int(), extra: preserveUnknown().optional() }),
    });
    const New = defineResource({
      ...{ ...names, version: "v1", additionalVersions: [Old] },
      spec: z.object({ replicas: z.int(), parts: z.array(z.object({ name: z.string() })).optional() }),
      status: z.object({ ready: z.int() }),
    });
    const careless = convert(New, {
      v1alpha1: {
        v1: (old: Sized) => ({ ...old, spec: { ...old.spec, replicas: old.spec.size, parts: [{ name: "a", size: 1 }] } }),
      },
      v1: {
        v1alpha1: (now: Sized) => ({ ...now, spec: { ...now.spec, size: now.spec.replicas, extra: { any: { thing: 1 } } } }),
      },
    });
    const back = careless.convert(
      { ...gordon("v1", { replicas: 3 }), status: { ready: 1, more: 2 } } as KubernetesObject,
      "v1alpha1",
    );
    expect(back).toEqual({
      ...gordon("v1alpha1", { size: 3, extra: { any: { thing: 1 } } } as Sized["spec"]),
      status: { ready: 1 },
    });
    const forth = careless.convert(gordon("v1alpha1", { size: 3 }), "v1");
    expect(forth).toEqual(gordon("v1", { replicas: 3, parts: [{ name: "a" }] } as Sized["spec"]));
  });

  it("fails as a whole and names the known versions if there is no path", () => {
    const answer = ask("v2", gordon("v1", { replicas: 1 }));
    expect(answer.convertedObjects).toEqual([]);
    expect(answer.result).toMatchObject({
      status: "Failure",
      message: expect.stringContaining("from v1 to v2, found only v1alpha1 → v1"),
    });
  });

  it("names the step that threw and reports the cause only to the log", () => {
    const bug = new TypeError("Cannot read properties of undefined (reading 'b')");
    const buggy = convert(Gordon, {
      v1alpha1: {
        v1: () => {
          throw bug;
        },
      },
    });
    const reported: unknown[] = [];
    const answer = answerConversion(
      {
        uid: "7",
        desiredAPIVersion: "operator.prgcont.cz/v1",
        objects: [{ ...gordon("v1alpha1", {}), metadata: { namespace: "home", name: "g" } }],
      },
      [buggy],
      (error) => reported.push(error),
    );
    expect(answer.result).toEqual({
      status: "Failure",
      message: "expected to convert Gordon home/g from v1alpha1 to v1, found that this step fails; the operator's log says why",
    });
    expect(reported).toMatchObject([{ code: "WEBHOOK_CONVERSION", cause: bug }]);
  });

  it("fails for a kind without a conversion", () => {
    const stranger = { apiVersion: "operator.prgcont.cz/v1", kind: "Nodrog" };
    expect(ask("v1", stranger).result).toMatchObject({ status: "Failure", message: expect.stringContaining("Nodrog") });
  });
});
