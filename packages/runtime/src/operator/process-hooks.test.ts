import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/** Busy for a moment, in a process of its own; answers with the MiB of its young generation. */
async function youngGenerationAfter(before: string): Promise<number> {
  const script = `
    import { getHeapSpaceStatistics } from "node:v8";
    import { thisProcess } from ${JSON.stringify(join(import.meta.dirname, "process-hooks.ts"))};
    ${before}
    let kept = [];
    for (let i = 0; i < 1_000_000; i += 1) {
      kept.push({ i, list: [i] });
      if (kept.length > 20_000) kept = kept.slice(10_000);
    }
    console.log(getHeapSpaceStatistics().find((space) => space.space_name === "new_space").space_size / 2 ** 20);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  return Number(stdout);
}

it("a process that saves memory keeps its young generation small, which grows otherwise", async () => {
  const small = await youngGenerationAfter("thisProcess().saveMemory();");
  const usual = await youngGenerationAfter("");
  expect(usual).toBeGreaterThanOrEqual(4 * small);
});
