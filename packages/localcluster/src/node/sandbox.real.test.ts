// Sandboxes without a cluster in them: the namespaces, and the ways in and out. They need root and a kernel, not Kubernetes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ClusterDirectory, clusterDirectory, createClusterDirectory } from "../state/directory.ts";
import { cleanUp } from "../state/lifecycle.ts";
import { openSandbox, runInside, type Sandbox, startSandbox } from "./sandbox.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lc, with: odd characters-"));
});
afterEach(async () => {
  for (const name of ["one", "two"]) await cleanUp(clusterDirectory(name, home));
  await rm(home, { recursive: true });
});

const port = 8080;

async function sandboxNamed(name: string): Promise<{ directory: ClusterDirectory; sandbox: Sandbox }> {
  const directory = clusterDirectory(name, home);
  await createClusterDirectory(directory, {});
  return { directory, sandbox: await startSandbox(directory) };
}

/** A web server inside that says its name; it stays when this returns. */
async function serveInside({ directory, sandbox }: { directory: ClusterDirectory; sandbox: Sandbox }): Promise<void> {
  const pages = join(directory.data, "pages");
  await mkdir(pages);
  await writeFile(join(pages, "index.html"), `this is ${directory.name}`);
  await runInside({ directory, sandbox }, [sandbox.tools.path("busybox"), "httpd", "-p", String(port), "-h", pages]);
}

const get = async (hostPort: number) => (await fetch(`http://127.0.0.1:${hostPort}/`)).text();

describe("a sandbox (real: it needs Linux namespaces)", () => {
  it("has its own network, with single ports forwarded to the host", async () => {
    const one = await sandboxNamed("one");
    const two = await sandboxNamed("two");
    await Promise.all([serveInside(one), serveInside(two)]);
    // The same address and port in both, and they do not meet.
    expect(await get(await one.sandbox.forward(port))).toBe("this is one");
    expect(await get(await two.sandbox.forward(port))).toBe("this is two");
  });

  it("keeps forwarding ports after the requesting process has exited", async () => {
    const { sandbox, directory } = await sandboxNamed("one");
    await serveInside({ sandbox, directory });
    const script = `
      import { openSandbox } from ${JSON.stringify(join(import.meta.dirname, "sandbox.ts"))};
      import { clusterDirectory } from ${JSON.stringify(join(import.meta.dirname, "../state/directory.ts"))};
      const sandbox = await openSandbox(clusterDirectory("one", ${JSON.stringify(home)}));
      console.log(await sandbox.forward(${port}));
      process.exit();`;
    const child = spawn(process.execPath, ["--input-type=module-typescript", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [said] = await once(child.stdout, "data");
    if (child.exitCode === null) await once(child, "exit");
    expect(await get(Number(String(said)))).toBe("this is one");
  });

  it("resets a connection to a forwarded port without a listener inside", async () => {
    const { sandbox } = await sandboxNamed("one");
    const hostPort = await sandbox.forward(port);
    const failure = await get(hostPort).catch((error) => error.cause);
    expect(failure).toMatchObject({ code: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/) });
  });

  it("names the process that uses a requested host port", async () => {
    const { sandbox } = await sandboxNamed("one");
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const address = taken.address();
    const hostPort = typeof address === "object" && address !== null ? address.port : 0;
    await expect(sandbox.forward(port, { hostPort })).rejects.toMatchObject({ code: "PORT_IN_USE" });
    taken.close();
  });

  it("rejects commands after it has ended, instead of running them on the host", async () => {
    const { sandbox, directory } = await sandboxNamed("one");
    await sandbox.stop();
    expect(() => sandbox.command(["true"])).toThrow(expect.objectContaining({ code: "SANDBOX_GONE" }));
    expect(await openSandbox(directory)).toBeUndefined();
  });

  it("reports the stderr of a failed program", async () => {
    const node = await sandboxNamed("one");
    await expect(runInside(node, ["ip", "link", "show", "nothing"])).rejects.toMatchObject({
      code: "COMMAND_FAILED",
      message: expect.stringContaining("does not exist"),
    });
  });
});
