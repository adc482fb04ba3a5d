// No answer: what that means to whoever asked.
import { TransportError } from "../errors.ts";
import type { TransportRequest } from "./transport.ts";

/** Only what was sent is unknown; before, it surely did not happen. */
export function failureOf(
  { method, path }: Pick<TransportRequest, "method" | "path">,
  { sent, cause }: { readonly sent: boolean; readonly cause: Error },
): TransportError {
  const expected = sent ? "an answer" : "a connection";
  const outcome = sent ? "unknown" : "not-sent";
  return new TransportError(`${method} ${path}: expected ${expected}, found ${described(cause)}`, { outcome, cause });
}

/** With several addresses tried, Node's error has no message of its own, only those of the attempts. */
function described(error: Error): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map((each) => described(each)).join("; ");
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name);
}
