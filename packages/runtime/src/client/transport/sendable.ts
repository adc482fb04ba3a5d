// What can be sent at all. Undici looks at it too, but late: with HTTP/2 one request that it refuses for a header or a path leaves its
// connection behind as busy, and whoever comes next waits there until its deadline (seen on 8.12).

/** Printable ASCII and everything above it, which is how UTF-8 looks (header-bytes.ts). */
const value = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
const name = /^[!#$%&'*+\-.^_`|~\w]+$/;
const target = /^\/[\u0021-\u00ff]*$/;

/** @throws TypeError that does not repeat what may be secret */
export function expectSendable(path: string, headers: Readonly<Record<string, string | string[]>>): void {
  if (!target.test(path)) throw new TypeError("expected a path that begins with / and is escaped, found another one");
  for (const [header, values] of Object.entries(headers)) {
    if (!name.test(header)) throw new TypeError("expected the name of a header, found something else");
    if (![values].flat().every((each) => value.test(each)))
      throw new TypeError(`the header ${header}: expected one line of text, found something else`);
  }
}
