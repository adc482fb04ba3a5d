// For tests: an in-memory API server with a clock that stands still, and a request helper.
import { setImmediate } from "node:timers/promises";
import { manualEnvironment } from "@memhog/runtime/testing";
import type { JsonObject } from "../json.ts";
import { startSimulator } from "../simulator.ts";

/** The content types of PATCH requests. */
export const patches = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look deep into answers of all kinds
  readonly body: any;
  readonly warning: string | undefined;
}

export interface Api extends AsyncDisposable {
  ask(method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: JsonObject, type?: string): Promise<Answer>;
}

export async function startApi(): Promise<Api> {
  const environment = manualEnvironment();
  const simulator = await startSimulator({ environment });
  const ask: Api["ask"] = async (method, path, body, type = "application/json") => {
    const { pathname, searchParams } = new URL(path, "http://simulator");
    const query = Object.fromEntries(searchParams);
    const headers = { "content-type": type, "user-agent": "tester/1", accept: "application/json" };
    const answer = await simulator.transport.request({
      ...{ method, path: pathname, query, headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    // Reactions to a write run in the same process, but only after this task yields.
    await setImmediate();
    return { status: answer.status, body: parsed(String(answer.body)), warning: answer.headers.warning };
  };
  await ask("POST", "/api/v1/namespaces", { metadata: { name: "here" } });
  await ask("POST", "/api/v1/namespaces/here/serviceaccounts", { metadata: { name: "default" } });
  return { ask, [Symbol.asyncDispose]: () => simulator.stop() };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A pod with one container named `main`. */
export function podOf(name: string, resources: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return { metadata: { name }, spec: { containers: [{ name: "main", image: "x:1", resources }], ...more } };
}
