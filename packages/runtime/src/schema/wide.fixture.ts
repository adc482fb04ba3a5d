// For tests: one kind that uses every feature of the schema language, to check all of them on an API server.
import { z } from "zod";
import type { PodTemplateSpec } from "../objects/kinds/pod.ts";
import { defineResource } from "./define-resource.ts";
import {
  duration,
  exactlyOneOf,
  immutable,
  keyedList,
  labelSelector,
  mapOf,
  preserveUnknown,
  quantity,
  rule,
  setOf,
  stringMap,
} from "./fields.ts";

const numbers = z
  .object({
    whole: z.int().describe("Any int64."),
    bounded: z.int().min(1).max(9).default(3).describe("From 1 to 9."),
    odd: z
      .int()
      .min(1)
      .max(99)
      .apply(rule, "self % 2 == 1", "must be odd", { test: (value: number) => value % 2 === 1 })
      .optional(),
    small: z.int32().optional().describe("An int32."),
    ratio: z.number().gt(1).lte(10).describe("More than 1, up to 10."),
    even: z.int().multipleOf(2).optional(),
    share: z.number().min(0.5).lt(1.5).describe("From 0.5 to less than 1.5."),
    some: z.int().min(0.5).max(1e30).describe("At least 1."),
  })
  .partial()
  .describe("Numbers of all sorts.");

const strings = z
  .object({
    name: z
      .string()
      .min(1)
      .max(63)
      .regex(/^[a-z]([-a-z0-9]*[a-z0-9])?$/),
    loud: z.string().max(10).regex(/^yes$/i),
    both: z.string().max(20).startsWith("a.").endsWith(".z"),
    at: z.iso.datetime(),
    day: z.iso.date(),
    id: z.uuid(),
    mail: z.email().max(100),
    address: z.union([z.ipv4(), z.ipv6()]),
    home: z.url().max(200),
    secure: z.url({ protocol: /^https$/ }).max(200),
    random: z.uuidv4(),
    host: z.hostname().max(253),
    choice: z.enum(["Auto", "InPlace"]).default("Auto").describe("How."),
    only: z.literal("this"),
    several: z.union([z.literal("a"), z.enum(["b", "c"])]),
    template: z.templateLiteral(["v", z.int()]),
    bytes: z.base64().max(100),
    odd: z
      .string()
      .max(10)
      .regex(/^A[[:a]$/),
    nothing: z.string().max(5).nullable(),
    "storage-size": quantity().apply(immutable),
  })
  .partial()
  .describe("Strings of all sorts.");

const collections = z
  .object({
    list: z.array(z.string().max(10)).min(1).max(3),
    set: setOf(z.string().max(10)).max(5),
    keyed: keyedList(z.object({ name: z.string().max(10), size: z.int().default(1) }), "name").max(5),
    map: mapOf(z.int().min(0), { max: 3 }),
    labels: stringMap({ max: 2 }),
    levels: z.partialRecord(z.enum(["low", "high"]), z.int()),
    all: z.record(z.enum(["x", "y"]), z.boolean()),
  })
  .partial()
  .describe("Lists and maps of all sorts.");

const kubernetes = z
  .object({
    memory: quantity({ min: "1Mi", max: "1Ti" }),
    cooldown: duration({ min: "1s", max: "24h" }).default("5m"),
    selector: labelSelector(),
    port: z.union([z.int().min(1).max(65535), z.string().max(15)]),
    template: preserveUnknown<PodTemplateSpec>(),
    anything: z.unknown(),
    source: exactlyOneOf(
      z.object({ url: z.string().max(100).optional(), secret: z.string().max(63).optional() }),
      "url",
      "secret",
    ),
    nested: z.object({ deep: z.int().default(7) }).prefault({}),
  })
  .partial()
  .describe("Types of Kubernetes' own.");

export const Wide = defineResource({
  group: "schema.memhog.test",
  version: "v1",
  kind: "Wide",
  shortNames: ["wyd"],
  categories: ["everything"],
  description: "Uses every word the schema language has.",
  spec: z.object({
    replicas: z.int().min(0).max(100).default(1).describe("How many."),
    numbers: numbers.optional(),
    strings: strings.optional(),
    collections: collections.optional(),
    kubernetes: kubernetes.prefault({}),
  }),
  status: z.object({
    replicas: z.int().default(0).describe("How many there are."),
    selector: z.string().max(200).optional().describe("Which they are."),
    seenAt: z.iso.datetime().optional(),
  }),
  conditions: {
    Ready: { True: ["AllThere"], False: { SomeMissing: "Fewer are there than asked for." }, Unknown: ["NotYetSeen"] },
    Paused: ["AskedTo", "Active"],
  },
  columns: [
    { name: "Desired", path: ".spec.replicas" },
    { name: "Size", path: ".spec.strings.storage-size" },
    { name: "Ready", condition: "Ready" },
    { name: "Reason", condition: "Ready", show: "reason" },
    { name: "Seen", path: ".status.seenAt", priority: 1 },
  ],
  rules: [
    {
      at: "spec",
      rule: "!has(self.numbers) || !has(self.numbers.bounded) || self.replicas <= self.numbers.bounded * 10",
      message: "replicas must be at most ten times numbers.bounded",
    },
    { rule: "size(self.metadata.name) <= 20", message: "the name must have at most 20 characters" },
  ],
  scale: { specPath: ".spec.replicas", statusPath: ".status.replicas", selectorPath: ".status.selector" },
  selectable: [".spec.replicas"],
});
