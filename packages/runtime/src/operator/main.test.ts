import { expect, it } from "vitest";
import { ConfigError } from "../client/errors.ts";
import { AddressError, FlagError } from "./errors.ts";
import { exitCodeFor, isForPeople } from "./main.ts";

it.each([
  { name: "a flag that nobody knows", error: new FlagError("expected a flag I know"), people: true },
  { name: "no kubeconfig", error: new ConfigError("expected a kubeconfig"), people: true },
  { name: "a port that is taken", error: new AddressError("expected to be able to listen"), people: true },
  { name: "a file that is not there", error: Object.assign(new Error("no such file"), { code: "ENOENT" }), people: true },
  { name: "a mistake in a program", error: new TypeError("x is not a function"), people: false },
  { name: "a mistake that Node found", error: Object.assign(new Error("bad"), { code: "ERR_INVALID_ARG_TYPE" }), people: false },
  { name: "something that is no error", error: "what?", people: false },
])("$name: one line for people? $people", ({ error, people }) => expect(isForPeople(error)).toBe(people));

it("a bad command line is told from the rest by its exit code", () => {
  expect([exitCodeFor(new FlagError("x")), exitCodeFor(new ConfigError("x"))]).toEqual([2, 1]);
});
