// The place where the next page of a list begins: the version that the first page saw, and the key behind the last object.
import { badRequest, type StatusError } from "./status-error.ts";

export interface Continuation {
  /** Of the first page; or `asOfNow`. */
  readonly version: bigint;
  /** Keys up to and including this one were delivered. */
  readonly after: string;
}

/** In place of a version that is forgotten: whoever goes on with it accepts pages of different moments. */
export const asOfNow = -1n;

const kind = "meta.k8s.io/v1";

export function encodeContinue({ version, after }: Continuation): string {
  return Buffer.from(JSON.stringify({ v: kind, rv: Number(version), start: `${after}\0` })).toString("base64url");
}

export function decodeContinue(token: string): Continuation {
  const text = Buffer.from(token, "base64url").toString();
  let parsed: { readonly v?: unknown; readonly rv?: unknown; readonly start?: unknown };
  try {
    parsed = JSON.parse(text);
  } catch {
    throw notValid(`invalid character '${text.charAt(0)}' looking for beginning of value`);
  }
  const { v, rv, start } = parsed;
  if (v !== kind) throw notValid(`server does not recognize this encoded version ${v ?? ""}`);
  if (typeof rv !== "number" || rv === 0) throw notValid(`incorrect encoded start resourceVersion (version ${kind})`);
  if (typeof start !== "string" || start === "") throw notValid("encoded start key empty (version meta.k8s.io/v1)");
  return { version: BigInt(rv), after: start.replace(/\0$/, "") };
}

function notValid(why: string): StatusError {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}
