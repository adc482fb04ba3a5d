// Between the operator and a real Prometheus: what it says can be changed on the way.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { request as send } from "undici";
import type { RealWorld } from "./real-world.fixture.ts";

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** Seconds and a number as text. */
  readonly values: readonly (readonly [number, string])[];
}

export interface LyingPrometheus extends AsyncDisposable {
  readonly address: string;
  /** Makes another answer of each true one; undefined: the truth. */
  lie: ((truth: readonly Series[]) => readonly Series[]) | undefined;
  /** How many answers were given. */
  readonly answers: () => number;
}

export async function lyingPrometheus(truth: string): Promise<LyingPrometheus> {
  let answers = 0;
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const asked = await send(truth + (request.url ?? ""), { method: "POST", headers: form, body });
    const answer = (await asked.body.json()) as { data: { result: readonly Series[] } };
    const said = { ...answer, data: { ...answer.data, result: lying.lie?.(answer.data.result) ?? answer.data.result } };
    answers += 1;
    response.writeHead(asked.statusCode, { "content-type": "application/json" }).end(JSON.stringify(said));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  };
  const lying: LyingPrometheus = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lie: undefined,
    answers: () => answers,
    [Symbol.asyncDispose]: stop,
  };
  return lying;
}

const form = { "content-type": "application/x-www-form-urlencoded" };

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Waits until the real Prometheus says of this pod what would be reason enough: three quarters of 128Mi. */
export async function knownToPrometheus({ cluster, namespace, eventually }: RealWorld, pod: string): Promise<void> {
  const query = `container_memory_working_set_bytes{namespace="${namespace}",pod="${pod}",container="memhog"} > ${96 * 2 ** 20}`;
  const read = async () => {
    const { body } = await send(`${cluster.prometheus}/api/v1/query?query=${encodeURIComponent(query)}`);
    return ((await body.json()) as { data: { result: readonly unknown[] } }).data.result.length;
  };
  await eventually(read, (found) => found > 0);
}
