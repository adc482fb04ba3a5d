// The server serves Events as core/v1 and as events.k8s.io/v1, and stores them as core/v1, which `kubectl describe` reads.
import { type ApiObject, objectAt, valueAt } from "../../json.ts";
import { type FieldError, invalid, required } from "../../server/field-error.ts";
import { ageOf, at, nameColumn, text, wide } from "../columns.ts";
import { builtIn, type KindEntry } from "../kind-entry.ts";
import { qualifiedNameErrors } from "../names.ts";

/** Field names in core/v1 and in events.k8s.io/v1. */
const renamedFields = {
  involvedObject: "regarding",
  message: "note",
  source: "deprecatedSource",
  firstTimestamp: "deprecatedFirstTimestamp",
  lastTimestamp: "deprecatedLastTimestamp",
  count: "deprecatedCount",
  reportingComponent: "reportingController",
} as const;

function renamed(object: ApiObject, names: ReadonlyMap<string, string>, apiVersion: string): ApiObject {
  const fields = Object.entries(object).map(([name, value]) => [names.get(name) ?? name, value] as const);
  return { ...(Object.fromEntries(fields) as ApiObject), apiVersion };
}

/** events.k8s.io/v1 omits an empty reporter, which core/v1 writes as "". */
function withoutEmptyReporter({ reportingController, reportingInstance, ...event }: ApiObject): ApiObject {
  const known = { ...(reportingController ? { reportingController } : {}), ...(reportingInstance ? { reportingInstance } : {}) };
  return { ...(event as ApiObject), ...known };
}

const toNew = new Map<string, string>(Object.entries(renamedFields));
const toOld = new Map(Object.entries(renamedFields).map(([old, now]) => [now, old] as const));

const related = (event: ApiObject) => objectAt(event, event.apiVersion === "v1" ? "involvedObject" : "regarding");
const source = (event: ApiObject) =>
  String(objectAt(event, "source").component || event.reportingComponent || event.reportingController || "");
const involved = (name: string) => (event: ApiObject) => String(related(event)[name] ?? "");

function firstSeen(event: ApiObject, now: number): string {
  const time = event.firstTimestamp ?? event.deprecatedFirstTimestamp ?? event.eventTime;
  return ageOf(time as string | undefined, now);
}

function lastSeen(event: ApiObject, now: number): string {
  const series = valueAt(event, "series", "lastObservedTime");
  const time = series ?? event.lastTimestamp ?? event.deprecatedLastTimestamp;
  return time ? ageOf(time as string, now) : firstSeen(event, now);
}

const types = ["Normal", "Warning"];

function validateNew(event: ApiObject): readonly FieldError[] {
  const { eventTime, reportingController = "", reportingInstance, action, type = "" } = event;
  if (!eventTime) return [required("eventTime"), ...typeErrors(type)];
  return [
    ...(reportingController ? [] : [required("reportingController")]),
    ...qualifiedNameErrors("reportingController", String(reportingController)),
    ...(reportingInstance ? [] : [required("reportingInstance")]),
    ...(action ? [] : [required("action")]),
    ...typeErrors(type),
  ];
}

function typeErrors(type: unknown): readonly FieldError[] {
  return types.includes(String(type)) ? [] : [invalid("type", type, `has invalid value: ${type}`)];
}

function validateOld(event: ApiObject): readonly FieldError[] {
  const about = related(event).namespace;
  const elsewhere = about !== undefined && about !== event.metadata.namespace;
  return elsewhere ? [invalid("involvedObject.namespace", about, "does not match event.namespace")] : [];
}

const common = {
  shortNames: ["ev"],
  createOnUpdate: true,
  columns: [
    text("Last Seen", lastSeen),
    text("Type", at(".type", "")),
    text("Reason", at(".reason", "")),
    text("Object", (event) => {
      const { kind, name } = related(event);
      return name ? `${String(kind).toLowerCase()}/${name}` : String(kind).toLowerCase();
    }),
    text("Subobject", (event) => String(related(event).fieldPath ?? ""), wide),
    text("Source", source, wide),
    text("Message", (event) => String(event.message ?? event.note ?? "").trim()),
    text("First Seen", firstSeen, wide),
    text("Count", (event) => Number(valueAt(event, "series", "count") ?? event.count ?? event.deprecatedCount ?? 1), wide),
    { ...nameColumn, priority: 1 },
  ],
  selectableFields: {
    "involvedObject.kind": involved("kind"),
    "involvedObject.namespace": involved("namespace"),
    "involvedObject.name": involved("name"),
    "involvedObject.uid": involved("uid"),
    "involvedObject.apiVersion": involved("apiVersion"),
    "involvedObject.resourceVersion": involved("resourceVersion"),
    "involvedObject.fieldPath": involved("fieldPath"),
    reason: (event: ApiObject) => String(event.reason ?? ""),
    reportingComponent: (event: ApiObject) => String(event.reportingComponent ?? event.reportingController ?? ""),
    source,
    type: (event: ApiObject) => String(event.type ?? ""),
  },
} satisfies Partial<KindEntry>;

export const coreEvents: KindEntry = builtIn("", "v1", "Event", {
  ...common,
  validate: validateOld,
});

export const events: KindEntry = builtIn("events.k8s.io", "v1", "Event", {
  ...common,
  storedAs: { group: "", plural: "events" },
  validate: validateNew,
  conversion: {
    fromStored: (objects) => objects.map((object) => withoutEmptyReporter(renamed(object, toNew, "events.k8s.io/v1"))),
    toStored: (object) => renamed(object, toOld, "v1"),
  },
});
