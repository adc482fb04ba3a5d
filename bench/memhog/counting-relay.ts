// An HTTP proxy between the operator and Prometheus that counts requests.
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { parseTarget } from "@memhog/runtime/http";

export interface CountingRelay extends AsyncDisposable {
  readonly address: string;
  /** Number of requests so far. */
  readonly asked: () => number;
}

export async function countingRelay(target: string): Promise<CountingRelay> {
  let asked = 0;
  const server = createServer((from, back) => {
    asked += 1;
    const url = parseTarget(from.url);
    if (url === undefined) return void back.writeHead(400).end();
    const onward = request(target + url.pathname + url.search, { method: from.method, headers: from.headers }, (answer) => {
      back.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(back);
    });
    onward.on("error", () => back.destroy());
    from.pipe(onward);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
