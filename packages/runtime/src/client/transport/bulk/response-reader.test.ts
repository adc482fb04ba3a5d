import { createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ResponseReader } from "./response-reader.ts";

interface Read {
  readonly heads: readonly { readonly status: number; readonly headers: Readonly<Record<string, string>> }[];
  readonly body: string;
  readonly over: boolean;
}

/** What is told of an answer that comes in such pieces; the connection closes behind it. */
function read(answer: string | Buffer, pieceBytes = 1e9, close = true): Read {
  const heads: Read["heads"][number][] = [];
  const body: Buffer[] = [];
  const reader = new ResponseReader({
    head: (status, headers) => heads.push({ status, headers }),
    body: (bytes, from, to) => body.push(Buffer.from(bytes.subarray(from, to))),
  });
  const bytes = Buffer.from(answer as string, "latin1");
  // As a socket does it: one buffer for every piece, with the rest of another behind it.
  const buffer = Buffer.alloc(Math.min(pieceBytes, bytes.length) + 10, "\n");
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const length = bytes.copy(buffer, 0, at, at + pieceBytes);
    reader.push(buffer, length);
  }
  if (close && !reader.over) reader.close();
  return { heads, body: Buffer.concat(body).toString("latin1"), over: reader.over };
}

const chunked =
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\nx-a:2\r\n\r\n4;x=y\r\nWiki\r\nB\r\npedia\r\n in\n\r\n0\r\nT: 1\r\n\r\n";

describe("an answer", () => {
  it.each([
    { name: "with a length", answer: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", body: "hello" },
    { name: "in chunks", answer: chunked, body: "Wikipedia\r\n in\n" },
    { name: "until the end of the connection", answer: "HTTP/1.0 200\r\n\r\nhello", body: "hello" },
    { name: "without a body", answer: "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", body: "" },
    { name: "that says that there is none", answer: "HTTP/1.1 204 No Content\r\n\r\n", body: "" },
    {
      name: "after a remark",
      answer: "HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 404 No\r\ncontent-length: 2\r\n\r\nno",
      body: "no",
    },
  ])("$name is the same however it is cut into pieces", ({ answer, body }) => {
    const whole = read(answer);
    expect(whole).toMatchObject({ body, over: true });
    expect(whole.heads).toHaveLength(1);
    for (let size = 1; size < answer.length; size += 1) expect(read(answer, size)).toEqual(whole);
  });

  it("has its headers in lower case, those of one name joined", () => {
    expect(read(chunked).heads).toEqual([{ status: 200, headers: { "transfer-encoding": "chunked", "x-a": "1, 2" } }]);
    expect(read("HTTP/1.1 204 N\r\n__proto__: x\r\nconstructor: y\r\n\r\n").heads[0]?.headers).toEqual(
      Object.fromEntries([
        ["__proto__", "x"],
        ["constructor", "y"],
      ]),
    );
  });

  it.each([
    { answer: "SSH-2.0-OpenSSH_9.2\r\n\r\n", found: /not HTTP/ },
    { answer: "HTTP/2 200\r\n\r\n", found: /not HTTP/ },
    { answer: "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", found: /header without a name/ },
    { answer: "HTTP/1.1 200 OK\r\ncontent-length: five\r\n\r\n", found: /content-length that is no number/ },
    { answer: "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n", found: /gzip, chunked instead of chunked/ },
    { answer: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n", found: /size of a chunk that is no number/ },
    { answer: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n", found: /longer than it said/ },
    { answer: `HTTP/1.1 200 OK\r\nx: ${"y".repeat(70_000)}\r\n\r\n`, found: /a line of more than/ },
    { answer: `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(20_000)}\r\n`, found: /a head of more than/ },
    { answer: "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell", found: /closed before the end/ },
    { answer: chunked.slice(0, -2), found: /closed before the end/ },
    { answer: "", found: /closed before the end/ },
  ])("is refused if it is $found", ({ answer, found }) => {
    for (const size of [1, 7, 1e9]) expect(() => read(answer, size)).toThrow(found);
  });

  it("is never longer than it says: what comes behind it is not read", () => {
    expect(read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello").body).toBe("he");
  });
});

it("reads what Node's own server writes, whatever that is", async () => {
  let answer: (response: ServerResponse) => void = () => {};
  const server = createServer((_request, response) => answer(response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const pieces = fc.array(fc.string({ minLength: 1, maxLength: 300 }), { maxLength: 20 });
  const property = fc.asyncProperty(pieces, fc.boolean(), fc.integer({ min: 1, max: 400 }), async (texts, known, size) => {
    const body = texts.join("");
    answer = (response) => {
      if (known) response.setHeader("content-length", Buffer.byteLength(body));
      for (const text of texts) response.write(text);
      response.end();
    };
    const raw = await rawAnswer(port);
    const got = read(raw, size, false);
    expect(got.over).toBe(true);
    expect(Buffer.from(got.body, "latin1").toString("utf8")).toBe(body);
  });
  await fc.assert(property, { numRuns: 30 });
  server.close();
});

/** The bytes of an answer, as they are on the wire. */
function rawAnswer(port: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: "127.0.0.1", headers: { connection: "close" } });
    asked.on("error", reject).on("socket", (socket) => {
      const bytes: Buffer[] = [];
      socket.on("data", (chunk: Buffer) => bytes.push(Buffer.from(chunk))).on("close", () => resolve(Buffer.concat(bytes)));
    });
    asked.on("response", (response) => response.resume());
    asked.end();
  });
}
