import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { createAuthority } from "./certificates.ts";

const authority = createAuthority("test");
const server = authority.issue({ commonName: "server", hosts: ["127.0.0.1", "kubernetes.default.svc"] });
const client = authority.issue({ commonName: "jane", organizations: ["devs", "ops"] });

/** Who the server saw, or what went wrong. */
async function handshake(as: { certificate: string; key: string }, servername: string, trusted = authority): Promise<string> {
  const options = { cert: server.certificate, key: server.key, ca: authority.certificate };
  const listener = createServer({ ...options, requestCert: true, rejectUnauthorized: true });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const seen = once(listener, "secureConnection") as Promise<[TLSSocket]>;
  const { port } = listener.address() as AddressInfo;
  const socket = connect({ port, host: "127.0.0.1", servername, ca: trusted.certificate, cert: as.certificate, key: as.key });
  try {
    await once(socket, "secureConnect");
    const [peer] = await seen;
    return String(peer.getPeerCertificate().subject.CN);
  } catch (error) {
    seen.catch(() => {});
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    socket.destroy();
    listener.close();
  }
}

describe("certificates", () => {
  it("let a client and a server of one authority know each other", async () => {
    expect(await handshake(client, "kubernetes.default.svc")).toBe("jane");
  });

  it("are good for no other name", async () => {
    expect(await handshake(client, "other.svc")).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  });

  it("are good for no one who trusts another authority of the same name", async () => {
    expect(await handshake(client, "kubernetes.default.svc", createAuthority("test"))).toBe("SELF_SIGNED_CERT_IN_CHAIN");
  });

  it("carry the groups of a user, each by itself", () => {
    expect(new X509Certificate(client.certificate).subject).toBe("O=devs\nO=ops\nCN=jane");
  });

  it("name hosts and addresses", () => {
    expect(new X509Certificate(server.certificate).subjectAltName).toBe("IP Address:127.0.0.1, DNS:kubernetes.default.svc");
  });

  it("are valid now and in a year, and only the authority may sign others", () => {
    const certificate = new X509Certificate(server.certificate);
    expect(Date.parse(certificate.validFrom)).toBeLessThan(Date.now());
    expect(Date.parse(certificate.validTo)).toBeGreaterThan(Date.now() + 365 * 24 * 3_600_000);
    expect([certificate.ca, new X509Certificate(authority.certificate).ca]).toEqual([false, true]);
    expect(certificate.checkIssued(new X509Certificate(authority.certificate))).toBe(true);
  });
});
