import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { manualEnvironment } from "../../concurrency/manual-clock.ts";
import { systemEnvironment } from "../../concurrency/system-environment.ts";
import { eventually } from "../../testing/eventually.ts";
import { loopback, temporaryFolder } from "../../testing/loopback.ts";
import { issueServing, makeAuthority } from "../../webhook/certificates.ts";
import type { ExecConfig } from "../config/config.ts";
import { connectionOf, readKubeconfigs } from "../config/kubeconfig.ts";
import { ConfigError } from "../errors.ts";
import { httpTransport } from "../transport/http-transport.ts";
import { ExecPlugin } from "./exec-plugin.ts";
import { makeIdentities } from "./identity.ts";

const apiVersion = "client.authentication.k8s.io/v1";
const { env } = process;

/** A plugin that is really run: this Node with this program. */
const running = (program: string, over: Partial<ExecConfig> = {}): ExecConfig => ({
  apiVersion,
  command: process.execPath,
  args: ["-e", program],
  env: {},
  interactiveMode: "Never",
  ...over,
});

const printing = (status: object, type: object = {}) =>
  `console.log(${JSON.stringify(JSON.stringify({ apiVersion, kind: "ExecCredential", status, ...type }))})`;

function pluginOf(config: ExecConfig, interactive = false) {
  const { clock } = manualEnvironment();
  return { clock, plugin: new ExecPlugin(config, { clock, env, interactive }) };
}

describe("a credential plugin", () => {
  it("runs once for concurrent callers, and again when its credential has expired or was rejected", async () => {
    await using folder = await temporaryFolder();
    const runs = join(folder.path, "runs");
    await writeFile(runs, "");
    const { clock, plugin } = pluginOf(
      running(
        `require("fs").appendFileSync(process.env.RUNS, "x"); ${printing({ token: "t", expirationTimestamp: "2026-01-01T00:10:00Z" })}`,
        { env: { RUNS: runs } },
      ),
    );
    const count = async () => (await readFile(runs, "utf8")).length;
    const [first] = await Promise.all([plugin.credential(), plugin.credential(), plugin.credential()]);
    expect(first?.token?.reveal()).toBe("t");
    expect(await count()).toBe(1);
    await clock.advance(599_000);
    await plugin.credential();
    expect(await count()).toBe(1);
    await clock.advance(1000);
    const second = await plugin.credential();
    expect(await count()).toBe(2);
    if (first) plugin.refused(first); // refused late, when it is no longer the current one
    plugin.refused(second);
    await plugin.credential();
    expect(await count()).toBe(3);
  });

  it("receives the cluster information that it requested, its own environment variables and those of the process", async () => {
    const clusterInfo = { server: "https://x", "certificate-authority-data": "Q0E=", config: { audience: "a" } };
    const program = `const { KUBERNETES_EXEC_INFO: info, MINE: mine, PATH: path } = process.env; const status = { token: JSON.stringify({ info: JSON.parse(info), mine, path: Boolean(path) }) }; console.log(JSON.stringify({ apiVersion: "${apiVersion}", kind: "ExecCredential", status }))`;
    const { plugin } = pluginOf(running(program, { env: { MINE: "1" }, clusterInfo }));
    const { token } = await plugin.credential();
    expect(JSON.parse(token?.reveal() ?? "")).toEqual({
      info: { apiVersion, kind: "ExecCredential", spec: { interactive: false, cluster: clusterInfo } },
      mine: "1",
      path: true,
    });
  });

  it("can return a client certificate", async () => {
    const { plugin } = pluginOf(running(printing({ clientCertificateData: "C", clientKeyData: "K" })));
    const { certificate, key, token } = await plugin.credential();
    expect([certificate?.reveal(), key?.reveal(), token]).toEqual(["C", "K", undefined]);
  });

  const canary = "canary-secret";
  it.each([
    { name: "fails", config: running(`console.log("${canary}"); process.exit(3)`), says: "found exit 3" },
    {
      name: "is not installed",
      config: running("", { command: "/no/such/plugin", installHint: "get it from example.test" }),
      says: "→ get it from example.test",
    },
    { name: "prints no JSON", config: running(`console.log("${canary}")`), says: "as JSON" },
    {
      name: "speaks another version",
      config: running(printing({ token: canary }, { apiVersion: "client.authentication.k8s.io/v1beta1" })),
      says: "expected an ExecCredential of",
    },
    { name: "brings nothing", config: running(printing({})), says: "found neither" },
    { name: "brings half a certificate", config: running(printing({ clientKeyData: canary })), says: "found only one" },
    {
      name: "has an odd idea of time",
      config: running(printing({ token: canary, expirationTimestamp: "tomorrow" })),
      says: "expirationTimestamp",
    },
    { name: "needs a person who is not there", config: running("", { interactiveMode: "Always" }), says: "expected a terminal" },
    {
      name: "never stops talking",
      config: running(`process.stdout.write("${canary}".repeat(200000)); setInterval(() => {}, 1000)`),
      says: "found exit SIGTERM",
    },
  ])("that $name is a ConfigError with a message that contains no secret", async ({ config, says }) => {
    const error = await pluginOf(config)
      .plugin.credential()
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toContain(says);
    expect(inspect(error)).not.toContain(canary);
  });

  describe("that exits while a child process keeps its output open", () => {
    /** The one behind writes blanks until nobody reads them, and once, when it is alone, a file. */
    const behind = `let file = process.env.ALONE; setInterval(() => {
      if (file && process.ppid !== Number(process.argv[1])) file = require("fs").writeFileSync(file, "");
      process.stdout.write(" ");
    }, 20)`;
    const leaving = (print: string, env: Record<string, string> = {}) =>
      running(
        `const stdio = ["ignore", "inherit", "ignore"];
         require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(behind)}, String(process.pid)], { stdio }).unref(); ${print}`,
        { env },
      );

    it("returns the credential that it printed", async () => {
      const { plugin } = pluginOf(leaving(printing({ token: "t" })));
      expect((await plugin.credential()).token?.reveal()).toBe("t");
    });

    it("has the same timeout as any other plugin", async () => {
      await using folder = await temporaryFolder();
      const ALONE = join(folder.path, "alone");
      const { plugin, clock } = pluginOf(leaving(`process.stdout.write("{")`, { ALONE }));
      const end = plugin.credential().catch((error: unknown) => error);
      await eventually(() => existsSync(ALONE), Boolean);
      await clock.advance(300_000);
      expect(String(await end)).toContain("expected an end within 300000 ms");
    });
  });

  it("runs again if its credential is not usable", async () => {
    await using folder = await temporaryFolder();
    const printed = join(folder.path, "printed");
    const print = (status: object) => writeFile(printed, JSON.stringify({ apiVersion, kind: "ExecCredential", status }));
    const exec = running(`console.log(require("fs").readFileSync(process.env.PRINTED, "utf8"))`, { env: { PRINTED: printed } });
    const config = { server: "https://127.0.0.1", namespace: "default", tls: {}, user: { exec }, origin: "test" };
    const identities = makeIdentities(config, { clock: manualEnvironment().clock, env });
    for (const status of [
      { token: "two\nlines" },
      { token: 7 },
      { clientCertificateData: 42, clientKeyData: {} },
      { token: "t", expirationTimestamp: ["2026-01-01T00:00:00Z"] },
      { clientCertificateData: "nonsense", clientKeyData: "nonsense" },
    ]) {
      await print(status);
      await expect(identities.current()).rejects.toMatchObject({ code: "CLIENT_CONFIG" });
    }
    await print({ token: "good" });
    expect((await identities.current()).headers.authorization).toBe("Bearer good");
  });

  it("M5: works with any wall clock: a fast clock runs it more often, a slow clock runs it after the server rejects the token", async () => {
    const { clock, plugin } = pluginOf(running(printing({ token: "t", expirationTimestamp: "2026-01-01T00:10:00Z" })));
    clock.stepWallClock(3_600_000);
    const [first, second] = [await plugin.credential(), await plugin.credential()];
    expect([first.token?.reveal(), second.token?.reveal(), first === second]).toEqual(["t", "t", false]);
    clock.stepWallClock(-7_200_000);
    expect(await plugin.credential()).toBe(second);
    plugin.refused(second);
    expect(await plugin.credential()).not.toBe(second);
  });

  it("runs again after a failure", async () => {
    const { plugin } = pluginOf(running("process.exit(1)"));
    await expect(plugin.credential()).rejects.toThrow();
    await expect(plugin.credential()).rejects.toThrow("found exit 1");
  });
});

