import { once } from "node:events";
import { connect } from "node:tls";
import { describe, expect, it } from "vitest";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { settled, systemEnvironment } from "../concurrency/system-environment.ts";
import { ValidatingWebhookConfiguration } from "../objects/kinds/admissionregistration.ts";
import type { Kind } from "../objects/object.ts";
import { ObjectsInMemory } from "../operator/testing/objects-in-memory.ts";
import { allowed } from "./admission.ts";
import type { CertificateSource, ServingCertificate } from "./certificate-source.ts";
import { type CertifiedKey, issueServing, makeAuthority } from "./certificates.ts";
import { webhookConfigurations } from "./configuration.ts";
import { CertificateError } from "./errors.ts";
import { selfMadeCertificates } from "./self-made.ts";
import { serveWebhooks } from "./serve-webhooks.ts";
import { validate } from "./webhooks.ts";

const real = systemEnvironment();
const Gordon: Kind = { group: "operator.prgcont.cz", version: "v1", kind: "Gordon", plural: "gordons", namespaced: true };
const webhooks = [validate(Gordon, () => allowed())];
const authority = () => makeAuthority({ name: "test", lifetimeMs: 86_400_000 }, real);
const signedBy = (by: CertifiedKey): ServingCertificate => ({
  ...issueServing(by, { names: ["localhost"], lifetimeMs: 3_600_000 }, real),
  trust: by.certificate,
});

/** A source that yields what it is given, when it is given. */
function byHand(first: ServingCertificate) {
  const waiting = [first];
  let wake = () => {};
  const source: CertificateSource = async function* (signal) {
    const over = once(signal, "abort");
    for (;;) {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) yield next;
      await Promise.race([over, new Promise<void>((resolve) => (wake = resolve))]);
      if (signal.aborted) return;
    }
  };
  return {
    source,
    give: (next: ServingCertificate) => {
      waiting.push(next);
      wake();
    },
  };
}

