// The few words of DER (the binary form of ASN.1) that a certificate is written in; reading them is Node's business.
// The library one would reach for wants a polyfill of the global Reflect, and a dozen packages, for what fits on a page.

/** One encoded value: tag, length, content. */
export type Der = Buffer;

export const sequence = (...items: readonly Der[]): Der => encode(0x30, ...items);
export const set = (...items: readonly Der[]): Der => encode(0x31, ...items);
export const octetString = (content: Uint8Array): Der => encode(0x04, content);
export const utf8String = (text: string): Der => encode(0x0c, Buffer.from(text));
export const boolean = (value: boolean): Der => encode(0x01, Buffer.of(value ? 0xff : 0x00));

/** `[n]` around whole values (EXPLICIT). */
export const explicit = (n: number, ...items: readonly Der[]): Der => encode(0xa0 | n, ...items);

/** `[n]` in place of the usual tag of a primitive value (IMPLICIT). */
export const implicit = (n: number, content: Uint8Array): Der => encode(0x80 | n, content);

/** Bits, the last `unused` of which do not count. */
export const bitString = (content: Uint8Array, unused = 0): Der => encode(0x03, Buffer.of(unused), content);

/** A number from its bytes, which must begin with 0x01 to 0x7f: so it is positive and as short as it can be. */
export const integer = (...bytes: readonly number[]): Der => encode(0x02, Buffer.from(bytes));

/** "2.5.29.17": the first two numbers share a byte, the others are written seven bits at a time. */
export function oid(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return encode(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** Four digits of the year, whole seconds, UTC. RFC 5280 wants this form only from 2050 on, the short one before. */
export function time(at: Date): Der {
  const digits = at.toISOString().replace(/\.\d+/, "").replace(/[-:T]/g, "");
  return at.getUTCFullYear() < 2050 ? encode(0x17, Buffer.from(digits.slice(2))) : encode(0x18, Buffer.from(digits));
}

function encode(tag: number, ...contents: readonly Uint8Array[]): Der {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag, ...lengthOf(content.length)), content]);
}

/** Below 128 the length itself; from there on, how many bytes the length has, and the length. */
function lengthOf(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff);
  return [0x80 | bytes.length, ...bytes];
}

function base128(value: number): readonly number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f));
  return bytes;
}
