// Messages are for people and may change with every release: no decision depends on one. Every free-text field of a stored record,
// and of every answer of an API server, is replaced by random text; the plan stays the same, in all worlds of laws.test.ts.
import { AlreadyExistsError, type ApiError, ConflictError, crdOf, NotFoundError, Pod } from "@memhog/runtime";
import { ForbiddenError, InternalError, InvalidError, type Refusal, TooManyRequestsError } from "@memhog/runtime/client";
import { seededRandom } from "@memhog/runtime/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AppMemory } from "../api/app-memory.ts";
import { monitorAnnotation } from "../api/names.ts";
import { readRecord, statusOf } from "../api/stored-record.ts";
import { execute } from "../execute/execute.ts";
import { type Server, withEndings } from "../execute/outcome.ts";
import { quantityText } from "../model/bytes.ts";
import type { ObservedApp, ObservedTemplate } from "../model/observed-app.ts";
import { aPlan } from "../model/plan.fixture.ts";
import type { AppRecord, Plan } from "../model/plan.ts";
import { decide } from "./decide.ts";
import { randomWorld } from "./worlds.fixture.ts";

const anyWorld = fc.integer().map((seed) => randomWorld(seededRandom(seed)));
/** Random words, and those that such a field might be taken apart by. */
const anyText = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.constantFrom("", "Refused: ", "Infeasible on this node", "the name web is taken by another", "field is immutable"),
);

