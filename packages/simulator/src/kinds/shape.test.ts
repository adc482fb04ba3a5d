import { describe, expect, it } from "vitest";
import type { Draft } from "../json.ts";
import { readAsGo, ShapeError, writeAsGo } from "./shape.ts";

const pod = (more: object): Draft => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, ...more });
const container = (more: object) => pod({ spec: { containers: [{ name: "c", ...more }] } });
const type = "core.v1.Pod";

function shaped(draft: Draft, struct = type) {
  const unknown = readAsGo(draft, struct);
  return { draft, unknown };
}

function written(draft: Draft, struct = type) {
  writeAsGo(draft, struct);
  return draft;
}

describe("decoding like Go", () => {
  const cases: readonly [string, Draft, object][] = [
    ["drops nulls", pod({ spec: null }), pod({})],
    ["drops empty lists that are optional", pod({ spec: { volumes: [], containers: [] } }), pod({ spec: { containers: [] } })],
    ["keeps empty objects in pointer fields", container({ securityContext: {} }), container({ securityContext: {} })],
    ["drops empty strings", container({ image: "" }), container({})],
    ["keeps empty strings in a map", pod({ metadata: { labels: { a: "" } } }), pod({ metadata: { labels: { a: "" } } })],
    [
      "turns a null in a map of strings into an empty string",
      pod({ metadata: { labels: { a: null } } }),
      pod({ metadata: { labels: { a: "" } } }),
    ],
    ["drops zero values", pod({ spec: { containers: [], hostNetwork: false } }), pod({ spec: { containers: [] } })],
    [
      "keeps zero values in pointer fields",
      container({ securityContext: { runAsUser: 0 } }),
      container({ securityContext: { runAsUser: 0 } }),
    ],
    [
      "normalizes quantities",
      container({ resources: { limits: { memory: "1024Mi", cpu: 0.5 } } }),
      container({ resources: { limits: { memory: "1Gi", cpu: "500m" } } }),
    ],
  ];
  it.each(cases)("%s", (_name, given, then) => expect(shaped(given)).toEqual({ draft: then, unknown: [] }));

  it("drops unknown fields and returns their paths", () => {
    const { draft, unknown } = shaped(pod({ colour: 1, spec: { containers: [{ name: "c", image: "i", imgae: "j" }] } }));
    expect(unknown).toEqual(["colour", "spec.containers[0].imgae"]);
    expect(draft).toEqual(pod({ spec: { containers: [{ name: "c", image: "i" }] } }));
  });

  it("keeps an empty storageClassName", () => {
    const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: {}, spec: { storageClassName: "" } };
    expect(shaped(claim, "core.v1.PersistentVolumeClaim").draft.spec).toEqual({ storageClassName: "" });
  });

  it("keeps opaque JSON unchanged", () => {
    const revision = { apiVersion: "apps/v1", kind: "ControllerRevision", metadata: {}, revision: 1, data: { a: null, b: [] } };
    expect(shaped(structuredClone(revision), "apps.v1.ControllerRevision").draft).toEqual(revision);
  });
});

describe("encoding like Go", () => {
  it("always writes required counts, times, and structs", () => {
    const { status } = written(
      pod({ status: { containerStatuses: [{ name: "c" }], conditions: [{ type: "Ready", status: "True" }] } }),
    );
    expect(status).toEqual({
      containerStatuses: [{ name: "c", ready: false, restartCount: 0, image: "", imageID: "", state: {}, lastState: {} }],
      conditions: [{ type: "Ready", status: "True", lastProbeTime: null, lastTransitionTime: null }],
    });
  });

  it("omits empty optional fields", () => {
    expect(written(container({ resources: { limits: {} } })).spec).toEqual({ containers: [{ name: "c", resources: {} }] });
  });

  it("writes null for a missing required list", () => {
    expect(written(pod({ spec: {} })).spec).toEqual({ containers: null });
  });
});

describe("decoding like Go rejects", () => {
  const cases: readonly [string, Draft, string][] = [
    [
      "a string instead of a list",
      pod({ spec: { containers: "a" } }),
      "cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container",
    ],
    [
      "a string in a list of objects",
      pod({ spec: { containers: ["a"] } }),
      "cannot unmarshal string into Go struct field PodSpec.spec.containers of type v1.Container",
    ],
    [
      "a number instead of a string",
      container({ image: 1 }),
      "cannot unmarshal number into Go struct field Container.spec.containers.image of type string",
    ],
    [
      "a boolean in a map of strings",
      pod({ metadata: { labels: { a: true } } }),
      "cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string",
    ],
    [
      "a fraction for an integer",
      pod({ spec: { containers: [], priority: 1.5 } }),
      "cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type int32",
    ],
    ["an invalid quantity", container({ resources: { limits: { cpu: "x" } } }), "quantities must match the regular expression"],
    ["an invalid time", pod({ metadata: { creationTimestamp: "foo" } }), 'parsing time "foo"'],
  ];
  it.each(cases)("%s", (_name, given, said) => {
    expect(() => readAsGo(structuredClone(given), type)).toThrow(ShapeError);
    expect(() => readAsGo(given, type)).toThrow(said);
  });
});
