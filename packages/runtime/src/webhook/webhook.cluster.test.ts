// The only judge of a webhook is an API server that calls it: its TLS, its JSON, its patches, its error messages.
import { type TestCluster, testCluster } from "@memhog/localcluster/testing";
import { describe, expect, it } from "vitest";
import type { Client } from "../client/client.ts";
import { connect } from "../client/connect.ts";
import { ForbiddenError, InvalidError } from "../client/errors.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "../objects/kinds/admissionregistration.ts";
import { CustomResourceDefinition } from "../objects/kinds/apiextensions.ts";
import { ConfigMap, Secret } from "../objects/kinds/core/config.ts";
import { dynamicKind } from "../objects/kinds/kind.ts";
import type { KubernetesObject } from "../objects/object.ts";
import { allowed, denied } from "./admission.ts";
import { isSignedBy, issueServing } from "./certificates.ts";
import { conversionThrough, webhookConfigurations } from "./configuration.ts";
import { convert } from "./conversion.ts";
import { selfMadeCertificates } from "./self-made.ts";
import { type RunningWebhooks, serveWebhooks } from "./serve-webhooks.ts";
import { spreadTrust } from "./trust.ts";
import { type AdmissionWebhookOptions, mutate, validate, type Webhook } from "./webhooks.ts";

const environment = systemEnvironment();

interface Place extends AsyncDisposable {
  readonly cluster: TestCluster;
  readonly client: Client;
  readonly namespace: string;
  /** Only what happens in the test's own namespace, and nothing passes if we are not asked. */
  readonly here: AdmissionWebhookOptions;
  /** Name of the test's webhook configurations. */
  readonly name: string;
  configMap(name: string, data?: Record<string, string>): ConfigMap;
}

