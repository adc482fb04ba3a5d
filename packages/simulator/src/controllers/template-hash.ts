// The short name of a template: the same for the same template, and in letters that cannot spell anything.
//
// The real controllers hash how Go prints the template, which nobody else can; so theirs and ours differ. Nothing depends
// on it but names.

const letters = "bcdfghjklmnpqrstvwxz2456789";

/** A hash as it stands in names and in the label pod-template-hash. */
export function templateHash(template: unknown, collisionCount = 0): string {
  const text = `${sorted(template)}${collisionCount === 0 ? "" : collisionCount}`;
  return [...String(fnv1a(text))].map((digit) => letters[digit.charCodeAt(0) % letters.length]).join("");
}

/** FNV-1a, 32 bits. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** JSON with sorted keys: the order in which somebody wrote a template down is not part of it. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, each) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
