import { expect, it } from "vitest";
import { DeadlineExceededError } from "./abort.ts";
import { isForeseen } from "./coded.ts";

const coded = (code: unknown) => Object.assign(new Error("…"), { code });

it.each([
  { name: "one of ours", error: new DeadlineExceededError("a call", 5), foreseen: true },
  { name: "a file that is not there", error: coded("ENOENT"), foreseen: true },
  { name: "a mistake in a program", error: new TypeError("x is not a function"), foreseen: false },
  { name: "a mistake that Node found", error: coded("ERR_INVALID_ARG_TYPE"), foreseen: false },
  { name: "a code that is a number", error: coded(20), foreseen: false },
  { name: "something that is no error", error: "what?", foreseen: false },
])("$name: foreseen? $foreseen", ({ error, foreseen }) => expect(isForeseen(error)).toBe(foreseen));
