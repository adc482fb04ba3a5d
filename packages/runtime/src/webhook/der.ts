// The few words of DER (the binary form of ASN.1) that a certificate is written in. Only writing: reading certificates is
// Node's business. The library we would otherwise use took 22 MiB of resident memory in a bare Node process, where a whole
// idle operator may take 110, and wants the global Reflect patched; what a certificate needs of DER fits on this page.

/** One encoded value: tag, length, content. */
export type Der = Uint8Array;

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
};

export const sequence = (...items: readonly Der[]): Der => encode(tags.sequence, ...items);
export const set = (...items: readonly Der[]): Der => encode(tags.set, ...items);
export const octetString = (content: Uint8Array): Der => encode(tags.octetString, content);
export const utf8String = (text: string): Der => encode(tags.utf8String, Buffer.from(text, "utf8"));
export const yes: Der = encode(tags.boolean, Uint8Array.of(0xff));

/** `[n]` around whole values (EXPLICIT). */
export const explicit = (n: number, ...items: readonly Der[]): Der => encode(0xa0 | n, ...items);

/** `[n]` in place of the usual tag of a primitive value (IMPLICIT). */
export const implicit = (n: number, content: Uint8Array): Der => encode(0x80 | n, content);

/** A positive integer, most significant byte first. DER wants it as short as it can be, and its first bit clear. */
export function integer(bytes: Uint8Array): Der {
  const firstUsed = bytes.findIndex((byte) => byte !== 0);
  const shortest = firstUsed === -1 ? Uint8Array.of(0) : bytes.subarray(firstUsed);
  const negative = ((shortest[0] ?? 0) & 0x80) !== 0;
  return encode(tags.integer, ...(negative ? [Uint8Array.of(0), shortest] : [shortest]));
}

/** Bits, the last `unused` of which do not count. */
export function bitString(content: Uint8Array, unused = 0): Der {
  return encode(tags.bitString, Uint8Array.of(unused), content);
}

/** "2.5.29.17": the first two numbers share a byte, the others are written seven bits at a time. */
export function oid(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return encode(tags.oid, Uint8Array.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** RFC 5280: two digits of the year up to 2049, four from then on; whole seconds, always UTC. */
export function time(milliseconds: number): Der {
  const digits = new Date(milliseconds).toISOString().replace(/\.\d+/, "").replace(/[-:T]/g, "");
  const short = new Date(milliseconds).getUTCFullYear() < 2050;
  return encode(short ? tags.utcTime : tags.generalizedTime, Buffer.from(short ? digits.slice(2) : digits, "latin1"));
}

function encode(tag: number, ...contents: readonly Uint8Array[]): Der {
  const content = Buffer.concat(contents);
  return Buffer.concat([Uint8Array.of(tag, ...lengthOf(content.length)), content]);
}

/** Below 128 the length itself; from there on, how many bytes the length has, and the length. */
function lengthOf(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

function base128(value: number): readonly number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest % 128));
  return bytes;
}
