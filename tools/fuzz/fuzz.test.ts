// A short run of `npm run fuzz`, with a fixed seed and a random one.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { top } from "../process.ts";
import { Finding, fuzz, type Target } from "./engine.ts";
import { httpTarget } from "./http-target.ts";
import { parserTarget } from "./parser-target.ts";

describe("S5: every HTTP server", () => {
  const seeds = [1, Math.floor(Math.random() * 2 ** 32)];
  it.each(seeds)("survives 1000 random requests (npm run fuzz -- http --inputs 1000 --seed %i)", async (seed) => {
    await using target = await httpTarget();
    expect((await fuzz(target, { seed, inputs: 1_000 })).findings).toEqual([]);
  });
});

describe("S3: every parser", () => {
  const seeds = [1, Math.floor(Math.random() * 2 ** 32)];
  it.each(seeds)("survives 1000 random texts (npm run fuzz -- parsers --inputs 1000 --seed %i)", async (seed) => {
    await using target = await parserTarget();
    expect((await fuzz(target, { seed, inputs: 1_000 })).findings).toEqual([]);
  });
});

describe("the fuzzer", () => {
  const nothing = { [Symbol.asyncDispose]: async () => {} };

  it("reports each kind of finding once, with an input that reproduces it", async () => {
    const target: Target = {
      ...nothing,
      attempt: async (random) => {
        if (random() < 0.1) throw new Finding(`small\n${random()}`);
      },
    };
    const { findings } = await fuzz(target, { seed: 7, inputs: 500 });
    expect(findings).toHaveLength(1);
    const again = await fuzz(target, { seed: 7, inputs: 1, first: findings[0]?.input ?? -1 });
    expect(again.findings).toEqual(findings);
  });

  it.each([["nowhere"], ["--inputs", "many"], ["--unknown"]])("exits with 2 for %s %s", (...args) => {
    const { status, stderr } = spawnSync(process.execPath, [join(top, "tools/fuzz.ts"), ...args.filter(Boolean)], {
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([2, expect.stringContaining("Usage: npm run fuzz")]);
  });
});
