// The bytes of protobuf: numbers of variable length, and fields that begin with their number and how they are written.
import type { Recent } from "./recent.ts";

/** How a field is written; the lower three bits of its tag. */
export const wireType = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** A place in a buffer. */
export interface Cursor {
  readonly buffer: Buffer;
  readonly page: Page;
  at: number;
}

/** What a buffer holds for a while. */
export interface Page {
  readonly buffer: Buffer;
  /** It holds something else now. */
  turned: boolean;
  /** What it held before. */
  readonly recent: Recent;
}

/** A number that is not negative and far below 2^53: tags, lengths. */
export function readUnsigned(cursor: Cursor): number {
  const { buffer } = cursor;
  let byte = buffer[cursor.at++] ?? 0;
  if (byte < 0x80) return byte;
  let value = byte & 0x7f;
  for (let scale = 0x80; byte >= 0x80 && scale < 2 ** 56; scale *= 0x80) {
    byte = buffer[cursor.at++] ?? 0;
    value += (byte & 0x7f) * scale;
  }
  return value;
}

/** A number that may be negative: then it takes ten bytes. */
export function readSigned(cursor: Cursor): number {
  const start = cursor.at;
  const value = readUnsigned(cursor);
  if (cursor.at - start < 8) return value;
  cursor.at = start;
  return Number(BigInt.asIntN(64, readLong(cursor)));
}

function readLong(cursor: Cursor): bigint {
  for (let shift = 0n, value = 0n; ; shift += 7n) {
    const byte = cursor.buffer[cursor.at++] ?? 0;
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80 || shift > 63n) return value;
  }
}

/** Moves behind a value of this type. */
export function skipValue(cursor: Cursor, type: number): void {
  if (type === wireType.varint) readSigned(cursor);
  else if (type === wireType.fixed64) cursor.at += 8;
  else if (type === wireType.fixed32) cursor.at += 4;
  else cursor.at = readUnsigned(cursor) + cursor.at;
}
