// The names of a kind. Kubernetes wants five of them; four follow from the one a person thinks of.
import { ResourceDefinitionError } from "./errors.ts";

interface Names {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** "Gordon" → "gordons", "AppMemory" → "appmemories", "Proxy" → "proxies", "Gateway" → "gateways", "Class" → "classes". */
export function pluralOf(kind: string): string {
  const singular = kind.toLowerCase();
  if (/(s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}

const dnsLabel = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const dnsName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;

/** Throws for names the API server would refuse, long before it is asked. */
export function checkNames(names: Names): void {
  const { group, version, kind, plural = pluralOf(kind) } = names;
  expect(/^[A-Z][A-Za-z0-9]{0,62}$/.test(kind), kind, "kind", "a CamelCase word", kind);
  expect(dnsName.test(group) && group.length <= 253, kind, "group", "a domain name like apps.example.com", group);
  expect(dnsLabel.test(version), kind, "version", "something like v1 or v1alpha1", version);
  for (const word of [plural, ...(names.shortNames ?? []), ...(names.categories ?? [])])
    expect(dnsLabel.test(word), kind, "plural, shortNames and categories", "lower-case words", word);
}

function expect(holds: boolean, kind: string, what: string, expected: string, found: string): void {
  if (!holds) throw new ResourceDefinitionError(`${kind}: expected ${what} to be ${expected}, found "${found}"`);
}
