import { AssertionError } from "node:assert";
import { expect, it } from "vitest";
import { ConfigError } from "../client/errors.ts";
import { PermanentError } from "./errors.ts";
import { isPanic } from "./panic.ts";

const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

it.each([
  { name: "a property of undefined", error: new TypeError("cannot read properties of undefined"), panic: true },
  { name: "a name that nobody declared", error: new ReferenceError("bucket is not defined"), panic: true },
  { name: "what a reconciler throws by hand", error: new Error("storage answered 503"), panic: false },
  { name: "an error of the reconciler's own", error: new (class QuotaError extends Error {})("no room"), panic: false },
  { name: "something that is no error", error: "hm", panic: true },
  {
    name: "Node's complaint about an argument",
    error: Object.assign(new TypeError("bad"), { code: "ERR_INVALID_ARG_TYPE" }),
    panic: true,
  },
  { name: "an assertion that does not hold", error: new AssertionError({ message: "hm" }), panic: true },
  {
    name: "a certificate for another name",
    error: Object.assign(new Error("no"), { code: "ERR_TLS_CERT_ALTNAME_INVALID" }),
    panic: false,
  },
  { name: "an error of ours", error: new ConfigError("expected a kubeconfig"), panic: false },
  { name: "an error that a reconciler chose", error: new PermanentError("no"), panic: false },
  { name: "an error of the system", error: refused, panic: false },
  { name: "a fetch that failed", error: new TypeError("fetch failed", { cause: refused }), panic: false },
  { name: "what was aborted", error: AbortSignal.abort().reason, panic: false },
])("$name: a panic? $panic", ({ error, panic }) => expect(isPanic(error)).toBe(panic));
