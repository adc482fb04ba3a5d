// The kinds that the server currently serves: built-in kinds and the versions of accepted CustomResourceDefinitions.
import type { KindEntry } from "./kind-entry.ts";

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

export class KindRegistry {
  readonly #entries = new Map<string, KindEntry>();

  constructor(entries: Iterable<KindEntry> = []) {
    for (const entry of entries) this.add(entry);
  }

  /** Adds or replaces a kind. */
  add(entry: KindEntry): void {
    this.#entries.set(keyOf(entry, entry.plural), entry);
  }

  remove(type: GroupVersion, plural: string): void {
    this.#entries.delete(keyOf(type, plural));
  }

  find(type: GroupVersion, plural: string): KindEntry | undefined {
    return this.#entries.get(keyOf(type, plural));
  }

  /** Finds an entry by apiVersion and kind: "apps/v1", "Deployment". */
  ofKind(apiVersion: string, kind: string): KindEntry | undefined {
    return this.all().find((entry) => entry.kind === kind && apiVersionOf(entry) === apiVersion);
  }

  all(): readonly KindEntry[] {
    return [...this.#entries.values()];
  }

  /** Groups in the order in which they were added, each with its versions, preferred version first. */
  groups(): ReadonlyMap<string, readonly string[]> {
    const groups = new Map<string, string[]>();
    for (const { group, version } of this.all()) {
      const versions = groups.get(group) ?? [];
      if (!versions.includes(version)) versions.push(version);
      groups.set(group, versions.sort(byPreference));
    }
    return groups;
  }
}

/** "v1", "apps/v1". */
export function apiVersionOf({ group, version }: GroupVersion): string {
  return group === "" ? version : `${group}/${version}`;
}

function keyOf({ group, version }: GroupVersion, plural: string): string {
  return `${group}/${version}/${plural}`;
}

/** Sorts v2, v1, v1beta2, v1beta1, v1alpha1, then all others alphabetically. */
export function byPreference(a: string, b: string): number {
  const [left, right] = [rankOf(a), rankOf(b)];
  if (left === undefined || right === undefined) return left === right ? (a < b ? -1 : 1) : left === undefined ? 1 : -1;
  return right.reduce((order, value, at) => order || value - (left[at] ?? 0), 0);
}

function rankOf(version: string): readonly number[] | undefined {
  const found = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (found === null) return undefined;
  const [, major, stage, minor] = found;
  return [stage === undefined ? 2 : stage === "beta" ? 1 : 0, Number(major), Number(minor ?? 0)];
}
