import { describe, expect, it } from "vitest";
import type { ApiObject, JsonObject } from "../json.ts";
import { cronErrors } from "./batch.ts";
import { builtInKinds } from "./built-in.ts";
import { humanDuration } from "./columns.ts";
import { structs } from "./generated/structs.ts";
import { metadataErrors, problemsOfName } from "./names.ts";
import { type QosClass, qosClassOf } from "./pod-template.ts";
import { byPreference, KindRegistry } from "./registry.ts";
import { structNameOf } from "./structs.ts";

describe("the table of built-in kinds", () => {
  it("contains every kind once", () => {
    const names = builtInKinds.map(({ group, version, plural }) => `${group}/${version}/${plural}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it("has a Go struct for each kind", () => {
    expect(builtInKinds.map(structNameOf).filter((name) => !(name in structs))).toEqual([]);
  });

  it("refers only to known types", () => {
    const referred = Object.values(structs).flatMap((line) => [...line.matchAll(/[:~](?:\*|\[\]|\{\})*([a-z]+\.[\w.]+)/g)]);
    expect(referred.map(([, name = ""]) => name).filter((name) => !(name in structs))).toEqual([]);
  });
});

describe("versions of a group", () => {
  it("are sorted stable, beta, alpha, newest first, then all others alphabetically", () => {
    const versions = ["foo", "v1alpha1", "v1", "v2", "v1beta2", "v10", "bar", "v1beta10"];
    expect(versions.sort(byPreference)).toEqual(["v10", "v2", "v1", "v1beta10", "v1beta2", "v1alpha1", "bar", "foo"]);
  });

  it("are grouped by API group", () => {
    expect(new KindRegistry(builtInKinds).groups().get("apps")).toEqual(["v1"]);
  });
});

describe("ages in kubectl tables", () => {
  const second = 1000;
  const [minute, hour, day] = [60 * second, 3600 * second, 86_400 * second];
  const cases: readonly [number, string][] = [
    [-5 * second, "<invalid>"],
    [-second, "0s"],
    [0, "0s"],
    [119 * second, "119s"],
    [2 * minute, "2m"],
    [2 * minute + 5 * second, "2m5s"],
    [10 * minute + 5 * second, "10m"],
    [179 * minute, "179m"],
    [3 * hour + 5 * minute, "3h5m"],
    [8 * hour + 5 * minute, "8h"],
    [47 * hour, "47h"],
    [2 * day + hour, "2d1h"],
    [8 * day + hour, "8d"],
    [729 * day, "729d"],
    [730 * day, "2y"],
    [3 * 365 * day + 10 * day, "3y10d"],
    [9 * 365 * day + 10 * day, "9y"],
  ];
  it.each(cases)("%d ms is printed as %s", (milliseconds, shown) => expect(humanDuration(milliseconds)).toBe(shown));
});

describe("the QoS class of a pod", () => {
  const container = (requests?: object, limits?: object) => ({
    resources: { ...(requests && { requests }), ...(limits && { limits }) },
  });
  const both = { cpu: "1", memory: "1Gi" };
  const cases: readonly [string, JsonObject[], QosClass][] = [
    ["without requests and limits is BestEffort", [container()], "BestEffort"],
    ["with zero requests is BestEffort", [container({ cpu: "0" })], "BestEffort"],
    [
      "ignores resources other than CPU and memory",
      [container({ "example.com/gpu": "1" }, { "example.com/gpu": "1" })],
      "BestEffort",
    ],
    ["with equal limits and requests for both is Guaranteed", [container(both, both)], "Guaranteed"],
    ["does not depend on the quantity format", [container({ cpu: "1000m", memory: "1024Mi" }, both)], "Guaranteed"],
    ["with memory only is Burstable", [container({ memory: "1Gi" }, { memory: "1Gi" })], "Burstable"],
    ["with resources in one of two containers is Burstable", [container(both, both), container()], "Burstable"],
    ["with a request below the limit is Burstable", [container({ ...both, cpu: "500m" }, both)], "Burstable"],
  ];
  it.each(cases)("%s", (_name, containers, then) => expect(qosClassOf({ containers })).toBe(then));
});

describe("names", () => {
  const good: readonly [string, "subdomain" | "label" | "path"][] = [
    ["a.b-c", "subdomain"],
    ["1a", "label"],
    ["system:node", "path"],
  ];
  it.each(good)("%s is a valid %s", (name, rule) => expect(problemsOfName(name, rule)).toEqual([]));

  const bad: readonly [string, "subdomain" | "label" | "path", string][] = [
    ["A", "subdomain", "a lowercase RFC 1123 subdomain"],
    ["a".repeat(254), "subdomain", "must be no more than 253 characters"],
    ["a.b", "label", "must not contain dots"],
    ["-a", "label", "a lowercase RFC 1123 label"],
    ["a/b", "path", "may not contain '/'"],
    ["..", "path", "may not be '..'"],
  ];
  it.each(bad)("%s is not a valid %s", (name, rule, why) => expect(problemsOfName(name, rule)[0]).toContain(why));

  it("orphan and foregroundDeletion finalizers are mutually exclusive", () => {
    const metadata = { name: "a", finalizers: ["orphan", "foregroundDeletion"] };
    const object: ApiObject = { apiVersion: "v1", kind: "ConfigMap", metadata };
    expect(metadataErrors(object, "subdomain").map(({ field }) => field)).toEqual(["metadata.finalizers"]);
  });
});

describe("cron schedules", () => {
  it.each(["* * * * *", "*/5 0-6,12 1 jan mon", "@hourly", "@every 5m", "0 0 31 12 6"])("%s is valid", (schedule) =>
    expect(cronErrors("spec.schedule", schedule)).toEqual([]),
  );
  it.each([
    ["x", "expected exactly 5 fields, found 1: [x]"],
    ["60 * * * *", "end of range (60) above maximum (59): 60"],
    ["* * 0 * *", "beginning of range (0) below minimum (1): 0"],
    ["a * * * *", "failed to parse int from a"],
    ["@every x", 'failed to parse duration @every x: time: invalid duration "x"'],
    ["@reboot", "unrecognized descriptor: @reboot"],
  ])("%s is invalid", (schedule, why) => expect(cronErrors("spec.schedule", schedule)[0]?.message).toContain(why));
});
