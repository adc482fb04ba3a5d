import { request as plainRequest, type RequestOptions } from "node:http";
import { request } from "node:https";

/** The status of one GET; undefined if nobody answered. A server that is starting does all sorts of things to a connection. */
export function statusOf(options: RequestOptions & { readonly ca?: string }): Promise<number | undefined> {
  return new Promise((done) => {
    const ask = options.socketPath === undefined ? request : plainRequest;
    const call = ask({ ...options, agent: false, timeout: 5_000 }, (response) => {
      response.resume();
      done(response.statusCode);
    });
    call.on("timeout", () => call.destroy());
    call.on("error", () => done(undefined));
    call.end();
  });
}
