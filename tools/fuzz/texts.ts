// Random texts near the border of what a parser accepts: examples of its language, changed in a few places, and random JSON with names
// that cause trouble.
import { pick, type Random, whole } from "./engine.ts";

const pieces = [
  ...['"', "\\", "\\u", "\n", "\r\n", "\0", "\u001b[2J", "😀", "\ud800", "é", "{", "}", "[", "]", ",", ":", "null", "true", "-0"],
  ...[
    "1e999",
    "9".repeat(30),
    "0".repeat(200),
    " ".repeat(200),
    "!x ",
    "&a ",
    "*a",
    "__proto__",
    "constructor",
    "//",
    "%",
    "=",
    "-",
  ],
];

/** An example of the language with up to four changes. */
export function mutated(random: Random, examples: readonly string[]): string {
  let text = pick(random, examples);
  for (let changes = whole(random, 5); changes > 0; changes -= 1) text = changed(random, text, examples);
  return text;
}

function changed(random: Random, text: string, examples: readonly string[]): string {
  const [from, to] = [whole(random, text.length + 1), whole(random, text.length + 1)].toSorted((a, b) => a - b) as [
    number,
    number,
  ];
  const [before, after] = [text.slice(0, from), text.slice(from)];
  switch (whole(random, 6)) {
    case 0:
      return before + pick(random, pieces) + after;
    case 1:
      return before + text.slice(to);
    case 2:
      return text.slice(0, to) + text.slice(from); // repeats a part
    case 3:
      return before + pick(random, examples).slice(whole(random, 50));
    case 4:
      return before + text.slice(from, to).repeat(whole(random, 300)).slice(0, 20_000) + text.slice(to);
    default:
      return before + String.fromCharCode(whole(random, 0x300)) + after.slice(1);
  }
}

const names = [
  "metadata",
  "items",
  "name",
  "kind",
  "status",
  "spec",
  "__proto__",
  "constructor",
  "toString",
  "managedFields",
  "a",
  "",
];

/** Random JSON, with the names of Kubernetes and of what every JavaScript object inherits. */
export function randomJson(random: Random, depth = 4): unknown {
  const simple = [null, true, 0, -1, 1e21, 1.5, "", "canary", "2026-01-01T00:00:00Z", "1Gi", "x".repeat(whole(random, 100))];
  if (depth === 0 || random() < 0.3) return pick(random, simple);
  const length = whole(random, 5);
  const value = () => randomJson(random, depth - 1);
  if (random() < 0.4) return Array.from({ length }, value);
  return Object.fromEntries(Array.from({ length }, () => [pick(random, names), value()]));
}

/** The bytes of a text in up to four chunks, which may divide a character. */
export function chunksOf(random: Random, text: string): readonly Buffer[] {
  const bytes = Buffer.from(text);
  const cuts = Array.from({ length: whole(random, 4) }, () => whole(random, bytes.length + 1)).toSorted((a, b) => a - b);
  return [0, ...cuts].map((from, i) => bytes.subarray(from, cuts[i] ?? bytes.length));
}
