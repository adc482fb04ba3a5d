import { expect, it } from "vitest";
import { ConfigError } from "../client/errors.ts";
import { FlagError } from "./errors.ts";
import { exitCodeFor, main } from "./main.ts";

// That the rest is one line is seen where a program is started: tools/pack.test.ts.
it("a command line that is not understood is told from the rest by its exit code", () => {
  expect([exitCodeFor(new FlagError("x")), exitCodeFor(new ConfigError("x"))]).toEqual([2, 1]);
});

it("what the program itself got wrong is no line for people: it is thrown, with its stack", async () => {
  const bug = new TypeError("cannot read properties of undefined");
  await expect(main("gordon-operator", () => Promise.reject(bug))).rejects.toBe(bug);
});
