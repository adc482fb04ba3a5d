// The recorded input and responses of a real Prometheus (2.42), so that `npm test` can compare ours without one.
// To record again: UPDATE_GOLDEN=1 npm run test:real -- prometheus
import { readFile, writeFile } from "node:fs/promises";
import type { Story } from "./two-worlds.fixture.ts";

export interface Golden {
  readonly story: Story;
  /** The evaluation time, as in the query. */
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
