// The nearest thing to a panic of Go that JavaScript has: an error of the language, such as a property of undefined. What a
// reconciler throws by hand, `throw new Error("storage answered 503")`, is what `fmt.Errorf` is there: an error like any other.
import { AssertionError } from "node:assert";
import { isForeseen } from "../concurrency/coded.ts";

const mistakes = [TypeError, ReferenceError, RangeError, AssertionError];

export function isPanic(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  // "fetch failed" is a TypeError, and only its cause says that a connection was refused.
  return mistakes.some((mistake) => error instanceof mistake) && !isForeseen(error) && !isForeseen(error.cause);
}
