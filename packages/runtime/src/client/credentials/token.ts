// A token goes out in a header. What cannot (several lines, bytes that are no text) is found here, by name: undici would complain of
// "invalid authorization header", and after that answer nobody on that connection any more.

/** What is there instead of a token; undefined: it is one. */
export function foundInsteadOfToken(text: unknown): string | undefined {
  if (typeof text !== "string") return "something else";
  if (text.trim() === "") return "nothing";
  return /\p{Cc}/u.test(text.trim()) ? "several lines, or what is no text" : undefined;
}
