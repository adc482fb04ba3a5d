// Checks that zod and the API server accept the same values: every schema here against every value. (Exceptions: the server
// prunes null, and accepts integers beyond those of JavaScript.)
import { testCluster } from "@memhog/simulator/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { loadConfig } from "../client/config/load.ts";
import { createClient } from "../client/create-client.ts";
import { InvalidError } from "../client/errors.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import { CustomResourceDefinition } from "../objects/kinds/extension.ts";
import { defineResource } from "./define-resource.ts";
import { duration, exactlyOneOf, keyedList, labelSelector, mapOf, quantity, setOf } from "./fields.ts";
import { installCrds } from "./install.ts";

const schemas: Readonly<Record<string, z.ZodType>> = {
  atLeastHalf: z.number().min(0.5),
  belowOneAndAHalf: z.number().lt(1.5),
  aboveMinusHalf: z.number().gt(-0.5),
  wholeAtLeastHalf: z.int().min(0.5),
  wholeUpToNineAndAHalf: z.int().lt(9.5).max(1e30),
  uint32: z.uint32().min(-5),
  int32: z.int32().max(2 ** 40),
  even: z.int().multipleOf(2),
  literal: z.literal([0.5, 2.5]),
  day: z.iso.date(),
  time: z.iso.datetime({ offset: true }),
  url: z.url(),
  uuid: z.uuid(),
  address: z.ipv4(),
  eitherAddress: z.union([z.ipv4(), z.ipv6()]),
  bytes: z.base64(),
  short: z.string().min(1).max(3),
  posix: z.string().regex(/^[[:alph]$/),
  letters: z.string().regex(/^Aa?z?$/),
  port: z.union([z.int().min(1).max(9), z.string().max(2)]),
  amount: quantity({ min: "1", max: "1Gi" }),
  span: duration({ min: "1s", max: "1h" }),
  set: setOf(z.string().max(9)).max(2),
  keyed: keyedList(z.object({ name: z.string().max(9), size: z.number().min(0.5).default(1) }), "name").max(2),
  map: mapOf(z.number().max(-0.5), { max: 2 }),
  choice: exactlyOneOf(z.object({ a: z.string().max(3).optional(), b: z.string().max(3).optional() }), "a", "b"),
  selector: labelSelector({ maxLabels: 2, maxExpressions: 2, maxValues: 2 }),
  closed: z.partialRecord(z.enum(["a", "b"]), z.boolean()).and(z.object({ c: z.int().default(1) })),
};

const values: readonly unknown[] = [
  ...[
    -(2 ** 31) - 1,
    -5,
    -1,
    -0.5,
    -0.25,
    0,
    0.25,
    0.5,
    1,
    1.25,
    1.5,
    2,
    2.5,
    9,
    9.25,
    10,
    2 ** 31,
    2 ** 32,
    true,
    {},
    [],
    [[]],
    [1],
  ],
  ...[
    "",
    "a",
    "A",
    "Aa",
    "Az",
    ":",
    "[",
    "b",
    "1",
    "ab",
    "abcd",
    "aGVsbG8",
    "aGVsbG8=",
    "1.2.3.4",
    "1.2.3.256",
    "::1",
    "/etc",
    "http://x",
  ],
  ...[
    "0b6e2ad4-5c3f-4f1e-9a55-1f3c2d4e5f60",
    "0b6e2ad45c3f4f1e9a551f3c2d4e5f60",
    "2026-02-28",
    "2026-02-30",
    "2026-02-28T00:00:00Z",
  ],
  ...["2026-02-28T00:00:00+01:00", "2026-02-28T00:00:00", "512Mi", "2Gi", "500m", "1.5Mi", "90s", "1h30m", "soon", "0"],
  ...[
    ["a", "b"],
    ["a", "a"],
    ["2026-02-28T00:00:00Z"],
    [{ name: "x" }],
    [{ name: "x", size: 0 }],
    [{ name: "x" }, { name: "x" }],
  ],
  ...[
    { matchLabels: { app: "web", "example.com/tier": "" } },
    { matchLabels: { app: "-web" } },
    { matchLabels: { app: "we b" } },
    { matchLabels: { app: "w".repeat(64) } },
    { matchLabels: { a: "1", b: "2", c: "3" } },
    { matchLabels: { [`${"a".repeat(254)}/${"b".repeat(64)}`]: "x" } },
  ],
  ...[
    { key: "tier", operator: "In", values: ["front", ""] },
    { key: "tier", operator: "NotIn", values: ["back"] },
    { key: "example.com/tier", operator: "Exists" },
    { key: "tier", operator: "DoesNotExist", values: [] },
    { key: "tier", operator: "In" },
    { key: "tier", operator: "NotIn", values: [] },
    { key: "tier", operator: "Exists", values: ["x"] },
    { key: "tier", operator: "Gt", values: ["1"] },
    { key: "tier", operator: "in", values: ["x"] },
    { key: "tier", values: ["x"] },
    { operator: "Exists" },
    { key: "", operator: "Exists" },
    { key: "tier!", operator: "Exists" },
    { key: "-tier", operator: "Exists" },
    { key: "/tier", operator: "Exists" },
    { key: "a/b/c", operator: "Exists" },
    { key: "Example.com/tier", operator: "Exists" },
    { key: "t".repeat(64), operator: "Exists" },
    { key: "tier", operator: "In", values: ["x y"] },
    { key: "tier", operator: "In", values: ["x."] },
    { key: "tier", operator: "In", values: ["a", "b", "c"] },
  ].map((expression) => ({ matchExpressions: [expression] })),
  ...[{ a: "x" }, { a: "x", b: "y" }, { a: -1, b: -0.5 }, { a: 0 }, { a: true }, { a: true, c: 1.5 }, { k: -1, l: -1, m: -1 }],
];

it("the API server and zod accept and reject the same values", { timeout: 120_000 }, async () => {
  await using cluster = await testCluster();
  const environment = systemEnvironment();
  const rateLimit = { qps: 2_000, burst: 2_000 };
  await using client = createClient({ config: await loadConfig({ kubeconfig: cluster.kubeconfig }), environment, rateLimit });
  const fields = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, schema.optional()]));
  const Verdict = defineResource({ group: "verdicts.memhog.test", version: "v1", kind: "Verdict", spec: z.object(fields) });
  await installCrds(client, [Verdict], { clock: environment.clock });
  const ofServer = async (spec: object): Promise<boolean> => {
    const object = { metadata: { name: "a", namespace: cluster.defaultNamespace }, spec } as never;
    const taken = client.create(Verdict, object, { dryRun: true }).then(() => true);
    return taken.catch((error: unknown) => {
      if (error instanceof InvalidError) return false;
      throw error;
    });
  };
  try {
    for (const [name, schema] of Object.entries(schemas)) {
      const ours = values.filter((value) => schema.safeParse(value).success);
      const taken = await Promise.all(values.map((value) => ofServer({ [name]: value })));
      expect({ [name]: values.filter((_, i) => taken[i]) }).toEqual({ [name]: ours });
      expect(ours).not.toEqual([]);
    }
  } finally {
    await client.delete(CustomResourceDefinition, { name: "verdicts.verdicts.memhog.test" });
  }
});
