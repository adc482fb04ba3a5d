// Malformed HTTP requests: raw bytes, mostly slightly wrong, split into pieces or truncated.
import { pick, type Random, whole } from "./engine.ts";

/** Values that a server recognizes, so that inputs pass the first checks. */
export interface Dictionary {
  readonly paths: readonly string[];
  readonly queries: readonly string[];
  readonly bodies: readonly string[];
}

export interface RawRequest {
  /** Sent one after another, each in its own packet. */
  readonly pieces: readonly Buffer[];
  /** What the client does after the last piece. */
  readonly afterwards: "wait" | "end" | "reset";
}

export function randomRequest(random: Random, words: Dictionary): RawRequest {
  // Half of the requests are well-formed HTTP. Otherwise, Node's parser would reject most of them before our code sees
  // them.
  if (random() < 0.5) return { pieces: cut(random, properRequest(random, words)), afterwards: "wait" };
  const count = random() < 0.9 ? 1 : 1 + whole(random, 5);
  let bytes: Buffer = Buffer.concat(Array.from({ length: count }, () => oneRequest(random, words)));
  if (random() < 0.15) bytes = bytes.subarray(0, whole(random, bytes.length));
  if (random() < 0.1) bytes = flipped(random, bytes);
  if (random() < 0.02) bytes = noise(random, 1 + whole(random, 2000));
  return { pieces: cut(random, bytes), afterwards: pick(random, ["wait", "wait", "wait", "end", "end", "reset"] as const) };
}

function properRequest(random: Random, words: Dictionary): Buffer {
  const body = bodyOf(random, words);
  const query = Array.from({ length: whole(random, 3) }, () => pick(random, words.queries))
    .join("&")
    .replaceAll(" ", "+");
  const line = `${pick(random, methods)} ${pick(random, words.paths)}${query && `?${query}`} HTTP/1.1`;
  const headers = [
    "Host: localhost",
    "Connection: close",
    `Content-Type: ${pick(random, types)}`,
    `Accept: ${pick(random, accepts)}`,
  ];
  return Buffer.concat([Buffer.from(`${[line, ...headers, `Content-Length: ${body.length}`].join("\r\n")}\r\n\r\n`), body]);
}

function oneRequest(random: Random, words: Dictionary): Buffer {
  const body = bodyOf(random, words);
  const line = `${methodOf(random)} ${targetOf(random, words)} ${versionOf(random)}`;
  const headers = [hostOf(random), "Connection: close", ...headersOf(random), ...lengthOf(random, body.length)];
  const chunked = headers.some((header) => /^transfer-encoding: chunked/i.test(header));
  const end = random() < 0.97 ? "\r\n" : pick(random, ["\n", "\r", "\r\n\r\n", "\0"]);
  return Buffer.concat([
    Buffer.from(`${[line, ...headers].join(end)}\r\n\r\n`, "latin1"),
    chunked ? chunks(random, body) : random() < 0.03 ? Buffer.alloc(0) : body,
  ]);
}

