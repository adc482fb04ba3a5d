import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  dnsLabel,
  dnsSubdomain,
  identityLabels,
  isDnsLabel,
  isDnsSubdomain,
  isLabelValue,
  isQualifiedName,
  labelValue,
  recommendedLabels,
} from "./names.ts";

describe("name validation", () => {
  const cases = [
    { name: "web-1", label: true, subdomain: true, value: true, qualified: true },
    { name: "1web", label: true, subdomain: true, value: true, qualified: true },
    { name: "web.example.com", label: false, subdomain: true, value: true, qualified: true },
    { name: "Web_1", label: false, subdomain: false, value: true, qualified: true },
    { name: "", label: false, subdomain: false, value: true, qualified: false },
    { name: "-web", label: false, subdomain: false, value: false, qualified: false },
    { name: "web-", label: false, subdomain: false, value: false, qualified: false },
    { name: "a..b", label: false, subdomain: false, value: true, qualified: true },
    { name: "a.-b", label: false, subdomain: false, value: true, qualified: true },
    { name: "a".repeat(63), label: true, subdomain: true, value: true, qualified: true },
    { name: "a".repeat(64), label: false, subdomain: true, value: false, qualified: false },
    { name: "a".repeat(254), label: false, subdomain: false, value: false, qualified: false },
    { name: "example.com/finalizer", label: false, subdomain: false, value: false, qualified: true },
    { name: "Example.com/finalizer", label: false, subdomain: false, value: false, qualified: false },
    { name: "example.com/", label: false, subdomain: false, value: false, qualified: false },
    { name: "a/b/c", label: false, subdomain: false, value: false, qualified: false },
  ];
  it.each(cases)("validates '$name'", ({ name, label, subdomain, value, qualified }) => {
    expect({
      label: isDnsLabel(name),
      subdomain: isDnsSubdomain(name),
      value: isLabelValue(name),
      qualified: isQualifiedName(name),
    }).toEqual({ label, subdomain, value, qualified });
  });
});

describe("generating names", () => {
  it("keeps valid names unchanged", () => {
    expect(dnsLabel("web", "autoscaled", "2")).toBe("web-autoscaled-2");
    expect(dnsSubdomain("web.example.com", "backup")).toBe("web.example.com-backup");
    expect(labelValue("Web_1.0")).toBe("Web_1.0");
  });

  // Children in clusters have these names: a change here orphans all of them.
  const forever = [
    { name: "shortens long names", made: dnsLabel("a".repeat(80), "backup"), expected: `${"a".repeat(52)}-hpp48vzptv` },
    { name: "replaces invalid characters", made: dnsLabel("Über_größe"), expected: "ber-gr-e-nmck8vkhtm" },
    {
      name: "shortens a long label value",
      made: labelValue(`Web_${"1".repeat(80)}`),
      expected: `Web_${"1".repeat(48)}-578fh6mkwg`,
    },
  ];
  it.each(forever)("$name, and the result never changes", ({ made, expected }) => expect(made).toBe(expected));

  const wish = fc.oneof(
    fc.string({ maxLength: 300, size: "max" }),
    fc.string({ unit: fc.constantFrom("a", "-", ".", "A", "_", "9"), maxLength: 300, size: "max" }),
  );
  const makers = [
    { name: "dnsLabel", make: dnsLabel, valid: isDnsLabel },
    { name: "dnsSubdomain", make: dnsSubdomain, valid: isDnsSubdomain },
    { name: "labelValue", make: labelValue, valid: isLabelValue },
  ];
  it.each(makers)(
    "$name returns a valid name for any input, is idempotent, and keeps different inputs distinct",
    ({ make, valid }) => {
      fc.assert(
        fc.property(wish, wish, (one, other) => {
          const made = make(one);
          expect({ made, valid: valid(made) }).toEqual({ made, valid: true });
          expect(make(made)).toBe(made);
          if (one !== other) expect(make(other)).not.toBe(made);
        }),
        { numRuns: 150 },
      );
    },
  );

  it("keeps long names distinct that differ only at the end", () => {
    expect(dnsLabel(`${"a".repeat(100)}1`)).not.toBe(dnsLabel(`${"a".repeat(100)}2`));
  });
});

it("recommendedLabels sets only the given labels", () => {
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

it("identityLabels selects by labels that never change", () => {
  expect(identityLabels({ name: "memcached", instance: "cache" })).toEqual({
    "app.kubernetes.io/name": "memcached",
    "app.kubernetes.io/instance": "cache",
  });
});

it("recommended labels shorten long values and keep them distinct", () => {
  const instances = ["1", "2"].map(
    (end) => identityLabels({ name: "db", instance: "x".repeat(200) + end })["app.kubernetes.io/instance"],
  );
  expect(instances.every((value) => value !== undefined && isLabelValue(value))).toBe(true);
  expect(new Set(instances).size).toBe(2);
});
