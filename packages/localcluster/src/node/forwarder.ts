// The forwarder: a program inside the sandbox that takes requests from port-forwarding.ts over Node's IPC channel.
//
// A socket belongs to the network namespace it was created in, whichever process holds it. A listener that is created on the host
// and sent in here accepts connections of the host, and we connect them inside. A listener that is created in here and sent out
// accepts connections of the sandbox.
//
// The program keeps running when the channel closes: a cluster of `localcluster up` outlives the process that started it.
import { connect, createServer, type Server } from "node:net";
import { joinSockets } from "../process/sockets.ts";

/** Answered by a response with the same id. */
export type ForwarderRequest =
  | { readonly id: number; readonly kind: "forward"; readonly address: string; readonly port: number }
  | { readonly id: number; readonly kind: "listen"; readonly address: string };

export type ForwarderResponse =
  | { readonly id: number; readonly kind: "done"; readonly port: number }
  | { readonly id: number; readonly kind: "failed"; readonly why: string };

process.on("message", (request: ForwarderRequest, listener: unknown) => {
  if (request.kind === "forward") forward(request, listener as Server);
  else listen(request);
});

/** The listener arrives with the request. */
function forward(request: ForwarderRequest & { kind: "forward" }, listener: Server): void {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (outside) => {
    joinSockets(outside, connect({ host: request.address, port: request.port, allowHalfOpen: true, noDelay: true }));
  });
  server.listen(listener, () => respond({ id: request.id, kind: "done", port: request.port }));
  server.on("error", (error) => respond({ id: request.id, kind: "failed", why: error.message }));
}

/** The listener is sent with the response. */
function listen(request: ForwarderRequest & { kind: "listen" }): void {
  const server = createServer();
  server.on("error", (error) => respond({ id: request.id, kind: "failed", why: error.message }));
  server.listen(0, request.address, () => {
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    respond({ id: request.id, kind: "done", port }, server);
    server.close(); // the copy that was sent remains
  });
}

function respond(message: ForwarderResponse, listener?: Server): void {
  process.send?.(message, listener);
}
