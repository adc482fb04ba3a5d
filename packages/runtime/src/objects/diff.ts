// Compares objects as JSON. A property that is undefined counts as absent, as it would after serialization.

/** Whether two JSON values are equal. The order of properties does not matter. */
export function equals(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, at) => equals(item, b[at]));
  if (!isRecord(a) || !isRecord(b)) return false;
  return Object.keys({ ...a, ...b }).every((key) => equals(ownValue(a, key), ownValue(b, key)));
}

/**
 * Whether the actual value already has everything that is desired. Properties that are not desired are ignored, because
 * the server fills in defaults. Lists must have the same length; their elements are compared by the same rule.
 */
export function isSubset(desired: unknown, actual: unknown): boolean {
  if (desired === undefined || desired === actual) return true;
  if (Array.isArray(desired)) {
    return Array.isArray(actual) && desired.length === actual.length && desired.every((item, at) => isSubset(item, actual[at]));
  }
  if (!isRecord(desired) || !isRecord(actual)) return false;
  return Object.keys(desired).every((key) => isSubset(desired[key], ownValue(actual, key)));
}

export interface Difference {
  /** A JSON path, for example `$.spec.containers[0].image`. */
  readonly path: string;
  /** Undefined if the value was added. */
  readonly from: unknown;
  /** Undefined if the value was removed. */
  readonly to: unknown;
}

/** Lists where two JSON values differ, up to `limit` differences. The values may be secret: do not log them unchecked. */
export function differences(from: unknown, to: unknown, limit = 20): readonly Difference[] {
  return walk("$", from, to).take(limit).toArray();
}

/** For example "$.spec.replicas: 2 → 3". */
export function describeDifference({ path, from, to }: Difference): string {
  return `${path}: ${JSON.stringify(from) ?? "(none)"} → ${JSON.stringify(to) ?? "(none)"}`;
}

function* walk(path: string, from: unknown, to: unknown): Generator<Difference> {
  if (Array.isArray(from) && Array.isArray(to)) {
    for (let at = 0; at < Math.max(from.length, to.length); at += 1) yield* walk(`${path}[${at}]`, from[at], to[at]);
  } else if (isRecord(from) && isRecord(to)) {
    for (const key of Object.keys({ ...from, ...to })) yield* walk(path + step(key), ownValue(from, key), ownValue(to, key));
  } else if (!equals(from, to)) {
    yield { path, from, to };
  }
}

function step(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/**
 * A property of the record itself. Keys come from servers and users: `record["constructor"]` would find what every object inherits.
 */
export function ownValue<T>(record: Readonly<Record<PropertyKey, T>>, key: PropertyKey): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** A JSON object: neither null nor an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
