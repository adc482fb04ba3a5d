// Readiness checks: polling a condition, and asking HTTP servers on the host or in a sandbox.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ExecContext } from "./component.ts";

/** Polls, with pauses that grow up to a quarter of a second, until the condition holds. Rejects with the signal's reason. */
export async function waitUntil(holds: () => boolean | Promise<boolean>, signal?: AbortSignal): Promise<void> {
  for (let pause = 5; !(await holds()); pause = Math.min(pause * 2, 250)) {
    await sleep(pause, undefined, { ...(signal && { signal }) });
  }
}

/** The status of one GET over HTTPS, or over HTTP on a unix socket; undefined if there was no answer. */
export function statusOf(options: RequestOptions): Promise<number | undefined> {
  return new Promise((done) => {
    const send = options.socketPath === undefined ? httpsRequest : httpRequest;
    const request = send({ ...options, agent: false, timeout: 5_000 }, (response) => {
      response.resume();
      done(response.statusCode);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => done(undefined));
    request.end();
  });
}

/**
 * A readiness check that resolves when https://127.0.0.1:PORT/healthz in the context answers 200. A sandbox has a network of its
 * own, so the requests are sent by a process inside: this file, run as a program.
 */
export function healthCheckIn(context: ExecContext, port: number): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    const [command = "", ...args] = context.command([process.execPath, fileURLToPath(import.meta.url), String(port)]);
    const child = spawn(command, args, { stdio: ["pipe", "ignore", "inherit"], signal });
    const [code] = await once(child, "exit");
    if (code !== 0) throw new Error(`the health check of port ${port} in ${context.name} failed with exit code ${code}`);
  };
}

// node probe.ts PORT: exits with 0 when the server is healthy, and with 1 when stdin is closed because the caller gave up or died.
if (import.meta.main) {
  process.stdin.on("end", () => process.exit(1)).resume();
  // The certificate is not verified: the answer is one bit, and not secret.
  const target = { host: "127.0.0.1", port: Number(process.argv[2]), path: "/healthz", rejectUnauthorized: false };
  await waitUntil(async () => (await statusOf(target)) === 200);
  process.exit(0);
}
