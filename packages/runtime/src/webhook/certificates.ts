// Self-signed certificates: a certificate authority for caBundle, and the serving certificates that it signs. self-signed.ts
// decides when to renew them and stores them.
import { createPrivateKey, createPublicKey, KeyObject, webcrypto, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { Environment } from "../concurrency/environment.ts";

/** A certificate and its private key, both PEM. The key is a secret: never log it. */
export interface CertifiedKey {
  readonly certificate: string;
  readonly key: string;
}

export interface AuthorityOptions {
  /** Common name of the issuer. */
  readonly name: string;
  readonly lifetimeMs: number;
}

export interface ServingOptions {
  /** DNS names and IP addresses at which clients call the server. */
  readonly names: readonly string[];
  readonly lifetimeMs: number;
}

// The API server's clock may be behind, and it rejects a certificate that is not yet valid.
const backdatedMs = 5 * 60_000;

/** Creates an authority that can sign serving certificates only. */
export async function makeAuthority({ name, lifetimeMs }: AuthorityOptions, environment: Environment): Promise<CertifiedKey> {
  const x509 = await loadX509();
  const { KeyUsageFlags, KeyUsagesExtension, BasicConstraintsExtension, SubjectKeyIdentifierExtension } = x509;
  const keys = await makeKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    keys,
    ...validity(lifetimeMs, environment),
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey), // distinguishes authorities of the same name
    ],
  });
  return certifiedKey(certificate.rawData, keys.privateKey);
}

/** Creates a certificate for a server with these names, signed by the authority. */
export async function issueServing(
  authority: CertifiedKey,
  { names, lifetimeMs }: ServingOptions,
  environment: Environment,
): Promise<CertifiedKey> {
  const x509 = await loadX509();
  const { KeyUsageFlags, KeyUsagesExtension, ExtendedKeyUsageExtension, SubjectAlternativeNameExtension } = x509;
  const keys = await makeKeys();
  const issuer = new x509.X509Certificate(authority.certificate);
  const certificate = await x509.X509CertificateGenerator.create({
    issuer: issuer.subjectName,
    subject: [{ CN: [(names[0] ?? "webhook").slice(0, 64)] }], // RFC 5280 allows 64 characters; clients read the extension
    publicKey: keys.publicKey,
    signingKey: createPrivateKey(authority.key).toCryptoKey(ecdsa, false, ["sign"]),
    ...validity(lifetimeMs, environment),
    extensions: [
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      new SubjectAlternativeNameExtension(names.map((value) => ({ type: isIP(value) === 0 ? "dns" : "ip", value }))),
    ],
  });
  return certifiedKey(certificate.rawData, keys.privateKey);
}

/** Reports whether the authority signed this certificate. Distinguishes authorities of the same name. */
export function isSignedBy(certificate: string, authority: string): boolean {
  return new X509Certificate(certificate).verify(createPublicKey(authority));
}

/** Reports whether the key matches the certificate. False if either is incomplete or not PEM. */
export function belongTogether({ certificate, key }: CertifiedKey): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** Reports whether the certificate is valid for each of these names. */
export function covers(certificate: string, names: readonly string[]): boolean {
  const seen = new X509Certificate(certificate);
  return names.every((name) => (isIP(name) === 0 ? seen.checkHost(name) : seen.checkIP(name)) !== undefined);
}

/** The validity period, in wall-clock milliseconds. */
export function validityOf(certificate: string): { readonly fromMs: number; readonly untilMs: number } {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  return { fromMs: validFromDate.getTime(), untilMs: validToDate.getTime() };
}

/** Imported on first use: it takes 23 MiB of memory, which operators without self-signed certificates do not need. */
async function loadX509(): Promise<typeof import("@peculiar/x509")> {
  await import("reflect-metadata"); // required by the dependency injection of @peculiar/x509
  return import("@peculiar/x509");
}

const ecdsa = { name: "ECDSA", namedCurve: "P-256" } as const;

async function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ecdsa, true, ["sign", "verify"]);
}

function validity(lifetimeMs: number, { clock, uuid }: Environment) {
  const now = clock.now();
  return {
    serialNumber: uuid().replaceAll("-", ""),
    notBefore: new Date(now - backdatedMs),
    notAfter: new Date(now + lifetimeMs),
    signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
  };
}

function certifiedKey(der: ArrayBuffer, key: webcrypto.CryptoKey): CertifiedKey {
  return {
    certificate: new X509Certificate(Buffer.from(der)).toString(),
    key: KeyObject.from(key).export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** The certificate that the server presents. */
export interface ServingCertificate extends CertifiedKey {
  /** PEM certificates that callers must trust, for caBundle. Absent if something else sets caBundle (cert-manager). */
  readonly trust?: string;
}

/**
 * Yields the current certificate, then every new one until the signal aborts. The server starts after the first; each later one
 * replaces its predecessor without a restart.
 */
export type CertificateSource = (signal: AbortSignal) => AsyncIterable<ServingCertificate>;
