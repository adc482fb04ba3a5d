// Deterministic names that the API server accepts. A child's name is derived from its owner's, so a reconciler that
// crashed after a create finds the child instead of creating another. Valid names stay unchanged. Other names are
// shortened and end with a hash of the full input, so that long names that differ only at the end stay distinct.
//
//     dnsLabel("web", "autoscaled")           web-autoscaled
//     dnsLabel("Über_größe")                  ber-gr-e-nmck8vkhtm        (invalid characters)
//     dnsLabel("a".repeat(80), "backup")      aaaa…aaaa-hpp48vzptv       (63 characters)
import { createHash } from "node:crypto";

const labelPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const labelValuePattern = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
/** No vowels or similar characters, as in the API server's generated names, so that no words appear by accident. */
const hashAlphabet = "bcdfghjklmnpqrstvwxz2456789";
const hashLength = 10;

/** A DNS-1123 label: at most 63 characters of a-z, 0-9 and inner "-". Most names must be one. */
export function isDnsLabel(name: string): boolean {
  return name.length <= 63 && labelPattern.test(name);
}

/** A DNS-1123 subdomain: labels joined by dots, at most 253 characters, for names of pods, CRDs, … */
export function isDnsSubdomain(name: string): boolean {
  return name.length <= 253 && subdomainPattern.test(name);
}

export function isLabelValue(value: string): boolean {
  return value.length <= 63 && labelValuePattern.test(value);
}

/** A qualified name, "example.com/name" or "name", for label and annotation keys and finalizers. */
export function isQualifiedName(name: string): boolean {
  const slash = name.indexOf("/");
  const local = name.slice(slash + 1);
  return local !== "" && isLabelValue(local) && (slash < 0 || isDnsSubdomain(name.slice(0, slash)));
}

/** Joins the parts by "-" into a DNS-1123 label. ("a-b", "c") and ("a", "b-c") give the same name. */
export function dnsLabel(...parts: readonly string[]): string {
  return fit(parts.join("-"), { valid: isDnsLabel, maxLength: 63, invalid: /[^a-z0-9-]+/g });
}

/** Joins the parts by "-" into a DNS-1123 subdomain: keeps dots, and allows 253 characters. */
export function dnsSubdomain(...parts: readonly string[]): string {
  return fit(parts.join("-"), { valid: isDnsSubdomain, maxLength: 253, invalid: /[^a-z0-9-.]+|(?<=[.-])\.|\.(?=[.-])/g });
}

/** Converts a text to a label value. Object names can be too long for one. */
export function labelValue(text: string): string {
  return fit(text, { valid: isLabelValue, maxLength: 63, invalid: /[^A-Za-z0-9-_.]+/g });
}

interface Rule {
  readonly valid: (name: string) => boolean;
  readonly maxLength: number;
  /** Replaced by "-". */
  readonly invalid: RegExp;
}

function fit(wish: string, { valid, maxLength, invalid }: Rule): string {
  if (valid(wish)) return wish;
  const lowered = valid("A") ? wish : wish.toLowerCase();
  const room = maxLength - hashLength - 1;
  const readable = lowered
    .replace(invalid, "-")
    .slice(0, room)
    .replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, "");
  const name = readable === "" ? hashOf(wish) : `${readable}-${hashOf(wish)}`;
  return valid(name) ? name : hashOf(wish);
}

/** A hash of ten characters. */
function hashOf(text: string): string {
  let rest = createHash("sha256").update(text).digest().readBigUInt64BE();
  const base = BigInt(hashAlphabet.length);
  const characters = Array.from({ length: hashLength }, () => {
    const character = hashAlphabet.charAt(Number(rest % base));
    rest /= base;
    return character;
  });
  return characters.join("");
}

/** The recommended labels: https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/ */
export interface RecommendedLabels {
  /** The application, for example "memcached". */
  readonly name: string;
  /** The name of the custom resource. */
  readonly instance: string;
  /** The component within the application, for example "database". */
  readonly component?: string;
  /** The application that this one is part of, for example "wordpress". */
  readonly partOf?: string;
  /** The operator. */
  readonly managedBy?: string;
  /** Never use the version in a selector: selectors are immutable, versions change. */
  readonly version?: string;
}

/** The `app.kubernetes.io/…` labels of an object. Shortens values that are too long for a label. */
export function recommendedLabels(labels: RecommendedLabels): Readonly<Record<string, string>> {
  const { component, partOf, managedBy, version } = labels;
  const optional = { component, "part-of": partOf, "managed-by": managedBy, version };
  const given = Object.entries(optional).flatMap(([key, value]) =>
    value === undefined ? [] : [[`app.kubernetes.io/${key}`, labelValue(value)] as const],
  );
  return { ...identityLabels(labels), ...Object.fromEntries(given) };
}

/** The labels to select by: name and instance, which never change. */
export function identityLabels({
  name,
  instance,
}: Pick<RecommendedLabels, "name" | "instance">): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/name": labelValue(name), "app.kubernetes.io/instance": labelValue(instance) };
}
