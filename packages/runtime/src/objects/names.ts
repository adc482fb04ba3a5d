// Names that the API server accepts, and that are the same each time: a child's name follows from its owner's, so a
// reconciler that crashed after a create finds what it made instead of making another. What fits and is valid stays as
// it is; what does not is shortened and ends in a hash of what was asked for, so two long names that differ at the very
// end still differ.
//
//     dnsLabel("web", "autoscaled")           web-autoscaled
//     dnsLabel("Über_größe")                  ber-gr-e-nmck8vkhtm        (invalid characters)
//     dnsLabel("a".repeat(80), "backup")      aaaa…aaaa-hpp48vzptv       (63 characters)
import { createHash } from "node:crypto";

const labelPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const labelValuePattern = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
/** No vowels and nothing that looks like them, as the API server's own generated names: no word appears by accident. */
const hashAlphabet = "bcdfghjklmnpqrstvwxz2456789";
const hashLength = 10;

/** Whether this is a DNS-1123 label: at most 63 characters of a-z, 0-9 and inner "-". Most names must be one. */
export function isDnsLabel(name: string): boolean {
  return name.length <= 63 && labelPattern.test(name);
}

/** Whether this is a DNS-1123 subdomain: labels joined by dots, at most 253 characters. Names of pods, CRDs, … */
export function isDnsSubdomain(name: string): boolean {
  return name.length <= 253 && subdomainPattern.test(name);
}

/** Whether a label may have this value. */
export function isLabelValue(value: string): boolean {
  return value.length <= 63 && labelValuePattern.test(value);
}

/** Whether this is a qualified name, "example.com/name" or "name": label and annotation keys, finalizers. */
export function isQualifiedName(name: string): boolean {
  const slash = name.indexOf("/");
  const local = name.slice(slash + 1);
  return local !== "" && isLabelValue(local) && (slash < 0 || isDnsSubdomain(name.slice(0, slash)));
}

/** The parts joined by "-" as a DNS-1123 label. Parts are joined as they are: ("a-b", "c") and ("a", "b-c") are one name. */
export function dnsLabel(...parts: readonly string[]): string {
  return fit(parts.join("-"), { valid: isDnsLabel, maxLength: 63, invalid: /[^a-z0-9-]+/g });
}

/** The parts joined by "-" as a DNS-1123 subdomain: dots may stay, and there is room for 253 characters. */
export function dnsSubdomain(...parts: readonly string[]): string {
  return fit(parts.join("-"), { valid: isDnsSubdomain, maxLength: 253, invalid: /[^a-z0-9-.]+|(?<=[.-])\.|\.(?=[.-])/g });
}

/** A text as the value of a label; names of objects may be too long for one. */
export function labelValue(text: string): string {
  return fit(text, { valid: isLabelValue, maxLength: 63, invalid: /[^A-Za-z0-9-_.]+/g });
}

interface Rule {
  readonly valid: (name: string) => boolean;
  readonly maxLength: number;
  /** What is replaced by "-". */
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

/** Ten characters that depend on every character of the text. */
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
