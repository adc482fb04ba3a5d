// A real process, with real signals and exit codes.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type Cluster, testCluster } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import { Event, Lease } from "../objects/kinds/access.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { clientOf } from "../testing/cluster-world.ts";

class Program implements AsyncDisposable {
  log = "";
  readonly #child: ChildProcess;
  readonly exited: Promise<number | null>;

  constructor(cluster: Cluster) {
    const main = fileURLToPath(new URL("testing/main.fixture.ts", import.meta.url));
    const flags = [
      `--kubeconfig=${cluster.kubeconfig}`,
      `-n${cluster.defaultNamespace}`,
      "--leader-elect",
      "-v2",
      "--logtostderr",
    ];
    const addresses = [
      "--metrics-bind-address=0",
      "--health-probe-bind-address=0",
      `--lease-namespace=${cluster.defaultNamespace}`,
    ];
    this.#child = spawn(process.execPath, [main, ...flags, ...addresses], { stdio: ["ignore", "inherit", "pipe"] });
    this.#child.stderr?.on("data", (chunk) => {
      this.log += chunk;
    });
    this.exited = once(this.#child, "exit").then(([code]) => code);
  }
  sigterm() {
    this.#child.kill("SIGTERM");
  }
  async [Symbol.asyncDispose]() {
    this.#child.kill("SIGKILL");
    await this.exited;
  }
}

describe("the process of an operator", () => {
  it("drains, releases its lease and exits with 0 on SIGTERM", async () => {
    await using cluster = await testCluster();
    await using client = await clientOf(cluster);
    await using program = new Program(cluster);
    await cluster.eventually(
      () => program.log,
      (log) => log.includes("became leader"),
    );
    program.sigterm();
    expect(await program.exited).toBe(0);
    const { spec } = await client.get(Lease, { namespace: cluster.defaultNamespace, name: "fixture-operator" });
    expect(spec?.holderIdentity).toBe("");
    const lines = program.log
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({ level: "info", logger: "fixture-operator", msg: "stopped" });
  });

  it("writes the final counts of Event series on SIGTERM, without waiting for the next update", async () => {
    await using cluster = await testCluster();
    await using client = await clientOf(cluster);
    const namespace = cluster.defaultNamespace;
    await client.create(ConfigMap, { metadata: { namespace, name: "looked-at" } });
    await using program = new Program(cluster);
    const looks = () => program.log.split('"looked"').length - 1;
    const told = async () =>
      (await client.list(Event, { namespace })).items.find(({ reason }) => reason === "Looked")?.series?.count ?? 0;
    const known = await cluster.eventually(told, (count) => count >= 2);
    await cluster.eventually(looks, (count) => count > known); // at least one more waits for its minute
    program.sigterm();
    expect(await program.exited).toBe(0);
    expect(await told()).toBe(looks());
  });

  it("L2: logs the reason and exits with 1 if another holds its lease, and does not change the lease", async () => {
    await using cluster = await testCluster();
    await using client = await clientOf(cluster);
    await using program = new Program(cluster);
    await cluster.eventually(
      () => program.log,
      (log) => log.includes("became leader"),
    );
    const ref = { namespace: cluster.defaultNamespace, name: "fixture-operator" };
    await client.patch(Lease, ref, { type: "merge", body: { spec: { holderIdentity: "thief" } } });
    expect(await program.exited).toBe(1);
    expect(program.log).toContain("LEADERSHIP_LOST");
    expect((await client.get(Lease, ref)).spec?.holderIdentity).toBe("thief");
  });
});
