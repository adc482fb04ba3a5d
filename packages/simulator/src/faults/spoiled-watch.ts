// The events of a watch, with a fault among them.
import { TransportError } from "@memhog/runtime";
import type { Fault } from "./fault.ts";

type Bytes = AsyncIterable<Uint8Array>;

export function broken(what: string): TransportError {
  return new TransportError(`${what} (a fault of the plan)`, { outcome: "unknown" });
}

export function spoiled(body: Bytes, fault: Fault | undefined): Bytes {
  if (fault?.kind === "duplicate") return mapped(body, (line) => [line, line]);
  if (fault?.kind === "miss") return missing(body, fault.every);
  if (fault?.kind === "end") return ended(body, fault);
  return body;
}

/** The body until the signal aborts; then it breaks, as when the server's process has gone. */
export async function* brokenBy(body: Bytes, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
  const iterator = body[Symbol.asyncIterator]();
  const gone = Promise.withResolvers<never>();
  const fail = () => gone.reject(broken("the server restarts"));
  signal.addEventListener("abort", fail, { once: true });
  gone.promise.catch(() => {});
  try {
    for (;;) {
      const { value, done } = await Promise.race([iterator.next(), gone.promise]);
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", fail);
    // Not awaited: an iterator that is waiting for its next event would answer only then.
    void iterator.return?.();
  }
}

async function* mapped(body: Bytes, lines: (line: string) => readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const line of linesOf(body)) for (const one of lines(line)) yield encoded(one);
}

function missing(body: Bytes, every: number): Bytes {
  let count = 0;
  return mapped(body, (line) => {
    count += 1;
    return count % every === 0 ? [] : [line];
  });
}

async function* ended(
  body: Bytes,
  { afterEvents, how }: Extract<Fault, { kind: "end" }>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let left = afterEvents;
  if (left > 0)
    for await (const line of linesOf(body)) {
      yield encoded(line);
      left -= 1;
      if (left === 0) break;
    }
  if (how === "reset") throw broken("the watch was cut off");
  if (how === "expire") yield encoded(expired);
}

const expired = JSON.stringify({
  type: "ERROR",
  object: {
    ...{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" },
    ...{ message: "too old resource version (a fault of the plan)", reason: "Expired", code: 410 },
  },
});

const encoder = new TextEncoder();
const encoded = (line: string) => encoder.encode(`${line}\n`);

export async function* linesOf(body: Bytes): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
