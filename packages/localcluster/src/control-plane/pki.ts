// The certificates, keys and kubeconfigs of a cluster, as files below pki/. ECDSA P-256 throughout: a key takes a millisecond.
//
// There are two certificate authorities, as in any cluster. One signs the certificates of the API server and of its users. The other
// signs only the certificate that the API server presents when it passes a user's request on to an aggregated API server: with a
// single authority, any user could claim to be the API server.
import { generateKeyPairSync, KeyObject, randomBytes, webcrypto } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import type * as X509 from "@peculiar/x509";
import { stringify } from "yaml";
import type { ClusterDirectory } from "../state/directory.ts";

/** Paths of a certificate and its key. */
interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

export interface Pki {
  /** Signs the certificates of servers and users. */
  readonly authority: Authority;
  readonly authorityFiles: CertificateFiles;
  readonly apiServer: CertificateFiles;
  /** Presented by the API server to a kubelet, for logs and exec. */
  readonly kubeletClient: CertificateFiles;
  readonly frontProxyAuthority: string;
  readonly frontProxyClient: CertificateFiles;
  /** Signs service account tokens. */
  readonly serviceAccountKey: string;
  /** Verifies service account tokens. */
  readonly serviceAccountPublicKey: string;
  /** Signs another certificate and writes it to pki/NAME.crt and pki/NAME.key. */
  issue(name: string, request: CertificateRequest): Promise<CertificateFiles>;
}

/** `hosts` are the names and addresses of the API server. */
export async function createPki(directory: ClusterDirectory, hosts: readonly string[]): Promise<Pki> {
  const writeKey = async (name: string, content: string): Promise<string> => {
    const path = join(directory.pki, name);
    await writeFile(path, content, { mode: 0o600 });
    return path;
  };
  const writePair = async (name: string, { certificate, key }: CertifiedKey): Promise<CertificateFiles> => ({
    certificate: await writeKey(`${name}.crt`, certificate),
    key: await writeKey(`${name}.key`, key),
  });
  const authority = await createAuthority("localcluster");
  const frontProxy = await createAuthority("localcluster-front-proxy");
  const tokens = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issue: Pki["issue"] = async (name, request) => writePair(name, await authority.issue(request));
  return {
    authority,
    authorityFiles: await writePair("ca", authority),
    apiServer: await issue("apiserver", { commonName: "kube-apiserver", hosts }),
    kubeletClient: await issue("apiserver-kubelet-client", {
      commonName: "kube-apiserver-kubelet-client",
      organizations: ["system:masters"],
    }),
    frontProxyAuthority: await writeKey("front-proxy-ca.crt", frontProxy.certificate),
    frontProxyClient: await writePair("front-proxy-client", await frontProxy.issue({ commonName: "front-proxy-client" })),
    serviceAccountKey: await writeKey("sa.key", tokens.privateKey.export({ format: "pem", type: "pkcs8" }).toString()),
    serviceAccountPublicKey: await writeKey("sa.pub", tokens.publicKey.export({ format: "pem", type: "spki" }).toString()),
    issue,
  };
}

/** A certificate and its private key, both PEM. */
export interface CertifiedKey {
  readonly certificate: string;
  readonly key: string;
}

export interface Authority extends CertifiedKey {
  issue(request: CertificateRequest): Promise<CertifiedKey>;
}

export interface CertificateRequest {
  /** To Kubernetes, the name of a user. */
  readonly commonName: string;
  /** To Kubernetes, the groups of that user. */
  readonly organizations?: readonly string[];
  /** DNS names and IP addresses of a server. Without any, it is a client certificate. */
  readonly hosts?: readonly string[];
}

const ecdsa = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** A new certificate authority. */
export async function createAuthority(commonName: string): Promise<Authority> {
  const x509 = await loadX509();
  const { BasicConstraintsExtension, KeyUsageFlags, KeyUsagesExtension, SubjectKeyIdentifierExtension } = x509;
  const keys = await createKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: nameOf({ commonName }),
    keys,
    signingAlgorithm: ecdsa,
    ...validity(),
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey), // distinguishes two authorities of the same name
    ],
  });
  return { ...toPem(certificate, keys), issue: (request) => issueFrom({ certificate, keys }, request, x509) };
}

interface Issuer {
  readonly certificate: X509.X509Certificate;
  readonly keys: webcrypto.CryptoKeyPair;
}

async function issueFrom(issuer: Issuer, request: CertificateRequest, x509: typeof X509): Promise<CertifiedKey> {
  const { hosts = [] } = request;
  const keys = await createKeys();
  const usage = hosts.length > 0 ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth;
  const names = hosts.map((value) => ({ type: isIP(value) === 0 ? ("dns" as const) : ("ip" as const), value }));
  const certificate = await x509.X509CertificateGenerator.create({
    issuer: issuer.certificate.subjectName,
    subject: nameOf(request),
    publicKey: keys.publicKey,
    signingKey: issuer.keys.privateKey,
    signingAlgorithm: ecdsa,
    ...validity(),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([usage]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.keys.publicKey),
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
    ],
  });
  return toPem(certificate, keys);
}

/** On first use only: commands that create no certificates should start quickly. */
async function loadX509(): Promise<typeof X509> {
  await import("reflect-metadata"); // required by the dependency injection of @peculiar/x509
  return import("@peculiar/x509");
}

function createKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ecdsa, true, ["sign", "verify"]);
}

function nameOf({ commonName, organizations = [] }: CertificateRequest): X509.JsonName {
  return [...organizations.map((organization) => ({ O: [organization] })), { CN: [commonName] }];
}

const hour = 3_600_000;
const year = 365 * 24 * hour;

function validity() {
  const now = Date.now();
  return {
    serialNumber: `01${randomBytes(15).toString("hex")}`,
    // From an hour ago, in case the clock is set back; for ten years, because a cluster of `up` may be kept for long.
    notBefore: new Date(now - hour),
    notAfter: new Date(now + 10 * year),
  };
}

function toPem(certificate: X509.X509Certificate, { privateKey }: webcrypto.CryptoKeyPair): CertifiedKey {
  const key = KeyObject.from(privateKey).export({ format: "pem", type: "pkcs8" }).toString();
  return { certificate: `${certificate.toString("pem")}\n`, key };
}

export interface KubeconfigOptions {
  /** Names the cluster, the user and the context. */
  readonly name: string;
  readonly server: string;
  /** PEM. */
  readonly authority: string;
  readonly user: CertifiedKey | { readonly token: string };
  /** @default "default", as kubectl has it */
  readonly namespace?: string;
}

/** Writes a kubeconfig with everything inline, readable by its owner only. */
export async function writeKubeconfig(file: string, options: KubeconfigOptions): Promise<string> {
  await writeFile(file, kubeconfig(options), { mode: 0o600 });
  return file;
}

export function kubeconfig({ name, server, authority, user, namespace }: KubeconfigOptions): string {
  const context = { cluster: name, user: name, ...(namespace === undefined ? {} : { namespace }) };
  const credentials =
    "token" in user
      ? { token: user.token }
      : { "client-certificate-data": base64(user.certificate), "client-key-data": base64(user.key) };
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, "certificate-authority-data": base64(authority) } }],
    users: [{ name, user: credentials }],
    contexts: [{ name, context }],
    "current-context": name,
  });
}

const base64 = (text: string) => Buffer.from(text).toString("base64");
