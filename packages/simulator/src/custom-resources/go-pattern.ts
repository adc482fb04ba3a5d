// Patterns of definitions are in the syntax of Go (RE2). What we use is nearly that of JavaScript; the rest is translated.

/** POSIX classes, as they stand inside brackets. */
const classes: Readonly<Record<string, string>> = {
  alpha: "a-zA-Z",
  digit: "0-9",
  alnum: "a-zA-Z0-9",
  upper: "A-Z",
  lower: "a-z",
  space: "\\s",
  punct: "!-\\/:-@\\[-`{-~",
  xdigit: "0-9a-fA-F",
  word: "\\w",
};

/** @throws SyntaxError */
export function goPattern(pattern: string): RegExp {
  const [, flags = "", rest = pattern] = /^\(\?([ims]+)\)(.*)$/s.exec(pattern) ?? [];
  const translated = rest
    .replace(/\[:(\w+):\]/g, (whole, name: string) => classes[name] ?? whole)
    .replaceAll("(?P<", "(?<")
    .replaceAll("\\A", "^")
    .replaceAll("\\z", "$");
  return new RegExp(translated, flags);
}
