// Complete operators on a cluster, as a user sees them.
import { once } from "node:events";
import { mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Cluster, testCluster } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { silentLogger } from "../concurrency/environment.ts";
import { child } from "../controller/children.ts";
import { controller } from "../controller/controller.ts";
import { done } from "../controller/outcome.ts";
import { Event } from "../objects/kinds/access.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { ValidatingWebhookConfiguration } from "../objects/kinds/extension.ts";
import { defineResource } from "../schema/define-resource.ts";
import { clientOf } from "../testing/cluster-world.ts";
import { freePort } from "../testing/loopback.ts";
import { allowed, denied } from "../webhook/admission.ts";
import { webhookConfigurations } from "../webhook/configuration.ts";
import { validate } from "../webhook/webhooks.ts";
import { type Operator, operator } from "./operator.ts";
import type { OperatorOptions } from "./options.ts";

const Greeter = defineResource({
  ...{ group: "operator.memhog.test", version: "v1", kind: "Greeter" },
  spec: z.object({ words: z.string().max(100) }),
  status: z.object({ greeted: z.string().optional() }),
  conditions: {},
});

/** One replica. Counts its reconciles and stops with the test. */
class Replica implements AsyncDisposable {
  reconciles = 0;
  readonly operator: Operator;
  readonly #ending = new AbortController();
  readonly running: Promise<void>;