/** Does a client that trusts only this authority accept what is shown? */
async function isTrusted(port: number, { certificate }: CertifiedKey): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port, ca: certificate, servername: "localhost" });
  try {
    await once(socket, "secureConnect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

describe("webhooks that are served", () => {
  it("show each new certificate, and make it trusted before they show it", async () => {
    const [old, next] = [authority(), authority()];
    const objects = new ObjectsInMemory();
    const [configuration] = webhookConfigurations(webhooks, { name: "gordon", url: "https://localhost:1" });
    await objects.client.create(ValidatingWebhookConfiguration, configuration as ValidatingWebhookConfiguration);
    const { source, give } = byHand(signedBy(old));
    const running = await serveWebhooks(
      {
        ...{ webhooks, certificates: source, environment: manualEnvironment(), host: "127.0.0.1", port: 0 },
        trust: { client: objects.client, name: "gordon" },
      },
      new AbortController().signal,
    );
    expect(await isTrusted(running.port, old)).toBe(true);
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    objects.before = ({ verb }) => (verb === "update" ? held : undefined);
    give(signedBy(next));
    for (let turns = 0; turns < 50; turns += 1) await settled();
    expect(await isTrusted(running.port, next)).toBe(false); // the API server has not been told yet
    release();
    for (let turns = 0; turns < 50; turns += 1) await settled();
    expect(await isTrusted(running.port, next)).toBe(true);
    const stored = objects.read(ValidatingWebhookConfiguration, { name: "gordon" })?.webhooks?.[0]?.clientConfig.caBundle;
    expect(Buffer.from(stored ?? "", "base64").toString()).toBe(next.certificate);
    await running.close();
  });

  it("say so when a certificate and its key do not belong together, and take the next", async () => {
    const [old, next] = [authority(), authority()];
    const problems: unknown[] = [];
    const { source, give } = byHand(signedBy(old));
    const onProblem = (problem: unknown) => problems.push(problem);
    const running = await serveWebhooks(
      { webhooks, certificates: source, environment: manualEnvironment(), host: "127.0.0.1", port: 0, onProblem },
      new AbortController().signal,
    );
    give({ ...signedBy(next), key: old.key });
    for (let turns = 0; turns < 50; turns += 1) await settled();
    expect(problems).toEqual([expect.any(CertificateError)]);
    expect(await isTrusted(running.port, old)).toBe(true);
    give(signedBy(next));
    for (let turns = 0; turns < 50; turns += 1) await settled();
    expect(await isTrusted(running.port, next)).toBe(true);
    await running.close();
  });

  it("go on to show a certificate that is trusted and good while the next one cannot be made trusted", async () => {
    const [old, next] = [authority(), authority()];
    const objects = new ObjectsInMemory();
    const environment = manualEnvironment({ now: real.clock.now() });
    const problems: unknown[] = [];
    const { source, give } = byHand(signedBy(old));
    const running = await serveWebhooks(
      {
        ...{
          webhooks,
          certificates: source,
          environment,
          host: "127.0.0.1",
          port: 0,
          onProblem: (error) => problems.push(error),
        },
        trust: { client: objects.client, name: "gordon" },
      },
      new AbortController().signal,
    );
    objects.before = () => {
      throw new Error("connection refused");
    };
    give(signedBy(next));
    await environment.clock.advance(60_000);
    expect(problems.length).toBeGreaterThan(1);
    expect(await isTrusted(running.port, old)).toBe(true);
    objects.before = () => {};
    await environment.clock.advance(60_000);
    expect(await isTrusted(running.port, next)).toBe(true);
    await running.close();
  });

  it("show the next certificate untrusted rather than one that has ended", async () => {
    const [old, next] = [authority(), authority()];
    const objects = new ObjectsInMemory();
    const environment = manualEnvironment({ now: real.clock.now() });
    const { source, give } = byHand(signedBy(old));
    const trust = { client: objects.client, name: "gordon" };
    const options = { webhooks, certificates: source, environment, host: "127.0.0.1", port: 0, trust };
    const running = await serveWebhooks(options, new AbortController().signal);
    objects.before = () => {
      throw new Error("connection refused");
    };
    give(signedBy(next));
    await environment.clock.advance(3_700_000);
    expect(await isTrusted(running.port, next)).toBe(true);
    await running.close();
  });

  it("show each new certificate at once where trust is somebody else's business", async () => {
    const [old, next] = [authority(), authority()];
    const { source, give } = byHand(signedBy(old));
    const options = { webhooks, certificates: source, environment: manualEnvironment(), host: "127.0.0.1", port: 0 };
    const running = await serveWebhooks(options, new AbortController().signal);
    give(signedBy(next));
    for (let turns = 0; turns < 50; turns += 1) await settled();
    expect(await isTrusted(running.port, next)).toBe(true);
    await running.close();
  });

  it("stop also while the next certificate cannot be made trusted, and leave nothing behind", async () => {
    const objects = new ObjectsInMemory();
    const environment = manualEnvironment({ now: real.clock.now() });
    const { source, give } = byHand(signedBy(authority()));
    const trust = { client: objects.client, name: "gordon" };
    const options = { webhooks, certificates: source, environment, host: "127.0.0.1", port: 0, trust };
    const running = await serveWebhooks(options, new AbortController().signal);
    objects.before = () => {
      throw new Error("connection refused");
    };
    give(signedBy(authority()));
    await environment.clock.advance(10_000);
    await running.close();
    expect(environment.clock.pending).toBe(0);
  });

  it("are not missed by who is asked to stop while there is no certificate", async () => {
    const asked = new AbortController();
    const environment = manualEnvironment();
    const { client } = new ObjectsInMemory();
    const unreadable = { ...client, find: () => Promise.reject(new Error("connection refused")) };
    const shared = { client: unreadable, secret: { namespace: "apps", name: "gordon" } };
    const certificates = selfMadeCertificates({ name: "gordon", names: ["localhost"], environment, shared });
    const options = { webhooks, certificates, environment, host: "127.0.0.1", port: 0 };
    const serving = serveWebhooks(options, asked.signal);
    asked.abort(new Error("asked to stop"));
    await expect(serving).rejects.toBe(asked.signal.reason);
  });

  it("say so when there is no certificate to begin with", async () => {
    const none: CertificateSource = async function* () {};
    const options = { webhooks, certificates: none, environment: real, host: "127.0.0.1", port: 0 };
    await expect(serveWebhooks(options, new AbortController().signal)).rejects.toMatchObject({ code: "WEBHOOK_CERTIFICATE" });
  });
});
