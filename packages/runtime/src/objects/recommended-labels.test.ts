import { expect, it } from "vitest";
import { isLabelValue } from "./names.ts";
import { identityLabels, recommendedLabels } from "./recommended-labels.ts";

it("gives an object the labels that were stated, and no others", () => {
  expect(
    recommendedLabels({ name: "memcached", instance: "cache", partOf: "shop", managedBy: "memcached-operator", version: "1.6" }),
  ).toEqual({
    "app.kubernetes.io/name": "memcached",
    "app.kubernetes.io/instance": "cache",
    "app.kubernetes.io/part-of": "shop",
    "app.kubernetes.io/managed-by": "memcached-operator",
    "app.kubernetes.io/version": "1.6",
  });
});

it("selects by what never changes", () => {
  expect(identityLabels({ name: "memcached", instance: "cache" })).toEqual({
    "app.kubernetes.io/name": "memcached",
    "app.kubernetes.io/instance": "cache",
  });
});

it("shortens names that are too long for a label, and keeps them apart", () => {
  const instances = ["1", "2"].map(
    (end) => identityLabels({ name: "db", instance: "x".repeat(200) + end })["app.kubernetes.io/instance"],
  );
  expect(instances.every((value) => value !== undefined && isLabelValue(value))).toBe(true);
  expect(new Set(instances).size).toBe(2);
});
