// The page, served: three files and one question, read-only, from memory. Nothing it shows can be changed through it, nothing it
// needs comes from elsewhere, and no other site may frame it or read it.
import { readFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { PageState } from "./page-state.ts";

export interface PageServer extends AsyncDisposable {
  readonly port: number;
}

export interface PageServerOptions {
  readonly host: string | undefined;
  /** 0 takes a free one. */
  readonly port: number;
  /** What there is to show, with the points after this time. */
  readonly state: (sinceMs: number) => PageState;
}

const files = {
  "/": ["page.html", "text/html"],
  "/page.css": ["page.css", "text/css"],
  "/page.js": ["page.js", "text/javascript"],
} as const;

const headers = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'self'; img-src 'self' data:; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

export async function servePage({ host, port, state }: PageServerOptions): Promise<PageServer> {
  const assets = new Map<string, { readonly type: string; readonly body: Buffer }>();
  for (const [path, [file, type]] of Object.entries(files)) {
    assets.set(path, { type, body: await readFile(join(import.meta.dirname, "assets", file)) });
  }
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://page");
    if (request.method !== "GET" && request.method !== "HEAD") return answer(response, 405, "text/plain", "expected GET\n");
    if (url.pathname === "/api/state") {
      const sinceMs = Number(url.searchParams.get("since") ?? 0) || 0;
      return answer(response, 200, "application/json", JSON.stringify(state(sinceMs)));
    }
    const asset = assets.get(url.pathname);
    if (asset === undefined) return answer(response, 404, "text/plain", "expected /\n");
    answer(response, 200, asset.type, asset.body);
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen({ port, ...(host !== undefined && { host }) }, resolve);
  await promise;
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function answer(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { ...headers, "content-type": `${type}; charset=utf-8` }).end(body);
}
