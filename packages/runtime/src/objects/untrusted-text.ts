// Text that others wrote: answers of servers, messages in the status of objects, names in requests. Before it is shown, it is cut, loses
// the characters that control a terminal, and loses what looks like a credential.
//
// Redaction by pattern is the last line of defense, not the first. The first is not to repeat text that can quote an object: see
// `ApiError.summary`. Every expression here needs linear time: `untrusted-text.test.ts` runs each against 200 kB of its worst case.

/** C0, DEL and C1 can move the cursor or set the title of a terminal; bidirectional controls can make text read as another text. */
const controls = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** Text for one line of a log, an Event or a status: without control characters, and cut. */
export function oneLine(text: string, maxLength: number): string {
  // Cut first: a server can send megabytes.
  const clean = text
    .slice(0, maxLength * 2)
    .replace(controls, " ")
    .replace(/ {2,}/g, " ")
    .trim();
  return clean.length <= maxLength ? clean : `${clean.slice(0, maxLength - 1).toWellFormed()}…`;
}

/** Text for a terminal: line breaks and tabs stay, other control characters become visible. */
export function printable(text: string): string {
  return text.replace(controls, (control) => (control === "\n" || control === "\t" ? control : escaped(control)));
}

function escaped(control: string): string {
  return `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

const hidden = "[hidden]";

// A value ends at a quote or backslash, because these patterns are also applied to lines of JSON, which must stay JSON.
const credentials = [
  /\bBearer\s+[\w.~+/=-]{8,}/g,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, // a JSON web token
  /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^"\\]|\\[^"])*?(?:-----END [A-Z ]*PRIVATE KEY-----|(?=\\?(?:"|$)))/g,
  /(?<=:\/\/[^\s/:@"\\]{0,100}:)[^\s/@"\\]{1,1000}@/g, // the password of a URL
  /(?<=(?:passw(?:or)?d|api[_-]?key)\s{0,3}[=:]\s{0,3})[^\s"'`,;\\]+/gi,
  /(?<=(?:token|secret)\s{0,3}=\s{0,3})[^\s"'`,;\\]+/gi,
];

/** The text without anything that looks like a credential. */
export function withoutCredentials(text: string): string {
  return credentials.reduce((rest, pattern) => rest.replace(pattern, hidden), text);
}
