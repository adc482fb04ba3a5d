// Sizes and speeds as they are written in manifests: 50Mi, 1.5Gi, 500M, 1048576; 1Mi/s, 30Mi/min. Of Kubernetes' spellings this
// reads those that people use for memory; it stands here, in a few lines, so that the hog needs no package beside itself.
import { BadQuantityError } from "./errors.ts";

export const mebibyte = 1024 * 1024;

const units: Readonly<Record<string, number>> = {
  "": 1,
  ...{ k: 1e3, M: 1e6, G: 1e9, T: 1e12 },
  ...{ Ki: 1024, Mi: mebibyte, Gi: 1024 * mebibyte, Ti: 1024 * 1024 * mebibyte },
};

/** "1.5Mi" → 1572864. Whole bytes, rounded up, as Kubernetes does. */
export function bytesOf(text: string, flag: string): number {
  const bytes = read(text);
  if (bytes === undefined) throw new BadQuantityError(flag, { expected: "a size such as 50Mi, 1.5Gi or 500M", found: text });
  return Math.ceil(bytes);
}

/** "1Mi/s" → 1048576, "30Mi/min" → 524288. Not rounded: a slow ramp adds up. */
export function bytesPerSecondOf(text: string, flag: string): number {
  const [, size = "", per] = /^(.*)\/(s|min)$/.exec(text) ?? [];
  const bytes = read(size);
  if (bytes === undefined || bytes === 0) {
    throw new BadQuantityError(flag, { expected: "a speed above zero such as 1Mi/s or 30Mi/min", found: text });
  }
  return per === "min" ? bytes / 60 : bytes;
}

function read(text: string): number | undefined {
  const [, digits, suffix = ""] = /^(\d+(?:\.\d+)?)([a-zA-Z]*)$/.exec(text) ?? [];
  const unit = Object.hasOwn(units, suffix) ? units[suffix] : undefined;
  const bytes = digits === undefined || unit === undefined ? Number.NaN : Number(digits) * unit;
  return bytes <= Number.MAX_SAFE_INTEGER ? bytes : undefined; // NaN is not
}

/** 129394278 → "123.4 MiB" */
export function inMebibytes(bytes: number): string {
  return `${(bytes / mebibyte).toFixed(1)} MiB`;
}
