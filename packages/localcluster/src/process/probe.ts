// Asks a server in a place whether it is well. A place may have a network of its own, so the question is asked by a small
// process inside (probe-inside.ts), which goes on until the answer is yes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Place } from "./place.ts";

/** Resolves when https://127.0.0.1:PORT/healthz of the place answers 200. Rejects when the signal fires. */
export function answersInside(place: Place, port: number): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    const script = fileURLToPath(new URL("./probe-inside.ts", import.meta.url));
    const [command = "", ...args] = place.command([process.execPath, script, String(port), "/healthz"]);
    const child = spawn(command, args, { stdio: ["pipe", "ignore", "inherit"], signal });
    const [code] = await once(child, "exit");
    if (code !== 0) throw new Error(`the health check at port ${port} in ${place.name} ended with exit code ${code}`);
  };
}
