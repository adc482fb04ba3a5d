// The API server without a socket: the transport of @memhog/runtime, answered in this process. What goes through it is the
// same text as over HTTP, so a client cannot tell, except by how fast it is.
import { abortable, type Transport } from "@memhog/runtime";
import type { Handler } from "./handler.ts";

export interface MemoryTransportOptions {
  /** As the server's audit log and managedFields show it. @default "memhog-runtime" */
  readonly userAgent?: string;
}

export function memoryTransport(handler: Handler, { userAgent = "memhog-runtime" }: MemoryTransportOptions = {}): Transport {
  return {
    request: async (request) => {
      request.signal?.throwIfAborted();
      const query = Object.fromEntries(Object.entries(request.query ?? {}).filter(([, value]) => value !== undefined));
      const headers = { accept: "application/json", "user-agent": userAgent, ...request.headers };
      // A request that was sent is carried out, whether or not anybody still waits for the answer.
      const response = await abortable(handler({ ...request, query, headers }), request.signal);
      if (typeof response.body === "string" || request.stream) return response;
      return { ...response, body: await collected(response.body) };
    },
  };
}

async function collected(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}
