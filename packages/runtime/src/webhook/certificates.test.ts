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
const authority = makeAuthority({ name: "gordon, webhooks", lifetimeMs: 30 * day }, environment);
const serving = issueServing(
  authority,
  { names: ["localhost", "gordon.apps.svc", "127.0.0.1", "fd00::1"], lifetimeMs: day },
  environment,
);

/** The certificate a client got to see, or why it hung up. */
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

describe("certificates of our own making", () => {
  it("are trusted by a client that trusts their authority", async () => {
    expect(await handshake(serving, authority.certificate, "gordon.apps.svc")).toBe("trusted");
  });

  it("are not trusted under a name they do not have", async () => {
    expect(await handshake(serving, authority.certificate, "other.apps.svc")).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  });

  it("are not trusted by a client that trusts another authority of the same name", async () => {
    const other = makeAuthority({ name: "gordon, webhooks", lifetimeMs: 30 * day }, environment);
    expect(isSignedBy(serving.certificate, authority.certificate)).toBe(true);
    expect(isSignedBy(serving.certificate, other.certificate)).toBe(false);
    expect(await handshake(serving, other.certificate, "localhost")).not.toBe("trusted");
  });

  it("are found among several authorities of one name, as while one replaces the other", async () => {
    const next = makeAuthority({ name: "gordon, webhooks", lifetimeMs: 30 * day }, environment);
    const bundle = next.certificate + authority.certificate;
    expect(await handshake(serving, bundle, "localhost")).toBe("trusted");
    expect(await handshake(issueServing(next, { names: ["localhost"], lifetimeMs: day }, environment), bundle, "localhost")).toBe(
      "trusted",
    );
  });

  it("say which names they cover, IP addresses in any spelling", () => {
    expect(covers(serving.certificate, ["localhost", "gordon.apps.svc", "127.0.0.1", "fd00:0:0::1"])).toBe(true);
    expect(covers(serving.certificate, ["localhost", "gordon.apps.svc.cluster.local"])).toBe(false);
    expect(covers(serving.certificate, ["127.0.0.2"])).toBe(false);
  });

  it("live by the environment's clock, beginning five minutes ago for clocks that are behind", () => {
    const manual = manualEnvironment();
    const now = manual.clock.now();
    const { fromMs, untilMs } = validityOf(makeAuthority({ name: "x", lifetimeMs: day }, manual).certificate);
    expect({ fromMs, untilMs }).toEqual({ fromMs: now - 5 * 60_000, untilMs: now + day });
  });

  it("only the authority may sign others", () => {
    expect(new X509Certificate(authority.certificate).ca).toBe(true);
    expect(new X509Certificate(serving.certificate).ca).toBe(false);
  });
});