const methods = ["GET", "GET", "GET", "POST", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
const oddMethods = ["TRACE", "CONNECT", "PROPFIND", "QUERY", "PRI", "get", "", "G\0T", "X".repeat(300)];
const methodOf = (random: Random) => (random() < 0.92 ? pick(random, methods) : pick(random, oddMethods));

const versions = ["HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/1.1 ", "http/1.1", "", "HTTP/1.1\0"];
const versionOf = (random: Random) => (random() < 0.95 ? "HTTP/1.1" : pick(random, versions));

const oddTargets = [
  ...[
    "//",
    "///",
    "//x/metrics",
    "/..",
    "/../../etc/passwd",
    "*",
    "",
    "x",
    "/%",
    "/%zz",
    "/%00",
    "/%c0%ae",
    "/\\",
    "/?",
    "/#",
    "?",
  ],
  ...[
    "http://",
    "http://[",
    "http://x",
    "https://localhost/",
    "http://x:99999/",
    "file:///",
    "localhost:80",
    "/a b",
    "/\u00e4",
    "/\x7f",
  ],
  ...["/__proto__", "/constructor", "/hasOwnProperty", "/..;/", "/./", "/%2e%2e/", "/%2f%2f"],
];

function targetOf(random: Random, { paths, queries }: Dictionary): string {
  if (random() < 0.15) return pick(random, oddTargets);
  if (random() < 0.02) return `/${"a".repeat(whole(random, 40_000))}`;
  let path = pick(random, paths);
  if (random() < 0.15) path = inserted(random, path, pick(random, ["/", "//", "%", "%2f", "..", "\0", "?", "#", "é", "/x"]));
  if (random() < 0.5) return path;
  const known = Array.from({ length: 1 + whole(random, 3) }, () => pick(random, queries));
  const odd = pick(random, ["__proto__=1", "a=%zz", "=", "&&", "x".repeat(200), "toString=1", "%", "a=1&a=2"]);
  return `${path}?${[...known, ...(random() < 0.2 ? [odd] : [])].join("&")}`;
}

const hosts = [
  "localhost",
  "localhost",
  "127.0.0.1:80",
  "[::1]",
  "rebound.example.org",
  "",
  "a b",
  "[",
  "x".repeat(5000),
  "localhost, x",
];
const hostOf = (random: Random) => `Host: ${random() < 0.8 ? "localhost" : pick(random, hosts)}`;

const types = [
  ...[
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/x-www-form-urlencoded",
    "text/plain",
  ],
  ...["application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json"],
  ...["application/apply-patch+yaml", "application/json;charset=x", "", ";", "application/json, application/json"],
];
const accepts = [
  ...[
    "application/json",
    "*/*",
    "application/vnd.kubernetes.protobuf",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
    ";=",
    ",",
  ],
  ...["application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "application/openmetrics-text"],
];
const oddHeaders = [
  ...["Expect: 100-continue", "Expect: x", "Upgrade: websocket", "Upgrade: h2c\r\nHTTP2-Settings: AAA", "Connection: upgrade"],
  ...[
    "Connection: keep-alive",
    "Transfer-Encoding: gzip",
    "TE: trailers",
    "X: \x01",
    "X\0: y",
    ": y",
    "X",
    " folded: x",
    "X: \xff\xfe",
  ],
  ...[
    "Host: again",
    "Content-Type: a\r\nContent-Type: b",
    "Cookie: a=b",
    "Range: bytes=0-",
    "If-Match: *",
    "Impersonate-User: x",
  ],
];

function headersOf(random: Random): readonly string[] {
  const headers: string[] = [];
  if (random() < 0.6) headers.push(`Content-Type: ${pick(random, types)}`);
  if (random() < 0.4) headers.push(`Accept: ${pick(random, accepts)}`);
  if (random() < 0.2) headers.push(pick(random, oddHeaders));
  if (random() < 0.01) headers.push(`X-Long: ${"x".repeat(whole(random, 40_000))}`);
  if (random() < 0.005) headers.push(...Array.from({ length: 3000 }, (_, at) => `X-${at}: y`));
  return headers;
}

function lengthOf(random: Random, length: number): readonly string[] {
  const chance = random();
  if (chance < 0.75) return length === 0 ? [] : [`Content-Length: ${length}`];
  if (chance < 0.87) return ["Transfer-Encoding: chunked"];
  const wrong = [length + 10, Math.max(0, length - 5), -1, 1e15, "1e3", "0x10", "", "+1", "1, 1", "99999999999999999999999"];
  return [`Content-Length: ${pick(random, wrong)}`, ...(random() < 0.2 ? ["Transfer-Encoding: chunked"] : [])];
}

function bodyOf(random: Random, { bodies }: Dictionary): Buffer {
  const chance = random();
  if (chance < 0.35) return Buffer.alloc(0);
  if (chance < 0.4) return noise(random, whole(random, 3000));
  if (chance < 0.43) return Buffer.concat([Buffer.from("k8s\0"), noise(random, whole(random, 300))]);
  if (chance < 0.45) return Buffer.from(pick(random, ["[", '{"a":']).repeat(whole(random, 20_000)));
  if (chance < 0.46) return Buffer.alloc(whole(random, 300_000), pick(random, ["x", "\xff", "\0", " "]), "latin1");
  const body = pick(random, bodies);
  if (chance < 0.7) return Buffer.from(body);
  if (chance < 0.8) return flipped(random, Buffer.from(body));
  return Buffer.from(reshaped(random, body));
}

const odd = [
  null,
  true,
  -1,
  1e308,
  0.5,
  "",
  "x".repeat(300),
  [],
  {},
  [null],
  { __proto__: null, a: [] },
  "2020-01-01T00:00:00Z",
  "-5Gi",
];

/** Replaces or removes a random value of the JSON. */
function reshaped(random: Random, body: string): string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return body.slice(0, whole(random, body.length));
  }
  const visit = (node: unknown): unknown => {
    if (random() < 0.06) return pick(random, odd);
    if (Array.isArray(node)) return node.flatMap((item) => (random() < 0.05 ? [item, item] : [visit(item)]));
    if (typeof node !== "object" || node === null) return node;
    const entries = Object.entries(node).filter(() => random() > 0.05);
    return Object.fromEntries(
      entries.map(([key, inner]) => [random() < 0.03 ? pick(random, ["__proto__", "", "x"]) : key, visit(inner)]),
    );
  };
  return JSON.stringify(visit(value));
}

function chunks(random: Random, body: Buffer): Buffer {
  const pieces = cut(random, body).map((piece) => {
    const size = random() < 0.95 ? piece.length.toString(16) : pick(random, ["-1", "ffffffffffffffff", "x", "", "5;ext=1"]);
    return Buffer.concat([Buffer.from(`${size}\r\n`), piece, Buffer.from("\r\n")]);
  });
  return Buffer.concat([
    ...pieces,
    Buffer.from(random() < 0.95 ? "0\r\n\r\n" : pick(random, ["0\r\n", "0\r\nX: y\r\n\r\n", ""])),
  ]);
}

function cut(random: Random, bytes: Buffer): readonly Buffer[] {
  if (random() < 0.75) return [bytes];
  const at = whole(random, bytes.length + 1);
  return [bytes.subarray(0, at), bytes.subarray(at)];
}

function flipped(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let count = 1 + whole(random, 4); count > 0 && copy.length > 0; count -= 1)
    copy[whole(random, copy.length)] = whole(random, 256);
  return copy;
}

function inserted(random: Random, text: string, what: string): string {
  const at = whole(random, text.length + 1);
  return text.slice(0, at) + what + text.slice(at);
}

function noise(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => whole(random, 256)));
}
