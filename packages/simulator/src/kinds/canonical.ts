// What an object looks like after Go has read and written it. Built-in kinds are structs on the real server: a null is a
// field that was not sent, most empty lists, maps and texts and many zeros are not written at all, and a quantity comes back
// in its canonical spelling. Clients compare what they sent with what they got, so this can be told.
import { parseQuantity } from "@memhog/runtime";
import { isObject, type JsonObject } from "../json.ts";

/** Maps of text, whose empty texts are values like any other. An empty one is not written. */
const textMaps = new Set(
  "labels annotations matchLabels nodeSelector data binaryData stringData parameters limitRequestRatio".split(" "),
);

/** Maps of quantities; an empty one is not written. */
const quantityMaps = new Set(
  "limits requests capacity allocatable hard used max min default defaultRequest allocatedResources".split(" "),
);

/** Quantities by themselves. */
const quantities = new Set("sizeLimit averageValue divisor".split(" "));

/** Numbers and switches that are written only if they are not zero. */
const omittedZeros = new Set(
  [
    "minReadySeconds initialDelaySeconds hostNetwork hostPID hostIPC stdin stdinOnce tty readOnly unschedulable paused",
    "publishNotReadyAddresses observedGeneration readyReplicas availableReplicas updatedReplicas unavailableReplicas",
    "fullyLabeledReplicas currentReplicas updatedNumberScheduled numberAvailable numberUnavailable active succeeded failed",
    "globalDefault nodePort hostPort signal blocking",
  ].flatMap((line) => line.split(" ")),
);

/** What is opaque to the server: whatever is inside belongs to somebody else. */
const opaque = new Set(["managedFields", "openAPIV3Schema", "rawExtension"]);

/** Makes a draft of a built-in kind look as if Go had read it. @throws QuantityError */
export function canonicalize(draft: JsonObject): void {
  for (const key of Object.keys(draft)) {
    const value = canonicalValue(key, draft[key]);
    if (value === undefined) delete draft[key];
    else draft[key] = value;
  }
}

function canonicalValue(key: string, value: unknown): unknown {
  if (value === null || value === undefined || value === "") return undefined;
  if (opaque.has(key)) return value;
  if (quantities.has(key) && !isObject(value)) return quantity(value);
  if ((value === 0 || value === false) && omittedZeros.has(key)) return undefined;
  if (Array.isArray(value)) return canonicalList(key, value);
  if (!isObject(value)) return value;
  return canonicalObject(key, value);
}

function canonicalList(key: string, list: unknown[]): unknown {
  if (list.length === 0) return undefined;
  // A list of lists or of opaque values does not occur; texts stay as they are, "" is the core group in RBAC.
  for (const element of list) if (isObject(element) && !opaque.has(key)) canonicalize(element);
  return list;
}

function canonicalObject(key: string, value: JsonObject): unknown {
  if (isTextMap(key, value)) {
    for (const each of Object.keys(value)) value[each] ??= "";
    return Object.keys(value).length === 0 ? undefined : value;
  }
  if (quantityMaps.has(key)) {
    for (const each of Object.keys(value)) value[each] = quantity(value[each]);
    return Object.keys(value).length === 0 ? undefined : value;
  }
  canonicalize(value);
  return value;
}

/** `selector` is a map of text in a Service and a LabelSelector elsewhere. */
function isTextMap(key: string, value: JsonObject): boolean {
  if (key !== "selector") return textMaps.has(key) && Object.values(value).every((each) => !isObject(each));
  return Object.keys(value).length > 0 && Object.values(value).every((each) => typeof each === "string");
}

function quantity(value: unknown): string {
  return parseQuantity(String(value)).toString();
}
