// The nearest thing to a panic of Go that JavaScript has: an error that nobody foresaw, such as a property of undefined.
import { isForeseen } from "../concurrency/coded.ts";

export function isPanic(error: unknown): boolean {
  // "fetch failed" is a TypeError, and only its cause says that a connection was refused; what is aborted is a DOMException.
  return !(isForeseen(error) || error instanceof DOMException || (error instanceof Error && isForeseen(error.cause)));
}
