import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:tls";
import { describe, expect, it } from "vitest";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { systemEnvironment } from "../concurrency/system-environment.ts";
import { type CertifiedKey, covers, isSignedBy, issueServing, makeAuthority, validityOf } from "./certificates.ts";

const day = 24 * 3_600_000;
const environment = systemEnvironment();
const authority = await makeAuthority({ name: "gordon, webhooks", lifetimeMs: 30 * day }, environment);
const serving = await issueServing(
  authority,
  { names: ["localhost", "gordon.apps.svc", "127.0.0.1", "fd00::1"], lifetimeMs: day },
  environment,
);

/** Returns the certificate that a client received, or the error that ended its connection. */
async function handshake(shown: CertifiedKey, trusted: string, servername: string): Promise<string> {
  const server = createServer({ cert: shown.certificate, key: shown.key });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", ca: trusted, servername });
  try {
    await once(socket, "secureConnect");
    return "trusted";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    socket.destroy();
    server.close();
  }
}

describe("self-signed certificates", () => {
  it("are trusted by a client that trusts their authority", async () => {
    expect(await handshake(serving, authority.certificate, "gordon.apps.svc")).toBe("trusted");
  });

  it("are not trusted for a name they do not cover", async () => {
    expect(await handshake(serving, authority.certificate, "other.apps.svc")).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  });

  it("are not trusted by a client that trusts another authority of the same name", async () => {
    const other = await makeAuthority({ name: "gordon, webhooks", lifetimeMs: 30 * day }, environment);
    expect(isSignedBy(serving.certificate, authority.certificate)).toBe(true);
    expect(isSignedBy(serving.certificate, other.certificate)).toBe(false);
    expect(await handshake(serving, other.certificate, "localhost")).not.toBe("trusted");
  });

  it("are trusted among several authorities of the same name, as during rotation", async () => {
    const next = await makeAuthority({ name: "gordon, webhooks", lifetimeMs: 30 * day }, environment);
    const bundle = next.certificate + authority.certificate;
    expect(await handshake(serving, bundle, "localhost")).toBe("trusted");
    expect(
      await handshake(await issueServing(next, { names: ["localhost"], lifetimeMs: day }, environment), bundle, "localhost"),
    ).toBe("trusted");
  });

  it("state which names they cover, including IP addresses in any notation", () => {
    expect(covers(serving.certificate, ["localhost", "gordon.apps.svc", "127.0.0.1", "fd00:0:0::1"])).toBe(true);
    expect(covers(serving.certificate, ["localhost", "gordon.apps.svc.cluster.local"])).toBe(false);
    expect(covers(serving.certificate, ["127.0.0.2"])).toBe(false);
  });

  it("use the environment's clock and start five minutes early for clocks that are behind", async () => {
    const manual = manualEnvironment();
    const now = manual.clock.now();
    const { fromMs, untilMs } = validityOf((await makeAuthority({ name: "x", lifetimeMs: day }, manual)).certificate);
    expect({ fromMs, untilMs }).toEqual({ fromMs: now - 5 * 60_000, untilMs: now + day });
  });

  it("mark only the authority as a CA", () => {
    expect(new X509Certificate(authority.certificate).ca).toBe(true);
    expect(new X509Certificate(serving.certificate).ca).toBe(false);
  });
});
