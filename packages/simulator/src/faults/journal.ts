// A journal of all requests and responses, as lines of text. Two runs with the same seed write identical journals. A difference
// means that something did not use the injected environment.
import type { Clock } from "@memhog/runtime/concurrency";
import type { ApiRequest, ApiResponse, Middleware } from "../server/core.ts";
import { linesOf } from "./watch-faults.ts";

export interface ServerJournal {
  readonly middleware: Middleware;
  readonly lines: readonly string[];
}

export function serverJournal(clock: Pick<Clock, "monotonic">): ServerJournal {
  const lines: string[] = [];
  let number = 0;
  const write = (call: number, text: string) => lines.push(`${clock.monotonic()} #${call} ${text}`);
  const middleware: Middleware = (next) => async (request) => {
    number += 1;
    const call = number;
    write(call, spoken(request));
    try {
      const response = await next(request);
      write(call, `→ ${response.status} ${typeof response.body === "string" ? response.body : "(a stream)"}`);
      return overheard(response, (line) => write(call, `· ${line}`));
    } catch (error) {
      write(call, `→ ${error instanceof Error ? error.message : error}`);
      throw error;
    }
  };
  return { middleware, lines };
}

function spoken({ method, path, query = {}, body = "" }: ApiRequest): string {
  const asked = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`);
  return `${method} ${path}${asked.length > 0 ? `?${asked.join("&")}` : ""}${body && ` ${body}`}`;
}

function overheard(response: ApiResponse, hear: (line: string) => void): ApiResponse {
  if (typeof response.body === "string") return response;
  const encoder = new TextEncoder();
  const body = response.body;
  async function* heard(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const line of linesOf(body)) {
      hear(line);
      yield encoder.encode(`${line}\n`);
    }
  }
  return { ...response, body: heard() };
}
