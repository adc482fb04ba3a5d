// Between the operator and Prometheus: passes everything on, and counts what was asked.
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

export interface CountingRelay extends AsyncDisposable {
  readonly address: string;
  /** How many questions came so far. */
  readonly asked: () => number;
}

export async function countingRelay(target: string): Promise<CountingRelay> {
  let asked = 0;
  const server = createServer((from, back) => {
    asked += 1;
    const onward = request(target + from.url, { method: from.method, headers: from.headers }, (answer) => {
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
