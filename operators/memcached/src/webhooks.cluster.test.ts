// The webhooks, as an API server asks them, with certificates that are exchanged while they are served.
import { once } from "node:events";
import { connect as connectTls } from "node:tls";
import { crdOf, createClient, loadConfig, operator, Secret, systemEnvironment } from "@memhog/runtime";
import { silentLogger } from "@memhog/runtime/concurrency";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "@memhog/runtime/kinds";
import { freePort } from "@memhog/runtime/testing";
import { webhookConfigurations } from "@memhog/runtime/webhook";
import { testCluster } from "@memhog/simulator/testing";
import { expect, it } from "vitest";
import { Memcached } from "./api.ts";
import { memcacheds } from "./memcacheds.ts";
import { webhooks } from "./webhooks.ts";

/** An operator with webhooks, and a clock that can be put forward. */
async function stage() {
  const cluster = await testCluster();
  await cluster.apply(crdOf(Memcached));
  const namespace = cluster.defaultNamespace;
  const name = `memcached-${namespace}`; // configurations belong to the whole cluster, which other tests use too
  const here = webhooks({ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } });
  const url = `https://127.0.0.1:${await freePort()}`;
  const system = systemEnvironment();
  const time = { aheadMs: 0 };
  const clock = {
    ...system.clock,
    now: () => system.clock.now() + time.aheadMs,
    // Certificates are looked at once a minute; here that is a short one.
    sleep: (ms: number, signal?: AbortSignal) => system.clock.sleep(ms > 50_000 ? 500 : ms, signal),
  };
  const environment = { ...system, clock };
  const client = createClient({ config: await loadConfig({ kubeconfig: cluster.kubeconfig }), environment: system });
  const stop = new AbortController();
  const program = operator({
    ...{
      name,
      controllers: [memcacheds({ repository: "memcached" })],
      kubeconfig: cluster.kubeconfig,
      namespaces: [namespace],
    },
    ...{ metricsBindAddress: "0", healthProbeBindAddress: "0", log: silentLogger, environment, webhooks: here },
    webhookServer: { host: "127.0.0.1", port: Number(new URL(url).port), address: { url } },
  });
  await cluster.apply(...webhookConfigurations(here, { name, url }));
  const running = program.run(stop.signal);
  const close = async () => {
    stop.abort();
    await running;
    for (const kind of [ValidatingWebhookConfiguration, MutatingWebhookConfiguration]) await client.delete(kind, { name });
    await client.delete(Secret, { namespace: "default", name: `${name}-webhook-certificates` });
    await client.close();
    await cluster[Symbol.asyncDispose]();
  };
  const create = (spec: object) =>
    client.create(Memcached, { metadata: { namespace, generateName: "a-" }, spec } as never, { dryRun: true });
  const metrics = async () => (await program.metrics.text()).body;
  return { cluster, time, url, create, metrics, [Symbol.asyncDispose]: close };
}

/** The serving certificate that is shown to whoever connects. */
async function shownAt(url: string): Promise<string> {
  const { port } = new URL(url);
  const socket = connectTls({ host: "127.0.0.1", port: Number(port), rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

it("missing fields get defaults and invalid objects are rejected with every error, before and after certificate rotation", async () => {
  await using on = await stage();
  const asked = () =>
    on.create({ size: 0, version: "" }).then(
      ({ spec }) => spec,
      (error: Error) => error.message,
    );
  const defaults = { size: 3, version: "1.6", containerPort: 11211 };
  const hasDefaults = (spec: unknown) => typeof spec === "object";
  expect(await on.cluster.eventually(asked, hasDefaults)).toEqual(defaults);
  // Both were asked. What the validating one would refuse, the rules of the CRD refuse first, wherever they are installed.
  for (const type of ["mutate", "validate"])
    expect(await on.metrics()).toMatch(new RegExp(`webhook_requests_total\\{webhook="/${type}-.*",code="200"\\}`));
  await expect(on.create({ size: 4 })).rejects.toThrow("Cluster size must be an odd number");
  await expect(on.create({ size: 3, version: "a b" })).rejects.toThrow("spec.version");

  const before = await shownAt(on.url);
  on.time.aheadMs = 80 * 86_400_000; // of the ninety days that a certificate is good for
  await on.cluster.eventually(
    () => shownAt(on.url),
    (now) => now !== before,
    { timeoutMs: 100_000 },
  );
  expect(await on.cluster.eventually(asked, hasDefaults)).toEqual(defaults);
});
