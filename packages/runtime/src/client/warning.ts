// `Warning: 299 - "spec.foo: unknown field"`: how the API server speaks of deprecations and ignored fields.
import type { TransportResponse } from "./transport/transport.ts";

const form = /299 \S+ "((?:[^"\\]|\\.)*)"/g;

/** The texts of the warnings in an answer. */
export function warningsIn(headers: TransportResponse["headers"]): readonly string[] {
  const { warning } = headers;
  if (warning === undefined) return [];
  return [...warning.matchAll(form)].map(([, text = ""]) => text.replace(/\\(.)/g, "$1"));
}
