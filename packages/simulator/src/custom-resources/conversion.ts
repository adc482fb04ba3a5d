// Conversion between the versions of a custom resource: changes only apiVersion (strategy None) or calls a webhook. A read applies
// defaults again, because the definition can have new ones since the object was stored.
import type { Environment } from "@memhog/runtime";
import { postReview, WebhookCallError } from "../admission/webhook-review.ts";
import { type ApiObject, draftOf, frozen, isObject, type JsonObject, listAt, objectAt } from "../json.ts";
import type { Conversion } from "../kinds/kind-entry.ts";
import type { ServerCore } from "../server/core.ts";
import { StatusError } from "../server/status-error.ts";
import type { Storage } from "../storage/storage.ts";
import { applySchemaDefaults, pruneUnknown, type StructuralSchema } from "./structural-schema.ts";

interface ConversionContext {
  readonly environment: Environment;
  readonly storage: Storage;
  readonly webhooks: ServerCore["webhooks"];
}

/** Converts between the stored version of a definition and this one. */
export function conversionBetween(definition: ApiObject, version: string, context: ConversionContext): Conversion {
  const { group } = objectAt(definition, "spec");
  const versions = listAt(definition, "spec", "versions");
  const stored = versions.find(({ storage }) => storage === true);
  const schema = schemaOf(versions.find(({ name }) => name === version));
  const convert = converterOf(definition, context);
  // Stored objects are frozen, so the converted ones can be cached.
  const seen = new WeakMap<ApiObject, ApiObject>();
  return {
    fromStored: async (objects) => {
      const fresh = objects.filter((object) => !seen.has(object));
      const converted = await convert(fresh, `${group}/${version}`);
      for (const [at, object] of fresh.entries()) seen.set(object, completed(converted[at] ?? object, schema));
      return objects.map((object) => seen.get(object) ?? object);
    },
    toStored: async (object) => {
      const [converted = object] = await convert([object], `${group}/${stored?.name}`);
      if (version === stored?.name) return converted;
      // Drops fields that the schema of the stored version does not have.
      const draft = draftOf(converted);
      pruneUnknown(draft, schemaOf(stored));
      return draft as ApiObject;
    },
  };
}

function schemaOf(version: JsonObject | undefined): StructuralSchema {
  return objectAt(version, "schema", "openAPIV3Schema") as StructuralSchema;
}

function completed(object: ApiObject, schema: StructuralSchema): ApiObject {
  const draft = draftOf(object);
  applySchemaDefaults(draft, schema);
  return frozen({ ...draft }) as ApiObject;
}

type Converter = (objects: readonly ApiObject[], apiVersion: string) => Promise<readonly ApiObject[]>;

function converterOf(definition: ApiObject, context: ConversionContext): Converter {
  const { strategy, webhook } = objectAt(definition, "spec", "conversion");
  if (strategy === "Webhook" && isObject(webhook))
    return (objects, apiVersion) => byWebhook(webhook, objects, apiVersion, context);
  return async (objects, apiVersion) => objects.map((object) => ({ ...object, apiVersion }));
}

/** The timeout of the real API server for a conversion. */
const timeoutSeconds = 30;

async function byWebhook(
  webhook: JsonObject,
  objects: readonly ApiObject[],
  apiVersion: string,
  { environment, storage, webhooks }: ConversionContext,
): Promise<readonly ApiObject[]> {
  const foreign = objects.filter((object) => object.apiVersion !== apiVersion);
  const [first] = foreign;
  if (first === undefined) return objects;
  const uid = environment.uuid();
  const request = { uid, desiredAPIVersion: apiVersion, objects: foreign };
  const review = { kind: "ConversionReview", apiVersion: "apiextensions.k8s.io/v1", request };
  const answer = await postReview(
    { clientConfig: objectAt(webhook, "clientConfig"), review, timeoutSeconds },
    { clock: environment.clock, storage, webhooks },
  ).catch((error: unknown) => {
    if (error instanceof WebhookCallError) throw failed(first, `failed: ${error.message}`);
    throw error;
  });
  const converted = convertedObjects(answer, uid, first);
  if (converted.length !== foreign.length)
    throw failed(first, `returned ${converted.length} objects, expected ${foreign.length}`);
  const done = new Map(foreign.map((object, at) => [object, withMetadataOf(object, converted[at] ?? {}, { at, apiVersion })]));
  return objects.map((object) => done.get(object) ?? object);
}

function failed({ apiVersion, kind }: ApiObject, why: string): StatusError {
  return new StatusError({ code: 500, reason: "", message: `conversion webhook for ${apiVersion}, Kind=${kind} ${why}` });
}

function convertedObjects(answer: JsonObject, uid: string, first: ApiObject): readonly JsonObject[] {
  const { response } = answer;
  if (!isObject(response)) throw failed(first, "failed: no response provided");
  if (response.uid !== uid)
    throw failed(first, `failed: expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? "")}`);
  const { status, message } = objectAt(response, "result");
  if (status !== "Success")
    throw failed(first, `failed: ${message || `response.result.status was '${status ?? ""}', not 'Success'`}`);
  return listAt(response, "convertedObjects");
}

/** A conversion webhook can change only labels and annotations in metadata. */
function withMetadataOf(
  original: ApiObject,
  converted: JsonObject,
  { at, apiVersion }: { at: number; apiVersion: string },
): ApiObject {
  const wrong = (what: string) => failed(original, `returned invalid converted object at index ${at}: ${what}`);
  if (converted.apiVersion !== apiVersion)
    throw wrong(`invalid groupVersion (expected ${apiVersion}, received ${converted.apiVersion ?? ""})`);
  if (converted.kind !== original.kind) throw wrong(`invalid kind (expected ${original.kind}, received ${converted.kind ?? ""})`);
  const { labels: _l, annotations: _a, ...kept } = original.metadata;
  const { labels, annotations } = objectAt(converted, "metadata") as { labels?: object; annotations?: object };
  return { ...converted, metadata: { ...kept, ...(labels && { labels }), ...(annotations && { annotations }) } } as ApiObject;
}