async function place(): Promise<Place> {
  const cluster = await testCluster();
  const namespace = cluster.defaultNamespace;
  const client = await connect({ environment, kubeconfig: cluster.kubeconfig, rateLimit: { qps: 500, burst: 500 } });
  const name = `webhook-test-${namespace}`;
  return {
    ...{ cluster, client, namespace, name },
    here: {
      failurePolicy: "Fail",
      excludeNamespaces: [],
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
    },
    configMap: (called, data = {}) => ({ metadata: { namespace, name: called }, data }),
    async [Symbol.asyncDispose]() {
      for (const kind of [ValidatingWebhookConfiguration, MutatingWebhookConfiguration]) {
        if ((await client.find(kind, { name })) !== undefined) await client.delete(kind, { name });
      }
      await client.close();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

/** Serves webhooks with a certificate of our own, registered and trusted, until it is disposed of. */
async function serving({ client, name, cluster }: Place, webhooks: readonly Webhook[]) {
  const ending = new AbortController();
  const certificates = selfMadeCertificates({ name, names: ["127.0.0.1"], environment });
  const running = await serveWebhooks(
    { webhooks, certificates, environment, host: "127.0.0.1", port: 0, trust: { client, name } },
    ending.signal,
  );
  const url = `https://127.0.0.1:${running.port}`;
  if (webhooks.some(({ type }) => type !== "convert")) await cluster.apply(...webhookConfigurations(webhooks, { name, url }));
  return {
    url,
    [Symbol.asyncDispose]: () => running.close(),
  };
}

/** The API server learns of configurations by a watch: until it has, it lets things pass or fails to connect. */
const once = <T>({ cluster }: Place, act: () => Promise<T>, holds: (value: T) => boolean) => cluster.eventually(act, holds);

describe("a webhook that a real API server calls", () => {
  it("refuses a write with its own words, as the API and kubectl show them", async () => {
    await using at = await place();
    const judge = validate(
      ConfigMap,
      ({ data }) => (data?.size === "small" ? denied("expected a large one, found small") : allowed()),
      at.here,
    );
    await using _served = await serving(at, [judge]);
    const attempt = () =>
      at.client.create(ConfigMap, at.configMap("a", { size: "small" }), { dryRun: true }).catch((error: unknown) => error);
    const error = await once(at, attempt, (value) => value instanceof ForbiddenError);
    expect(error).toMatchObject({
      status: 403,
      message: expect.stringContaining("denied the request: expected a large one, found small"),
    });
    await expect(at.cluster.kubectl("create", "configmap", "b", "--from-literal=size=small")).rejects.toThrow(
      "expected a large one, found small",
    );
    await at.cluster.kubectl("create", "configmap", "c", "--from-literal=size=large");
  });

  it("refuses as the API server's own validation does, naming the field, and warns", async () => {
    await using at = await place();
    const causes = [{ field: "data.size", message: "must be large" }];
    const judge = validate(
      ConfigMap,
      ({ data }) => (data?.size === "small" ? denied("must be large", { causes }) : allowed("sizes will be required soon")),
      at.here,
    );
    await using _served = await serving(at, [judge]);
    const attempt = () =>
      at.client.create(ConfigMap, at.configMap("a", { size: "small" }), { dryRun: true }).catch((error: unknown) => error);
    const error = await once(at, attempt, (value) => value instanceof InvalidError);
    expect(error).toMatchObject({ status: 422, causes: [expect.objectContaining({ field: "data.size" })] });
  });

  it("changes an object on its way in, and sees the object about to go", async () => {
    await using at = await place();
    const seen: string[] = [];
    const label = mutate(
      ConfigMap,
      (map) => ({ ...map, metadata: { ...map.metadata, labels: { ...map.metadata?.labels, "memhog.test/touched": "yes" } } }),
      at.here,
    );
    const keep = validate(
      ConfigMap,
      (map, _old, { operation }) => {
        seen.push(`${operation} ${map.metadata?.name}`);
        return denied("not this one");
      },
      { ...at.here, operations: ["DELETE"] },
    );
    await using _served = await serving(at, [label, keep]);
    const probe = () => at.client.create(ConfigMap, at.configMap("probe"), { dryRun: true });
    await once(at, probe, (map) => map.metadata.labels?.["memhog.test/touched"] === "yes");
    await at.client.create(ConfigMap, at.configMap("a"));
    const remove = () => at.client.delete(ConfigMap, { namespace: at.namespace, name: "a" }).catch((error: unknown) => error);
    await once(at, remove, (value) => value instanceof ForbiddenError);
    expect(seen).toContain("DELETE a");
  });

  it("converts between the versions of a CRD", async () => {
    await using at = await place();
    interface Sized extends KubernetesObject {
      readonly spec: { readonly size?: number; readonly replicas?: number };
    }
    const group = "convert.memhog.test";
    const kindOf = (version: string) => dynamicKind<Sized>({ group, version, kind: "Sized", plural: "sizeds", namespaced: true });
    const [Old, New] = [kindOf("v1alpha1"), kindOf("v1")];
    const conversion = convert(New, {
      v1alpha1: { v1: (old: Sized): Sized => ({ ...old, spec: { replicas: old.spec.size ?? 0 } }) },
      v1: { v1alpha1: (now: Sized): Sized => ({ ...now, spec: { size: now.spec.replicas ?? 0 } }) },
    });
    await using served = await serving(at, [conversion]);
    const schema = (field: string) => ({
      openAPIV3Schema: {
        type: "object" as const,
        properties: { spec: { type: "object" as const, properties: { [field]: { type: "integer" as const } } } },
      },
    });
    const crd: CustomResourceDefinition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `sizeds.${group}` },
      spec: {
        group,
        names: { kind: "Sized", plural: "sizeds" },
        scope: "Namespaced",
        conversion: conversionThrough({ url: served.url }),
        versions: [
          { name: "v1alpha1", served: true, storage: false, schema: schema("size") },
          { name: "v1", served: true, storage: true, schema: schema("replicas") },
        ],
      },
    };
    await at.cluster.apply(crd);
    const ref = { namespace: at.namespace, name: "a" };
    const make = () => at.client.create(Old, { metadata: ref, spec: { size: 3 } }).catch((error: unknown) => error as Error);
    await once(at, make, (made) => !(made instanceof Error));
    expect((await at.client.get(New, ref)).spec).toEqual({ replicas: 3 });
    expect((await at.client.get(Old, ref)).spec).toEqual({ size: 3 });
    await at.client.delete(CustomResourceDefinition, { name: `sizeds.${group}` });
  });
});

describe("certificates under load", () => {
  it("are exchanged, authority and all, without a failed request", async () => {
    await using at = await place();
    const day = 86_400_000;
    const secret = { namespace: at.namespace, name: "certificates" };
    // Made two months ago by a clock that is behind, so that today both authority and certificate are due.
    let behindMs = 61 * day;
    let settleMs = 30 * day;
    const clock = { ...environment.clock, now: () => environment.clock.now() - behindMs };
    const options = {
      ...{ name: at.name, names: ["127.0.0.1"], authorityLifetimeMs: 90 * day, servingLifetimeMs: 80 * day, everyMs: 50 },
      ...{ environment: { ...environment, clock }, shared: { client: at.client, secret } },
      get settleMs() {
        return settleMs;
      },
    };
    const webhooks = [validate(ConfigMap, () => allowed(), at.here)];
    const trust = { client: at.client, name: at.name };
    const start = (port: number, certificates = selfMadeCertificates(options)): Promise<RunningWebhooks> =>
      serveWebhooks({ webhooks, certificates, environment, host: "127.0.0.1", port, trust }, new AbortController().signal);
    const running = await start(0);
    await at.cluster.apply(...webhookConfigurations(webhooks, { name: at.name, url: `https://127.0.0.1:${running.port}` }));

    const write = () => at.client.create(ConfigMap, at.configMap("load"), { dryRun: true });
    const stored = async () => {
      const { data = {} } = await at.client.get(Secret, secret);
      const text = (key: string) => Buffer.from(data[key] ?? "", "base64").toString();
      return {
        authorities: text("ca.crt").match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----\n?/g) ?? [],
        serving: text("tls.crt"),
      };
    };
    const bundle = async () => {
      const { webhooks: [entry] = [] } = await at.client.get(ValidatingWebhookConfiguration, { name: at.name });
      return Buffer.from(entry?.clientConfig.caBundle ?? "", "base64").toString();
    };

    // Until the API server knows the webhook and trusts it.
    await at.cluster.eventually(bundle, (pem) => pem !== "");
    await at.cluster.eventually(
      () => write().then(() => true),
      (ok) => ok,
    );
    const before = await stored();

    const load = { running: true, writes: 0, failures: [] as unknown[] };
    const loading = (async () => {
      while (load.running) {
        await write().catch((error: unknown) => load.failures.push(error));
        load.writes += 1;
      }
    })();
    const someMoreWrites = async () => {
      const enough = load.writes + 20;
      await at.cluster.eventually(
        () => load.writes,
        (writes) => writes >= enough,
      );
    };

    behindMs = 0; // now a new authority is made, and trusted beside the old one, which still signs
    const both = await at.cluster.eventually(stored, ({ authorities }) => authorities.length === 2);
    expect(isSignedBy(both.serving, before.authorities[0] ?? "")).toBe(true);
    await at.cluster.eventually(bundle, (pem) => pem === both.authorities.join(""));
    await someMoreWrites();
    settleMs = 0; // everybody has had the time to learn of it: it signs
    const after = await at.cluster.eventually(stored, ({ serving: shown }) => isSignedBy(shown, both.authorities[0] ?? ""));
    await someMoreWrites();
    load.running = false;
    await loading;
    expect(load.failures).toEqual([]);

    // And the new one alone is enough: trust nothing else, and serve afresh so that connections are new.
    await running.close();
    const newest = both.authorities[0] ?? "";
    const again = await start(running.port, async function* () {
      const { data = {} } = await at.client.get(Secret, secret);
      yield { certificate: after.serving, key: Buffer.from(data["tls.key"] ?? "", "base64").toString(), trust: newest };
    });
    await spreadTrust(newest, { ...trust, webhooks });
    expect(await bundle()).toBe(newest);
    await at.cluster.eventually(
      () => write().then(() => true),
      (ok) => ok,
    );
    await again.close();
  });

  it("are not believed when another authority signed them", async () => {
    await using at = await place();
    const webhooks = [validate(ConfigMap, () => allowed(), at.here)];
    await using served = await serving(at, webhooks);
    await at.cluster.eventually(
      () => at.client.create(ConfigMap, at.configMap("a"), { dryRun: true }).then(() => true),
      (ok) => ok,
    );
    const { makeAuthority } = await import("./certificates.ts");
    const stranger = makeAuthority({ name: "stranger", lifetimeMs: 3_600_000 }, environment);
    const shown = issueServing(stranger, { names: ["127.0.0.1"], lifetimeMs: 3_600_000 }, environment);
    expect(shown.certificate).not.toBe("");
    // Registered once more under the same address, trusting only the stranger: now nobody gets through.
    await at.client.apply(
      ValidatingWebhookConfiguration,
      webhookConfigurations(webhooks, {
        name: `${at.name}-2`,
        url: served.url,
        trust: stranger.certificate,
      })[0] as ValidatingWebhookConfiguration,
      { fieldManager: "test" },
    );
    try {
      const attempt = () =>
        at.client.create(ConfigMap, at.configMap("b"), { dryRun: true }).catch((error: Error) => error.message);
      const message = await at.cluster.eventually(attempt, (value) => typeof value === "string");
      expect(message).toContain("certificate signed by unknown authority");
    } finally {
      await at.client.delete(ValidatingWebhookConfiguration, { name: `${at.name}-2` });
    }
  });
});
