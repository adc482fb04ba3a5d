// Headers are bytes, and HTTP stacks disagree about which: undici writes latin1, and refuses what has no place in it. Go, which is at
// the other end, reads and writes UTF-8: the user "jürgen" of a kubeconfig is that one to kubectl, and must be to us.

type Headers = Record<string, string | string[]>;

/** The same values in UTF-8, a character for each byte: whoever writes them as latin1 writes UTF-8. */
export function inUtf8(headers: Readonly<Headers>): Headers {
  const encoded: Headers = {};
  for (const [name, value] of Object.entries(headers)) encoded[name] = Array.isArray(value) ? value.map(bytesOf) : bytesOf(value);
  return encoded;
}

function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}
