import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createAuthority, kubeconfig } from "./pki.ts";

const authority = await createAuthority("test");
const server = await authority.issue({ commonName: "server", hosts: ["127.0.0.1", "kubernetes.default.svc"] });
const client = await authority.issue({ commonName: "jane", organizations: ["devs", "ops"] });

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
  it("authenticate a client and a server of one authority to each other", async () => {
    expect(await handshake(client, "kubernetes.default.svc")).toBe("jane");
  });

  it("are not valid for another name", async () => {
    expect(await handshake(client, "other.svc")).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  });

  it("are not trusted by a client of another authority of the same name", async () => {
    expect(await handshake(client, "kubernetes.default.svc", await createAuthority("test"))).toBe("SELF_SIGNED_CERT_IN_CHAIN");
  });

  it("contain the groups of a user", () => {
    expect(new X509Certificate(client.certificate).subject).toBe("O=devs\nO=ops\nCN=jane");
  });

  it("contain DNS names and IP addresses", () => {
    expect(new X509Certificate(server.certificate).subjectAltName).toBe("IP Address:127.0.0.1, DNS:kubernetes.default.svc");
  });

  it("are valid now and in a year, and only the authority can sign others", () => {
    const certificate = new X509Certificate(server.certificate);
    expect(Date.parse(certificate.validFrom)).toBeLessThan(Date.now());
    expect(Date.parse(certificate.validTo)).toBeGreaterThan(Date.now() + 365 * 24 * 3_600_000);
    expect([certificate.ca, new X509Certificate(authority.certificate).ca]).toEqual([false, true]);
    expect(certificate.checkIssued(new X509Certificate(authority.certificate))).toBe(true);
  });
});

const base = { name: "localcluster-x", server: "https://127.0.0.1:1", authority: "CA" };
const base64 = (text: string) => Buffer.from(text).toString("base64");

it("a kubeconfig contains the certificate and key of its user, and the authority of the server", () => {
  const config = parse(kubeconfig({ ...base, user: { certificate: "CERT", key: "KEY" } }));
  expect(config.clusters[0].cluster).toEqual({ server: base.server, "certificate-authority-data": base64("CA") });
  expect(config.users[0].user).toEqual({ "client-certificate-data": base64("CERT"), "client-key-data": base64("KEY") });
  expect(config["current-context"]).toBe(config.contexts[0].name);
});

it("a kubeconfig of a service account contains a token and a namespace", () => {
  const config = parse(kubeconfig({ ...base, user: { token: "T" }, namespace: "apps" }));
  expect(config.users[0].user).toEqual({ token: "T" });
  expect(config.contexts[0].context).toEqual({ cluster: base.name, user: base.name, namespace: "apps" });
});