  constructor(cluster: Cluster, options: Partial<OperatorOptions> = {}) {
    const greeters = controller(Greeter, { owns: [ConfigMap] }, async (ref, ctx) => {
      this.reconciles += 1;
      const greeter = ctx.get(Greeter, ref);
      if (greeter === undefined) return done();
      await ctx.applyChildren(greeter, [
        child(ConfigMap, { metadata: { name: `${ref.name}-words` }, data: { words: greeter.spec.words } }),
      ]);
      ctx.event(greeter, { reason: "Greeted", message: `said ${greeter.spec.words}` });
      return done();
    });
    this.operator = operator({
      ...{ name: "greeter-operator", controllers: [greeters], installCrds: [Greeter] },
      ...{ kubeconfig: cluster.kubeconfig, namespaces: [cluster.defaultNamespace], log: silentLogger },
      ...{ metricsBindAddress: "127.0.0.1:0", healthProbeBindAddress: "127.0.0.1:0" },
      ...options,
    });
    this.running = this.operator.run(this.#ending.signal);
  }

  async read(which: "metrics" | "health", path: string): Promise<string> {
    const port = this.operator.ports[which];
    if (port === undefined) return "";
    const [response] = await once(get({ host: "127.0.0.1", port, path, agent: false }), "response");
    let text = "";
    for await (const chunk of response) text += chunk;
    return text;
  }

  /** Stops it, like SIGTERM. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.running;
  }

  async [Symbol.asyncDispose]() {
    await this.stop();
  }
}

const greeter = (cluster: Cluster, name: string, words: string) => ({
  metadata: { namespace: cluster.defaultNamespace, name },
  spec: { words },
});

/** A kubeconfig after `kubectl config set-context --current --namespace`. */
function withNamespace(kubeconfig: string, namespace: string): string {
  const config = parse(kubeconfig);
  for (const { context } of config.contexts) context.namespace = namespace;
  return stringify(config);
}

describe("an operator on a cluster", () => {
  it("reconciles, and serves readiness, metrics, explain and events", async () => {
    await using cluster = await testCluster();
    await using client = await clientOf(cluster);
    await using replica = new Replica(cluster);
    await cluster.eventually(
      () => replica.read("health", "/readyz"),
      (text) => text === "ok",
    );
    await client.create(Greeter, greeter(cluster, "a", "hello"));
    const said = () => client.find(ConfigMap, { namespace: cluster.defaultNamespace, name: "a-words" });
    await cluster.eventually(said, (found) => found?.data?.words === "hello");
    const metrics = await replica.read("metrics", "/metrics");
    for (const line of [
      /^controller_runtime_reconcile_total\{.*controller="greeter".*\}/m,
      /^workqueue_adds_total\{.*name="greeter".*\}/m,
      /^rest_client_requests_total\{code="200",method="GET",host="127.0.0.1:\d+"\}/m,
      /^operator_cache_objects\{resource="configmaps".*\}/m,
    ]) {
      expect(metrics).toMatch(line);
    }
    const why = await replica.read("metrics", `/debug/explain?key=${cluster.defaultNamespace}/a`);
    expect(JSON.parse(why).greeter[0]).toMatchObject({ wrote: [expect.stringContaining("ConfigMap")] });
    const told = async () =>
      (await client.list(Event, { namespace: cluster.defaultNamespace })).items.map(({ reason }) => reason);
    await cluster.eventually(told, (reasons) => reasons.includes("Greeted"));
  });

  it("watches only the namespace of its kubeconfig's context by default, and logs it", async () => {
    await using cluster = await testCluster();
    await using client = await clientOf(cluster);
    const said: unknown[] = [];
    const log = { ...silentLogger, info: (fields: object, message: string) => said.push([message, fields]) };
    using desk = mkdtempDisposableSync(join(tmpdir(), "kubeconfig-"));
    const kubeconfig = join(desk.path, "config");
    writeFileSync(kubeconfig, withNamespace(readFileSync(cluster.kubeconfig, "utf8"), cluster.defaultNamespace));
    await using replica = new Replica(cluster, { kubeconfig, namespaces: "own", log });
    await replica.operator.ready;
    const elsewhere = { ...greeter(cluster, "a", "unheard"), metadata: { namespace: "default", name: "a" } };
    const first = await client.create(Greeter, elsewhere);
    await client.create(Greeter, greeter(cluster, "b", "hello"));
    const words = (namespace: string, name: string) => client.find(ConfigMap, { namespace, name });
    await cluster.eventually(
      () => words(cluster.defaultNamespace, "b-words"),
      (found) => found !== undefined,
    );
    expect(await words("default", "a-words")).toBeUndefined();
    expect(said).toContainEqual(["watching", { namespaces: [cluster.defaultNamespace] }]);
    await client.delete(Greeter, first.metadata);
  });

  it("L1: exactly one of two replicas reconciles, and the other takes over when it stops", async () => {
    await using cluster = await testCluster();
    await using client = await clientOf(cluster);
    const leaderElection = { lease: { namespace: cluster.defaultNamespace, name: "greeter" }, retryPeriodMs: 500 };
    await using one = new Replica(cluster, { leaderElection });
    await using other = new Replica(cluster, { leaderElection });
    for (const replica of [one, other])
      await cluster.eventually(
        () => replica.read("health", "/readyz"),
        (text) => text === "ok",
      );
    await client.create(Greeter, greeter(cluster, "a", "hello"));
    const said = () => client.find(ConfigMap, { namespace: cluster.defaultNamespace, name: "a-words" });
    await cluster.eventually(said, (found) => found?.data?.words === "hello");
    const [leader, follower] = one.reconciles > 0 ? [one, other] : [other, one];
    expect(follower.reconciles).toBe(0);
    expect(await leader.read("metrics", "/metrics")).toContain('leader_election_master_status{name="greeter-operator"} 1');
    expect(await follower.read("metrics", "/metrics")).toContain('leader_election_master_status{name="greeter-operator"} 0');
    await leader.stop();
    const before = leader.reconciles;
    await client.patch(
      Greeter,
      { namespace: cluster.defaultNamespace, name: "a" },
      { type: "merge", body: { spec: { words: "bye" } } },
    );
    await cluster.eventually(said, (found) => found?.data?.words === "bye");
    expect(leader.reconciles).toBe(before);
    expect(follower.reconciles).toBeGreaterThan(0);
  });

  it("shares webhook certificates between its replicas", async () => {
    await using cluster = await testCluster();
    await using client = await clientOf(cluster);
    const name = `greeter-${cluster.defaultNamespace}`;
    const webhooks = [
      validate(Greeter, ({ spec }) => (spec.words === "rude" ? denied("mind your language") : allowed()), {
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": cluster.defaultNamespace } },
      }),
    ];
    const webhookServer = { host: "127.0.0.1", port: await freePort(), address: { url: "https://127.0.0.1:1" } };
    await using one = new Replica(cluster, { name, webhooks, webhookServer });
    await cluster.eventually(
      () => one.read("health", "/readyz"),
      (text) => text === "ok",
    );
    await cluster.apply(...webhookConfigurations(webhooks, { name, url: `https://127.0.0.1:${webhookServer.port}` }));
    try {
      const attempt = () =>
        client.create(Greeter, greeter(cluster, "b", "rude"), { dryRun: true }).catch((error: Error) => error.message);
      const message = await cluster.eventually(
        attempt,
        (text) => typeof text === "string" && text.includes("mind your language"),
      );
      expect(message).toContain("denied the request: mind your language");
      // A second replica uses the certificates of the first.
      const before = await cluster.get(secretOf(name));
      await using two = new Replica(cluster, { name, webhooks, webhookServer: { ...webhookServer, port: 0 } });
      await cluster.eventually(
        () => two.read("health", "/readyz"),
        (text) => text === "ok",
      );
      expect(await cluster.get(secretOf(name))).toEqual(before);
    } finally {
      await client.delete(ValidatingWebhookConfiguration, { name });
      await cluster.delete(secretOf(name));
    }
  });
});

const secretOf = (name: string) => ({
  ...{ apiVersion: "v1", kind: "Secret" },
  metadata: { namespace: "default", name: `${name}-webhook-certificates` },
});
