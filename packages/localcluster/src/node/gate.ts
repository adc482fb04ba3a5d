// The gate of a sandbox: a small program that runs inside and is told by gateway.ts, over Node's IPC channel, what to let through.
//
// A socket belongs to the network in which it was made, whoever holds it. So a listener made on the host and sent in here takes
// connections of the host, and we connect them inside; and a listener made in here and sent out takes connections of the inside.
//
// It goes on when the channel closes: a cluster of `localcluster up` outlives the process that started it.
import { connect, createServer, type Server } from "node:net";
import { join } from "./join.ts";

/** What gateway.ts asks for; a request is answered by a message with its number. */
export type GateRequest =
  | { readonly id: number; readonly kind: "forward"; readonly address: string; readonly port: number }
  | { readonly id: number; readonly kind: "listen"; readonly address: string };

export type GateAnswer =
  | { readonly id: number; readonly kind: "done"; readonly port: number }
  | { readonly id: number; readonly kind: "failed"; readonly why: string };

process.on("message", (request: GateRequest, listener: unknown) => {
  if (request.kind === "forward") forward(request, listener as Server);
  else listen(request);
});

/** The listener came with the request. */
function forward(request: GateRequest & { kind: "forward" }, listener: Server): void {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (outside) => {
    join(outside, connect({ host: request.address, port: request.port, allowHalfOpen: true, noDelay: true }));
  });
  server.listen(listener, () => answer({ id: request.id, kind: "done", port: request.port }));
  server.on("error", (error) => answer({ id: request.id, kind: "failed", why: error.message }));
}

/** The listener goes out with the answer. */
function listen(request: GateRequest & { kind: "listen" }): void {
  const server = createServer();
  server.on("error", (error) => answer({ id: request.id, kind: "failed", why: error.message }));
  server.listen(0, request.address, () => {
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    answer({ id: request.id, kind: "done", port }, server);
    server.close(); // the one that was sent remains
  });
}

function answer(message: GateAnswer, listener?: Server): void {
  process.send?.(message, listener);
}
