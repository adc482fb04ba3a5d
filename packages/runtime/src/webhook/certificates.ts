// Certificates of our own making: an authority that the API server is told to trust (caBundle), and what the webhook server
// shows, signed by it. Pure but for the making of keys; who stores them and when they are renewed is self-made.ts.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  X509Certificate,
} from "node:crypto";
import { isIP } from "node:net";
import type { Environment } from "../concurrency/environment.ts";
import {
  bitString,
  type Der,
  explicit,
  implicit,
  integer,
  octetString,
  oid,
  sequence,
  set,
  time,
  utf8String,
  yes,
} from "./der.ts";

/** A certificate and its private key, both PEM. The key is a secret: never log it. */
export interface CertifiedKey {
  readonly certificate: string;
  readonly key: string;
}

export interface AuthorityOptions {
  /** What people see as the issuer. */
  readonly name: string;
  readonly lifetimeMs: number;
}

export interface ServingOptions {
  /** DNS names and IP addresses by which clients call us. */
  readonly names: readonly string[];
  readonly lifetimeMs: number;
}

// The API server's clock may be a little behind ours; a certificate from the future is as bad as an expired one.
const backdatedMs = 5 * 60_000;

/** A new authority that may sign serving certificates and nothing else. */
export function makeAuthority({ name, lifetimeMs }: AuthorityOptions, environment: Environment): CertifiedKey {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const keyId = keyIdOf(keys.publicKey);
  const extensions = [
    extension("2.5.29.19", sequence(yes), "critical"), // basic constraints: this is an authority
    extension("2.5.29.15", bitString(Uint8Array.of(0b0000_0110), 1), "critical"), // key usage: sign certificates and CRLs
    extension("2.5.29.14", octetString(keyId)), // subject key identifier: tells two authorities of one name apart
  ];
  const certificate = signCertificate({
    ...{ issuer: nameOf(name), subject: nameOf(name), subjectKey: keys.publicKey, signingKey: keys.privateKey },
    ...{ extensions, lifetimeMs, environment },
  });
  return { certificate, key: pemOf(keys.privateKey) };
}

/** A certificate for a server that is called by these names, signed by the authority. */
export function issueServing(
  authority: CertifiedKey,
  { names, lifetimeMs }: ServingOptions,
  environment: Environment,
): CertifiedKey {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signer = createPublicKey(authority.certificate);
  const extensions = [
    extension("2.5.29.15", bitString(Uint8Array.of(0b1000_0000), 7), "critical"), // key usage: digital signature
    extension("2.5.29.37", sequence(oid("1.3.6.1.5.5.7.3.1"))), // extended key usage: TLS server
    extension("2.5.29.35", sequence(implicit(0, keyIdOf(signer)))), // authority key identifier
    extension("2.5.29.17", sequence(...names.map(alternativeName))), // the names themselves; the subject is only for people
  ];
  const certificate = signCertificate({
    issuer: nameOf(commonNameOf(authority.certificate)),
    subject: nameOf((names[0] ?? "webhook").slice(0, 64)), // RFC 5280's upper bound for a common name
    subjectKey: keys.publicKey,
    signingKey: createPrivateKey(authority.key),
    ...{ extensions, lifetimeMs, environment },
  });
  return { certificate, key: pemOf(keys.privateKey) };
}

/** Is this certificate signed by that authority (and not by another of the same name)? */
export function isSignedBy(certificate: string, authority: string): boolean {
  return new X509Certificate(certificate).verify(createPublicKey(authority));
}

/** Is this the key of that certificate? Not if one of them is half written, or no PEM at all. */
export function belongTogether({ certificate, key }: CertifiedKey): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** Would a client that calls each of these names accept this certificate? */
export function covers(certificate: string, names: readonly string[]): boolean {
  const seen = new X509Certificate(certificate);
  return names.every((name) => (isIP(name) === 0 ? seen.checkHost(name) : seen.checkIP(name)) !== undefined);
}

/** When it becomes and stops being valid, in wall-clock milliseconds. */
export function validityOf(certificate: string): { readonly fromMs: number; readonly untilMs: number } {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  return { fromMs: validFromDate.getTime(), untilMs: validToDate.getTime() };
}

interface Signing {
  readonly issuer: Der;
  readonly subject: Der;
  readonly subjectKey: KeyObject;
  readonly signingKey: KeyObject;
  readonly extensions: readonly Der[];
  readonly lifetimeMs: number;
  readonly environment: Environment;
}

/** RFC 5280, section 4.1, in its order. */
function signCertificate({ issuer, subject, subjectKey, signingKey, extensions, lifetimeMs, environment }: Signing): string {
  const now = environment.clock.now();
  const algorithm = sequence(oid("1.2.840.10045.4.3.2")); // ECDSA with SHA-256
  const toBeSigned = sequence(
    explicit(0, integer(Uint8Array.of(2))), // version 3
    integer(Buffer.from(environment.uuid().replaceAll("-", ""), "hex")), // serial number
    algorithm,
    issuer,
    sequence(time(now - backdatedMs), time(now + lifetimeMs)),
    subject,
    subjectKey.export({ type: "spki", format: "der" }),
    explicit(3, sequence(...extensions)),
  );
  const signature = sign("sha256", toBeSigned, signingKey);
  return new X509Certificate(sequence(toBeSigned, algorithm, bitString(signature))).toString();
}

function extension(id: string, value: Der, critical?: "critical"): Der {
  return sequence(oid(id), ...(critical === undefined ? [] : [yes]), octetString(value));
}

const nameOf = (commonName: string): Der => sequence(set(sequence(oid("2.5.4.3"), utf8String(commonName))));

function commonNameOf(certificate: string): string {
  // Not from `.subject`, which escapes commas and the like: then issuer and subject would no longer be equal.
  return [new X509Certificate(certificate).toLegacyObject().subject.CN].flat()[0] ?? "";
}

function alternativeName(name: string): Der {
  if (isIP(name) === 0) return implicit(2, Buffer.from(name, "latin1"));
  return implicit(7, addressBytes(name));
}

/** 4 or 16 bytes. IPv6 is written out by URL, which knows all its short forms. */
function addressBytes(address: string): Uint8Array {
  if (isIP(address) === 4) return Uint8Array.from(address.split(".").map(Number));
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const words = (text: string) => (text === "" ? [] : text.split(":"));
  const zeros = Array.from({ length: 8 - words(head).length - words(tail ?? "").length }, () => "0");
  const all = [...words(head), ...(tail === undefined ? [] : zeros), ...words(tail ?? "")];
  return Buffer.from(all.map((word) => word.padStart(4, "0")).join(""), "hex");
}

const keyIdOf = (key: KeyObject): Uint8Array =>
  createHash("sha1")
    .update(key.export({ type: "spki", format: "der" }))
    .digest();

const pemOf = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString();
