import { once } from "node:events";
import { connect } from "node:tls";
import { describe, expect, it } from "vitest";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { settled, systemEnvironment } from "../concurrency/system-environment.ts";
import { ValidatingWebhookConfiguration } from "../objects/kinds/extension.ts";
import type { Kind } from "../objects/object.ts";
import { ObjectsInMemory } from "../operator/testing/objects-in-memory.ts";
import { allowed } from "./admission.ts";
import type { CertificateSource, ServingCertificate } from "./certificates.ts";
import { type CertifiedKey, issueServing, makeAuthority } from "./certificates.ts";
import { webhookConfigurations } from "./configuration.ts";
import { CertificateError } from "./errors.ts";
import { selfSignedCertificates } from "./self-signed.ts";
import { serveWebhooks } from "./serve-webhooks.ts";
import { validate } from "./webhooks.ts";

const real = systemEnvironment();
const Gordon: Kind = { group: "operator.prgcont.cz", version: "v1", kind: "Gordon", plural: "gordons", namespaced: true };
const webhooks = [validate(Gordon, () => allowed())];
const authority = () => makeAuthority({ name: "test", lifetimeMs: 86_400_000 }, real);
const signedBy = async (by: CertifiedKey): Promise<ServingCertificate> => ({
  ...(await issueServing(by, { names: ["localhost"], lifetimeMs: 3_600_000 }, real)),
  trust: by.certificate,
});

/** A source that yields the certificates that the test passes to it. */
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

/** Reports whether a client that trusts only this authority accepts the server's certificate. */
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

describe("served webhooks", () => {
  it("update caBundle before they present a new certificate", async () => {
    const [old, next] = [await authority(), await authority()];
    const objects = new ObjectsInMemory();
    const [configuration] = webhookConfigurations(webhooks, { name: "gordon", url: "https://localhost:1" });
    await objects.client.create(ValidatingWebhookConfiguration, configuration as ValidatingWebhookConfiguration);
    const { source, give } = byHand(await signedBy(old));
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
    give(await signedBy(next));
    for (let turns = 0; turns < 50; turns += 1) await settled();
    expect(await isTrusted(running.port, next)).toBe(false); // caBundle is not updated yet
    release();
    for (let turns = 0; turns < 50; turns += 1) await settled();
    expect(await isTrusted(running.port, next)).toBe(true);
    const stored = objects.read(ValidatingWebhookConfiguration, { name: "gordon" })?.webhooks?.[0]?.clientConfig.caBundle;
    expect(Buffer.from(stored ?? "", "base64").toString()).toBe(next.certificate);
    await running.close();
  });

  it("report a certificate that does not match its key, and use the next one", async () => {
    const [old, next] = [await authority(), await authority()];
    const problems: unknown[] = [];
    const { source, give } = byHand(await signedBy(old));
    const onProblem = (problem: unknown) => problems.push(problem);
    const running = await serveWebhooks(
      { webhooks, certificates: source, environment: manualEnvironment(), host: "127.0.0.1", port: 0, onProblem },
      new AbortController().signal,
    );
    give({ ...(await signedBy(next)), key: old.key });
    for (let turns = 0; turns < 50; turns += 1) await settled();
    expect(problems).toEqual([expect.any(CertificateError)]);
    expect(await isTrusted(running.port, old)).toBe(true);
    give(await signedBy(next));
    for (let turns = 0; turns < 50; turns += 1) await settled();
    expect(await isTrusted(running.port, next)).toBe(true);
    await running.close();
  });

  it("keep presenting a valid certificate while caBundle cannot be updated for the next one", async () => {
    const [old, next] = [await authority(), await authority()];
    const objects = new ObjectsInMemory();
    const environment = manualEnvironment({ now: real.clock.now() });
    const problems: unknown[] = [];
    const { source, give } = byHand(await signedBy(old));
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
    give(await signedBy(next));
    await environment.clock.advance(60_000);
    expect(problems.length).toBeGreaterThan(1);
    expect(await isTrusted(running.port, old)).toBe(true);
    objects.before = () => {};
    await environment.clock.advance(60_000);
    expect(await isTrusted(running.port, next)).toBe(true);
    await running.close();
  });

  it("present an untrusted certificate rather than an expired one", async () => {
    const [old, next] = [await authority(), await authority()];
    const objects = new ObjectsInMemory();
    const environment = manualEnvironment({ now: real.clock.now() });
    const { source, give } = byHand(await signedBy(old));
    const trust = { client: objects.client, name: "gordon" };
    const options = { webhooks, certificates: source, environment, host: "127.0.0.1", port: 0, trust };
    const running = await serveWebhooks(options, new AbortController().signal);
    objects.before = () => {
      throw new Error("connection refused");
    };
    give(await signedBy(next));
    await environment.clock.advance(3_700_000);
    expect(await isTrusted(running.port, next)).toBe(true);
    await running.close();
  });

  it("present each new certificate at once when they do not manage caBundle", async () => {
    const [old, next] = [await authority(), await authority()];
    const { source, give } = byHand(await signedBy(old));
    const options = { webhooks, certificates: source, environment: manualEnvironment(), host: "127.0.0.1", port: 0 };
    const running = await serveWebhooks(options, new AbortController().signal);
    give(await signedBy(next));
    for (let turns = 0; turns < 50; turns += 1) await settled();
    expect(await isTrusted(running.port, next)).toBe(true);
    await running.close();
  });

  it("stop while caBundle cannot be updated, without leaving timers behind", async () => {
    const objects = new ObjectsInMemory();
    const environment = manualEnvironment({ now: real.clock.now() });
    const { source, give } = byHand(await signedBy(await authority()));
    const trust = { client: objects.client, name: "gordon" };
    const options = { webhooks, certificates: source, environment, host: "127.0.0.1", port: 0, trust };
    const running = await serveWebhooks(options, new AbortController().signal);
    objects.before = () => {
      throw new Error("connection refused");
    };
    give(await signedBy(await authority()));
    await environment.clock.advance(10_000);
    await running.close();
    expect(environment.clock.pending).toBe(0);
  });

  it("reject with the abort reason when stopped before there is a certificate", async () => {
    const asked = new AbortController();
    const environment = manualEnvironment();
    const { client } = new ObjectsInMemory();
    const unreadable = { ...client, find: () => Promise.reject(new Error("connection refused")) };
    const shared = { client: unreadable, secret: { namespace: "apps", name: "gordon" } };
    const certificates = selfSignedCertificates({ name: "gordon", names: ["localhost"], environment, shared });
    const options = { webhooks, certificates, environment, host: "127.0.0.1", port: 0 };
    const serving = serveWebhooks(options, asked.signal);
    asked.abort(new Error("asked to stop"));
    await expect(serving).rejects.toBe(asked.signal.reason);
  });

  it("fail to start without a certificate", async () => {
    const none: CertificateSource = async function* () {};
    const options = { webhooks, certificates: none, environment: real, host: "127.0.0.1", port: 0 };
    await expect(serveWebhooks(options, new AbortController().signal)).rejects.toMatchObject({ code: "WEBHOOK_CERTIFICATE" });
  });
});
