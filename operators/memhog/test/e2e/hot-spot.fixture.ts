// Makes a container use more memory in the middle of a test.
import { spawn } from "node:child_process";
import type { RealWorld } from "./real-world.fixture.ts";

/** Starts a second process in the container of this pod that uses about 60 MiB until the test ends. */
export async function hotSpot({ cluster, namespace }: RealWorld, pod: string): Promise<AsyncDisposable> {
  const program = "const held = Buffer.alloc(48 << 20, 1); setInterval(() => held, 1000)";
  const here = ["--kubeconfig", cluster.kubeconfig, "--namespace", namespace];
  const args = [...here, "exec", pod, "--", "node", "--jitless", "-e", program];
  const child = spawn(await cluster.kubectlPath(), args, { stdio: "ignore", env: {} });
  const stop = async () => void child.kill();
  return { [Symbol.asyncDispose]: stop };
}