interface Schema {
  readonly type?: string;
  readonly maxLength?: number;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** As app-memory.ts declares a sentence. */
const isFreeText = ({ type, maxLength, enum: words }: Schema) => type === "string" && maxLength === 1024 && words === undefined;

const [version] = crdOf(AppMemory).spec.versions;
const statusSchema = (version?.schema?.openAPIV3Schema as Schema | undefined)?.properties?.status ?? {};

/** The value with other words wherever the schema has free text, and words where it had none. */
function reworded(value: unknown, schema: Schema, text: string): unknown {
  if (Array.isArray(value)) return value.map((each) => reworded(each, schema.items ?? {}, text));
  if (typeof value !== "object" || value === null) return value;
  const inside = Object.entries(value).map(([key, each]) => [key, reworded(each, schema.properties?.[key] ?? {}, text)]);
  const words = Object.entries(schema.properties ?? {}).filter(([, each]) => isFreeText(each));
  return Object.fromEntries([...inside, ...words.map(([key]) => [key, text])]);
}

function storedAndRead(record: AppRecord, text?: string): AppRecord {
  const status = statusOf(aPlan({ record }), undefined, 0);
  const stored = text === undefined ? status : reworded(status, statusSchema, text);
  return readRecord({ status: stored } as AppMemory, (where) => expect(where).toBe(""));
}

const words: ReadonlySet<string> = new Set(["message", "detail", "cappedBy"]);
const withoutWords = (plan: unknown): unknown =>
  JSON.parse(JSON.stringify(plan, (key, value) => (words.has(key) ? undefined : value)));

describe("no decision depends on a message", () => {
  it("that a record stores", () => {
    fc.assert(
      fc.property(anyWorld, anyText, (seen, text) => {
        const [as, other] = [storedAndRead(seen.record), storedAndRead(seen.record, text)];
        expect(withoutWords(decide({ ...seen, record: other }))).toEqual(withoutWords(decide({ ...seen, record: as })));
      }),
      { numRuns: 2_000 },
    );
  });

  it("that the cluster gives with what it shows", () => {
    fc.assert(
      fc.property(anyWorld, anyText, (seen, text) => {
        expect(withoutWords(decide(inOtherWords(seen, text)))).toEqual(withoutWords(decide(seen)));
      }),
      { numRuns: 500 },
    );
  });

  it.each(Object.entries(answers()))("that an API server gives with an answer: %s", async (_, answer) => {
    await fc.assert(
      fc.asyncProperty(anyWorld, anyText, async (seen, text) => {
        const [as, other] = [await afterAnswer(seen, answer("no")), await afterAnswer(seen, answer(text))];
        expect(withoutWords(other)).toEqual(withoutWords(as));
      }),
      { numRuns: 100 },
    );
  });
});

it("the worlds are rich enough: every command is given in some of them", () => {
  const given = new Set<string>();
  for (let seed = 0; seed < 3_000; seed += 1) {
    for (const command of decide(randomWorld(seededRandom(seed))).commands) given.add(command.do);
  }
  expect([...given].sort()).toEqual(["createCopy", "deletePod", "evict", "patchTemplate", "resize", "restoreTemplate"]);
});

function inOtherWords(seen: ObservedApp, text: string): ObservedApp {
  const { metrics, template } = seen;
  return {
    ...seen,
    metrics: { ...metrics, problem: text },
    template: template && { ...template, ...(template.stalled !== undefined && { stalled: text }) },
    pods: seen.pods.map((pod) => ({
      ...pod,
      resize: { ...pod.resize, message: text },
      notResizable: pod.notResizable && (text || "no"),
    })),
  };
}

function answers(): Readonly<Record<string, (text: string) => ApiError>> {
  type Class = new (refusal: Refusal) => ApiError;
  const says = (Class: Class, reason: string, cause?: object, details: object = {}) => {
    return (text: string) => {
      const causes = cause === undefined ? [] : [{ ...cause, message: text }];
      return new Class({ attempt: text, status: 0, reason, message: text, details: { ...details, causes } });
    };
  };
  return {
    Conflict: says(ConflictError, "Conflict"),
    AlreadyExists: says(AlreadyExistsError, "AlreadyExists"),
    NotFound: says(NotFoundError, "NotFound", undefined, { name: "memhog-1" }),
    "NotFound without a name": says(NotFoundError, "NotFound"),
    Forbidden: says(ForbiddenError, "Forbidden"),
    "Forbidden, NodeCapacity": says(ForbiddenError, "Forbidden", { reason: "NodeCapacity" }),
    Invalid: says(InvalidError, "Invalid", { reason: "FieldValueInvalid", field: "spec" }),
    "Invalid UID": says(InvalidError, "Invalid", { reason: "FieldValueInvalid", field: "metadata.uid" }),
    TooManyRequests: says(TooManyRequestsError, "TooManyRequests"),
    "TooManyRequests, DisruptionBudget": says(TooManyRequestsError, "TooManyRequests", { reason: "DisruptionBudget" }),
    InternalError: says(InternalError, "InternalError"),
    "a bare 500": says(InternalError, ""),
  };
}

/** How each command of the plan ended that was answered like this, and the plan after that. */
async function afterAnswer(seen: ObservedApp, error: ApiError): Promise<readonly [readonly unknown[], Plan]> {
  const plan = decide(seen);
  const outcomes = await execute({ client: refusing(seen, error) }, seen.app, plan);
  const record = withEndings(plan.record, outcomes);
  return [outcomes.map(({ command, outcome, cause }) => ({ do: command.do, outcome, cause })), decide({ ...seen, record })];
}

/** A server that has the objects of this world, and answers every write like this. */
function refusing(seen: ObservedApp, error: ApiError): Server {
  const refuse = () => Promise.reject(error);
  const find = async (kind: { readonly kind: string }, { name }: { readonly name: string }) =>
    kind.kind === Pod.kind ? podNamed(seen, name) : seen.template && ownerOf(seen.template);
  return { find, create: refuse, update: refuse, patch: refuse, apply: refuse, delete: refuse } as unknown as Server;
}

const annotations = { [monitorAnnotation]: "true" };

function podNamed({ pods }: ObservedApp, name: string): object | undefined {
  const found = pods.find((pod) => pod.name === name);
  if (found === undefined) return undefined;
  const { uid, resourceVersion, containers } = found;
  return { metadata: { name, uid, resourceVersion, annotations }, spec: { containers: containers.map(containerOf) } };
}

function ownerOf({ uid, resourceVersion, containers }: ObservedTemplate): object {
  const template = { metadata: { annotations }, spec: { containers: containers.map(containerOf) } };
  return { metadata: { uid, resourceVersion }, spec: { template, jobTemplate: undefined } };
}

const containerOf = ({ name, limit, request }: ObservedTemplate["containers"][number]) => ({
  name,
  resources: {
    ...(limit !== undefined && { limits: { memory: quantityText(limit) } }),
    ...(request !== undefined && { requests: { memory: quantityText(request) } }),
  },
});
