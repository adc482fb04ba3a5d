// What a real Prometheus (2.42) was told and what it answered, written down, so that a machine without one can hold ours
// to it. To write it again: UPDATE_GOLDEN=1 npm run test:real -- prometheus
import { readFile, writeFile } from "node:fs/promises";
import type { Story } from "./two-worlds.fixture.ts";

export interface Golden {
  readonly story: Story;
  /** When it was asked, as in the query. */
  readonly time: string;
  /** By query, in the form of `comparable`. */
  readonly answers: Readonly<Record<string, object>>;
}

const file = new URL("generated/real-answers.json", import.meta.url);

export async function readGolden(): Promise<Golden> {
  return JSON.parse(await readFile(file, "utf8")) as Golden;
}

export async function writeGolden(golden: Golden): Promise<void> {
  await writeFile(file, `${JSON.stringify(golden, undefined, 1)}\n`);
}
