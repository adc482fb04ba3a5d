// Amounts of memory in whole bytes. A number is exact up to 2^53 bytes (8 PiB); the branded type and its one constructor keep NaN,
// fractions and negative numbers out.
import { parseQuantity } from "@memhog/runtime";
import { quantityOf } from "@memhog/runtime/objects";

declare const isBytes: unique symbol;
/** A whole number of bytes, from 0 to 2^53 - 1. */
export type Bytes = number & { readonly [isBytes]: true };

/** Not a number of bytes. */
class BytesError extends RangeError {
  readonly code = "MEMHOG_BYTES";
  override readonly name = "BytesError";
}

/** @throws BytesError */
export function bytes(value: number): Bytes {
  if (!Number.isSafeInteger(value) || value < 0) throw new BytesError(`expected a whole number of bytes, found ${value}`);
  return value as Bytes;
}

const KiB = 1024;
export const MiB = 1024 * KiB;
export const mib = (count: number): Bytes => bytes(Math.round(count * MiB));

/** From a quantity as pods have it: "384Mi", "1.5Gi", 402653184. Fractions of a byte are rounded up, as Kubernetes does. */
export function bytesOf(quantity: string | number): Bytes {
  return bytes(Number(parseQuantity(quantity).value()));
}

/** As Kubernetes writes it: "384Mi". */
export function quantityText(value: Bytes): string {
  return quantityOf(BigInt(value), "BinarySI").toString();
}

/** For people: "288.5Mi" rather than "302514176". */
export function readable(value: number): string {
  if (value >= 10 * 1024 * MiB) return `${trim(value / MiB / 1024)}Gi`;
  if (value >= MiB) return `${trim(value / MiB)}Mi`;
  return value >= KiB ? `${trim(value / KiB)}Ki` : `${Math.round(value)}`;
}

const trim = (value: number) => String(Number(value.toFixed(1)));

/** Multiplied and rounded up to whole MiB (KiB below 1 MiB), since people read it in manifests. */
export function times(value: Bytes, factor: number): Bytes {
  const unit = value >= MiB ? MiB : KiB;
  // 1.1 × 100Mi is 110.00000000000001Mi in floating point and must not become 111Mi.
  return bytes(Math.ceil((value * factor) / unit - 1e-9) * unit);
}

/** Rounded down to whole MiB. */
export function floorToMiB(value: number): Bytes {
  return bytes(Math.max(0, Math.floor(value / MiB)) * MiB);
}

export const smaller = (a: Bytes, b: Bytes): Bytes => (a < b ? a : b);
export const larger = (a: Bytes, b: Bytes): Bytes => (a > b ? a : b);
