// A proxy between the operator and a real Prometheus that can change the responses.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { readBody } from "@memhog/runtime/http";
import type { RealWorld } from "./real-world.fixture.ts";

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** Unix time in seconds, and the value as a string. */
  readonly values: readonly (readonly [number, string])[];
}

export interface LyingPrometheus extends AsyncDisposable {
  readonly address: string;
  /** Changes each response; undefined passes responses through. */
  lie: ((truth: readonly Series[]) => readonly Series[]) | undefined;
  /** The number of responses so far. */
  readonly answers: () => number;
}

export async function lyingPrometheus(truth: string): Promise<LyingPrometheus> {
  let answers = 0;
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(request, 1024 * 1024);
    const asked = await fetch(truth + (request.url ?? ""), { method: "POST", headers: form, body });
    const answer = (await asked.json()) as { data: { result: readonly Series[] } };
    const said = { ...answer, data: { ...answer.data, result: lying.lie?.(answer.data.result) ?? answer.data.result } };
    answers += 1;
    response.writeHead(asked.status, { "content-type": "application/json" }).end(JSON.stringify(said));
  };
  const server = createServer((request, response) => void respond(request, response).catch(() => response.destroy()));
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

/** Waits until the real Prometheus reports this pod above the threshold: 75 % of 128Mi. */
export async function knownToPrometheus({ cluster, namespace, eventually }: RealWorld, pod: string): Promise<void> {
  const query = `container_memory_working_set_bytes{namespace="${namespace}",pod="${pod}",container="memhog"} > ${96 * 2 ** 20}`;
  const read = async () => {
    const response = await fetch(`${cluster.prometheus}/api/v1/query?query=${encodeURIComponent(query)}`);
    return ((await response.json()) as { data: { result: readonly unknown[] } }).data.result.length;
  };
  await eventually(read, (found) => found > 0);
}
