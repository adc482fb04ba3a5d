// Validation of names, labels, and annotations.
import { type ApiObject, objectAt } from "../json.ts";
import { type FieldError, invalid, required, tooLong } from "../server/field-error.ts";
import type { NameRule } from "./kind-entry.ts";

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedPart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const qualifiedText =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const labelValueText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const configKeyText =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

const maxAnnotationBytes = 256 * 1024;

/** Validates a name. The messages are those of the API server. */
export function problemsOfName(name: string, rule: NameRule): readonly string[] {
  if (rule === "label") return problemsOfLabel(name);
  if (rule === "subdomain") return problemsOf(name, subdomain, subdomainText, 253);
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((sign) => name.includes(sign)).map((sign) => `may not contain '${sign}'`);
}

function problemsOfLabel(name: string): readonly string[] {
  return name.includes(".") ? ["must not contain dots"] : problemsOf(name, label, labelText, 63);
}

/** Validates the name of a container, volume, or port: a DNS label. */
export function dnsLabelErrors(field: string, name: string): readonly FieldError[] {
  return problemsOf(name, label, labelText, 63).map((problem) => invalid(field, name, problem));
}

/** Validates keys of ConfigMaps and Secrets. */
export function configKeyErrors(field: string, keys: readonly string[]): readonly FieldError[] {
  return keys.filter((key) => !/^[-._a-zA-Z0-9]+$/.test(key)).map((key) => invalid(`${field}[${key}]`, key, configKeyText));
}

function problemsOf(name: string, pattern: RegExp, explanation: string, maxLength: number): readonly string[] {
  return [
    ...(name.length > maxLength ? [`must be no more than ${maxLength} characters`] : []),
    ...(pattern.test(name) ? [] : [explanation]),
  ];
}

/** Validates the metadata of any kind. */
export function metadataErrors({ metadata }: ApiObject, rule: NameRule, prefix = "metadata"): readonly FieldError[] {
  const { name, generateName } = metadata;
  const nameless = name === undefined && generateName === undefined;
  const nameErrors = nameless
    ? [required(`${prefix}.name`, "name or generateName is required")]
    : problemsOfName(name ?? "", rule).map((problem) => invalid(`${prefix}.name`, name, problem));
  return [
    ...nameErrors,
    ...labelErrors(`${prefix}.labels`, objectAt(metadata, "labels")),
    ...annotationErrors(`${prefix}.annotations`, objectAt(metadata, "annotations")),
    ...finalizerErrors(`${prefix}.finalizers`, metadata.finalizers ?? []),
    ...ownerErrors(`${prefix}.ownerReferences`, metadata.ownerReferences ?? []),
  ];
}

export function labelErrors(field: string, labels: object): readonly FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedNameErrors(field, key),
    ...problemsOf(String(value), labelValue, labelValueText, 63).map((problem) => invalid(field, value, problem)),
  ]);
}

function annotationErrors(field: string, annotations: object): readonly FieldError[] {
  const bytes = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + Buffer.byteLength(String(value)), 0);
  return [
    ...Object.keys(annotations).flatMap((key) => qualifiedNameErrors(field, key.toLowerCase(), key)),
    ...(bytes > maxAnnotationBytes ? [tooLong(field, maxAnnotationBytes)] : []),
  ];
}

/** Validates "example.com/name" or "name". */
export function qualifiedNameErrors(field: string, key: string, shown = key): readonly FieldError[] {
  const slash = key.lastIndexOf("/");
  const local = key.slice(slash + 1);
  const prefix = slash < 0 ? [] : problemsOf(key.slice(0, slash), subdomain, subdomainText, 253);
  return [
    ...prefix.map((problem) => `prefix part ${problem}`),
    ...(local === "" ? ["name part must be non-empty"] : []),
    ...problemsOf(local, qualifiedPart, qualifiedText, 63),
  ].map((problem) => invalid(field, shown, problem));
}

const standardFinalizers = ["kubernetes", "orphan", "foregroundDeletion"];

/** Built-in kinds require qualified finalizer names; custom resources do not. */
export function unqualifiedFinalizerErrors({ metadata }: ApiObject): readonly FieldError[] {
  const problem = "name is neither a standard finalizer name nor is it fully qualified";
  return (metadata.finalizers ?? []).flatMap((each, at) =>
    each.includes("/") || standardFinalizers.includes(each) ? [] : [invalid(`metadata.finalizers[${at}]`, each, problem)],
  );
}

function finalizerErrors(field: string, finalizers: readonly string[]): readonly FieldError[] {
  const both = ["orphan", "foregroundDeletion"].every((each) => finalizers.includes(each));
  return [
    ...finalizers.flatMap((each) => qualifiedNameErrors(field, each)),
    ...(both ? [invalid(field, finalizers, "finalizer orphan and foregroundDeletion cannot be both set")] : []),
  ];
}

const ownerFields = ["apiVersion", "kind", "name", "uid"] as const;

function ownerErrors(field: string, owners: NonNullable<ApiObject["metadata"]["ownerReferences"]>): readonly FieldError[] {
  const [first, second] = owners.filter(({ controller }) => controller === true).map(({ kind, name }) => `${kind}/${name}`);
  const several = `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${second}`;
  return [
    ...owners.flatMap((owner, at) => missingIn(owner, `${field}[${at}]`)),
    ...(second === undefined ? [] : [invalid(field, owners, several)]),
  ];
}

function missingIn(owner: Partial<Record<(typeof ownerFields)[number], string>>, field: string): readonly FieldError[] {
  return ownerFields.filter((each) => !owner[each]).map((each) => required(`${field}.${each}`, "must not be empty"));
}