it("a request carries the plugin's token, and a new one after the server rejects it", async () => {
  await using folder = await temporaryFolder();
  const counter = join(folder.path, "counter");
  await writeFile(counter, "");
  const script = join(folder.path, "plugin.cjs");
  await writeFile(
    script,
    `const fs = require("fs"); fs.appendFileSync(process.argv[2], "x"); const token = "t" + fs.readFileSync(process.argv[2]).length;
     console.log(JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1beta1", kind: "ExecCredential", status: { token } }))`,
  );
  const seen: (string | undefined)[] = [];
  // In TLS: a token is not sent in clear.
  const lifetimeMs = 3_600_000;
  const authority = await makeAuthority({ name: "test", lifetimeMs }, systemEnvironment());
  const { certificate: cert, key } = await issueServing(authority, { names: ["127.0.0.1"], lifetimeMs }, systemEnvironment());
  const answer: RequestListener = (request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(request.headers.authorization === "Bearer t1" ? 401 : 200).end();
  };
  await using server = await loopback(answer, { tls: { cert, key } });
  const file = join(folder.path, "config");
  const exec = { apiVersion: "client.authentication.k8s.io/v1beta1", command: process.execPath, args: [script, counter] };
  await writeFile(
    file,
    JSON.stringify({
      "current-context": "x",
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      clusters: [{ name: "c", cluster: { server: server.url, "insecure-skip-tls-verify": true } }],
      users: [{ name: "u", user: { exec } }],
    }),
  );
  const transport = httpTransport(connectionOf(await readKubeconfigs([file])), { environment: manualEnvironment() });
  const statuses = [await transport.request({ method: "GET", path: "/" }), await transport.request({ method: "GET", path: "/" })];
  expect(statuses.map(({ status }) => status)).toEqual([200, 200]);
  expect(seen).toEqual(["Bearer t1", "Bearer t2", "Bearer t2"]);
  await transport.close?.();
});
