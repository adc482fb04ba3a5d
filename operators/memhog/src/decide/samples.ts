// Which samples count. observe/ drops what is no number; here we only refuse an age that is none, or from the future: no data is
// not zero, and a bad sample is not data (promise M2).
import type { Sample } from "../model/seen.ts";

export function newestOf(samples: readonly Sample[]): Sample | undefined {
  return samples.findLast(isUsable);
}

export function isUsable({ ageMs }: Sample): boolean {
  return ageMs >= 0 && Number.isFinite(ageMs);
}

export function isFresh(sample: Sample, freshForMs: number): boolean {
  return sample.ageMs <= freshForMs;
}
