// Memory that a container takes when a test says so.
import { spawn } from "node:child_process";
import type { RealWorld } from "./real-world.fixture.ts";

/** Some 60 MiB more in the container of this pod: a second program in it, for as long as the test lasts. */
export async function hotSpot({ cluster, namespace }: RealWorld, pod: string): Promise<AsyncDisposable> {
  const program = "const held = Buffer.alloc(48 << 20, 1); setInterval(() => held, 1000)";
  const here = ["--kubeconfig", cluster.kubeconfig, "--namespace", namespace];
  const args = [...here, "exec", pod, "--", "node", "--jitless", "-e", program];
  const child = spawn(await cluster.kubectlPath(), args, { stdio: "ignore", env: {} });
  const stop = async () => void child.kill();
  return { [Symbol.asyncDispose]: stop };
}
