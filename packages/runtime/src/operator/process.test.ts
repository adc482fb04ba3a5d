import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/** Runs code that may call `work` and `save` in a process; returns the size of its young generation at the end, in MiB. */
async function youngGenerationAfter(doings: string): Promise<number> {
  const script = `
    import { getHeapSpaceStatistics } from "node:v8";
    import { thisProcess } from ${JSON.stringify(join(import.meta.dirname, "process.ts"))};
    const save = () => thisProcess().saveMemory();
    const work = () => {
      let kept = [];
      for (let i = 0; i < 1_000_000; i += 1) {
        kept.push({ i, list: [i] });
        if (kept.length > 20_000) kept = kept.slice(10_000);
      }
    };
    ${doings}
    console.log(getHeapSpaceStatistics().find((space) => space.space_name === "new_space").space_size / 2 ** 20);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  return Number(stdout);
}

it.each([
  { name: "keeps its young generation small", doings: "save(); work();" },
  { name: "shrinks a young generation that has grown before", doings: "work(); save();" },
])("a process that saves memory $name", async ({ doings }) => {
  const usual = await youngGenerationAfter("work();");
  expect(usual).toBeGreaterThanOrEqual(4 * (await youngGenerationAfter(doings)));
});
