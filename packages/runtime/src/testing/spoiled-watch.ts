// The events of a watch, with a fault among them.
import { LineSplitter } from "../client/watch/lines.ts";
import type { Fault } from "./fault.ts";

const expired = JSON.stringify({
  type: "ERROR",
  object: {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "too old resource version (a fault of the test)",
    reason: "Expired",
    code: 410,
  },
});

/** What to write; or what to do to the connection ("cut": end it in the middle of a chunk). */
export type Piece = Uint8Array | string | "reset" | "silence" | "cut";

export async function* spoil(body: AsyncIterable<Uint8Array>, fault: Fault | undefined): AsyncGenerator<Piece, void, undefined> {
  if (fault?.kind === "watch") yield* stopAfter(body, fault);
  else if (fault?.kind === "duplicate") for await (const line of linesOf(body)) yield `${line}\n${line}\n`;
  else if (fault?.kind === "swallow") yield* leavingOut(body, fault.containing);
  else if (fault?.kind === "truncate") yield* firstBytes(body, fault.afterBytes);
  else yield* body;
}

async function* stopAfter(
  body: AsyncIterable<Uint8Array>,
  { afterEvents, ending }: Extract<Fault, { kind: "watch" }>,
): AsyncGenerator<Piece, void, undefined> {
  let left = afterEvents;
  if (left > 0 || ending === "truncate") {
    for await (const line of linesOf(body)) {
      if (left === 0) {
        yield line.slice(0, line.length / 2);
        break;
      }
      yield `${line}\n`;
      left -= 1;
      if (left === 0 && ending !== "truncate") break;
    }
  }
  if (ending === "expire") yield `${expired}\n`;
  if (ending === "reset" || ending === "silence") yield ending;
}

async function* firstBytes(body: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Piece, void, undefined> {
  let left = bytes;
  for await (const chunk of body) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) break;
  }
  yield "cut";
}

async function* leavingOut(body: AsyncIterable<Uint8Array>, text: string): AsyncGenerator<Piece, void, undefined> {
  for await (const line of linesOf(body)) if (!line.includes(text)) yield `${line}\n`;
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const lines = new LineSplitter("fault proxy", Number.POSITIVE_INFINITY);
  for await (const chunk of body) yield* lines.push(chunk);
}
