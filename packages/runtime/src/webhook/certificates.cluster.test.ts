// Self-signed certificates as an API server verifies them: with Node's TLS in the simulator, with Go's in a real cluster.
import { testCluster } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import { ConfigMap, Secret } from "../objects/kinds/core.ts";
import { ValidatingWebhookConfiguration } from "../objects/kinds/extension.ts";
import { allowed } from "./admission.ts";
import { isSignedBy, makeAuthority } from "./certificates.ts";
import { webhookConfigurations } from "./configuration.ts";
import { selfSignedCertificates } from "./self-signed.ts";
import { type RunningWebhooks, serveWebhooks } from "./serve-webhooks.ts";
import { environment, place, serving } from "./testing/place.ts";
import { spreadTrust } from "./trust.ts";
import { validate } from "./webhooks.ts";

describe("certificates under load", () => {
  it("rotate, including the authority, without a failed request", async () => {
    await using at = await place(await testCluster());
    const day = 86_400_000;
    const secret = { namespace: at.namespace, name: "certificates" };
    // Created two months ago by a clock that is behind, so that both authority and certificate are due for renewal today.
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
    const start = (port: number, certificates = selfSignedCertificates(options)): Promise<RunningWebhooks> =>
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

    // Wait until the API server has the webhook configuration and trusts the certificate.
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

    behindMs = 0; // a new authority is created and trusted beside the old one, which still signs
    const both = await at.cluster.eventually(stored, ({ authorities }) => authorities.length === 2);
    expect(isSignedBy(both.serving, before.authorities[0] ?? "")).toBe(true);
    await at.cluster.eventually(bundle, (pem) => pem === both.authorities.join(""));
    await someMoreWrites();
    settleMs = 0; // the settle time has passed: the new authority signs
    const after = await at.cluster.eventually(stored, ({ serving: shown }) => isSignedBy(shown, both.authorities[0] ?? ""));
    await someMoreWrites();
    load.running = false;
    await loading;
    expect(load.failures).toEqual([]);

    // The new authority alone is sufficient: trust only it, and restart the server so that connections are new.
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

  it("are rejected when another authority signed them", async () => {
    await using at = await place(await testCluster());
    const webhooks = [validate(ConfigMap, () => allowed(), at.here)];
    await using served = await serving(at, webhooks);
    await at.cluster.eventually(
      () => at.client.create(ConfigMap, at.configMap("a"), { dryRun: true }).then(() => true),
      (ok) => ok,
    );
    const stranger = await makeAuthority({ name: "stranger", lifetimeMs: 3_600_000 }, environment);
    // Register the webhook again at the same address with only the other authority trusted: now every call fails.
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
