// What a program printed, and how it ended. A program that has ended may have left another one behind (a helper that keeps a
// login fresh), which holds its output open for as long as it likes: then it is enough that what was printed is whole.
import type { ChildProcess } from "node:child_process";

/** No credential is this large; a program that goes on printing is not a plugin. */
const maxOutputBytes = 1024 * 1024;

/** Its output in JSON, once it has ended well. Rejects with what is wrong: an Error if it did not start, a text if it failed. */
export async function jsonPrintedBy(child: ChildProcess, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  const text = () => Buffer.concat(chunks).toString("utf8");
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let bytes = 0;
  let exited = false;
  child.stdout?.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxOutputBytes) child.kill();
    else chunks.push(chunk);
    if (exited && isWhole(text())) resolve(text());
  });
  const onAbort = () => reject(signal.reason);
  child.on("error", (error) => reject(signal.aborted ? signal.reason : error));
  child.on("exit", (code, by) => {
    if (code !== 0) reject(new FailedError(`exit ${by ?? code}`));
    exited = true;
    if (isWhole(text())) resolve(text());
  });
  child.on("close", () => resolve(text()));
  signal.addEventListener("abort", onAbort, { once: true }); // a program that has ended cannot be told any more
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", onAbort);
    child.stdout?.destroy();
  }
}

/** It ran, and said no. */
export class FailedError extends Error {
  override readonly name = "FailedError";
}

/** The beginning of an object is never one. */
function isWhole(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
