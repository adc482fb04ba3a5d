// Certificates of our own making: an authority, and what it signs. ECDSA P-256 throughout: a key is made in a millisecond.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import {
  bitString,
  boolean,
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
} from "./der.ts";

/** A certificate and its private key, both PEM. */
export interface CertifiedKey {
  readonly certificate: string;
  readonly key: string;
}

export interface Authority extends CertifiedKey {
  issue(request: CertificateRequest): CertifiedKey;
}

export interface CertificateRequest {
  /** To Kubernetes, the name of a user. */
  readonly commonName: string;
  /** To Kubernetes, the groups of that user. */
  readonly organizations?: readonly string[];
  /** DNS names and IP addresses that a server answers to. Without any, it is the certificate of a client. */
  readonly hosts?: readonly string[];
}

/** A new authority with a key of its own. */
export function createAuthority(commonName: string): Authority {
  const keys = createKeys();
  const issuer = { name: nameOf({ commonName }), keys };
  const extensions = [
    extension("2.5.29.19", sequence(boolean(true)), "critical"), // basic constraints: an authority
    extension("2.5.29.15", bitString(Buffer.of(0b0000_0110), 1), "critical"), // key usage: sign certificates and CRLs
    extension("2.5.29.14", octetString(keyIdOf(keys.publicKey))), // subject key identifier
  ];
  const certificate = certify({ issuer, subject: issuer.name, key: keys.publicKey, extensions });
  return { certificate, key: pemOf(keys.privateKey), issue: (request) => issue(issuer, request) };
}

/** A pair of keys without a certificate, both PEM: service account tokens are signed by one and checked by the other. */
export function createSigningKeys(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey, publicKey } = createKeys();
  return { privateKey: pemOf(privateKey), publicKey: publicKey.export({ format: "pem", type: "spki" }).toString() };
}

interface Issuer {
  readonly name: Der;
  readonly keys: KeyPair;
}

interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const createKeys = (): KeyPair => generateKeyPairSync("ec", { namedCurve: "P-256" });

const serverUse = "1.3.6.1.5.5.7.3.1";
const clientUse = "1.3.6.1.5.5.7.3.2";

function issue(issuer: Issuer, request: CertificateRequest): CertifiedKey {
  const keys = createKeys();
  const hosts = request.hosts ?? [];
  const extensions = [
    extension("2.5.29.19", sequence(), "critical"), // basic constraints: not an authority
    extension("2.5.29.15", bitString(Buffer.of(0b1000_0000), 7), "critical"), // key usage: digital signature
    extension("2.5.29.37", sequence(oid(hosts.length > 0 ? serverUse : clientUse))),
    extension("2.5.29.35", sequence(implicit(0, keyIdOf(issuer.keys.publicKey)))), // authority key identifier
    ...(hosts.length > 0 ? [extension("2.5.29.17", sequence(...hosts.map(alternativeName)))] : []),
  ];
  const certificate = certify({ issuer, subject: nameOf(request), key: keys.publicKey, extensions });
  return { certificate, key: pemOf(keys.privateKey) };
}

interface Unsigned {
  readonly issuer: Issuer;
  readonly subject: Der;
  readonly key: KeyObject;
  readonly extensions: readonly Der[];
}

const hour = 3_600_000;
const year = 365 * 24 * hour;

/** RFC 5280, 4.1: what is to be signed, the algorithm, the signature. */
function certify({ issuer, subject, key, extensions }: Unsigned): string {
  const algorithm = sequence(oid("1.2.840.10045.4.3.2")); // ECDSA with SHA-256
  // An hour back, for a clock that is stepped; ten years on, for a cluster that somebody forgets about.
  const validity = sequence(time(new Date(Date.now() - hour)), time(new Date(Date.now() + 10 * year)));
  const content = sequence(
    explicit(0, integer(2)), // version 3
    integer(0x01, ...randomBytes(15)),
    algorithm,
    issuer.name,
    validity,
    subject,
    key.export({ format: "der", type: "spki" }),
    explicit(3, sequence(...extensions)),
  );
  const signature = sign("sha256", content, issuer.keys.privateKey);
  return pemBlock("CERTIFICATE", sequence(content, algorithm, bitString(signature)));
}

function nameOf({ commonName, organizations = [] }: CertificateRequest): Der {
  const part = (id: string, text: string) => set(sequence(oid(id), utf8String(text)));
  return sequence(...organizations.map((name) => part("2.5.4.10", name)), part("2.5.4.3", commonName));
}

function extension(id: string, value: Der, critical?: "critical"): Der {
  return sequence(oid(id), ...(critical ? [boolean(true)] : []), octetString(value));
}

function alternativeName(host: string): Der {
  if (isIPv4(host)) return implicit(7, Buffer.from(host.split(".").map(Number)));
  if (isIPv6(host)) throw new RangeError(`no IPv6 addresses in certificates yet: ${host}`);
  return implicit(2, Buffer.from(host));
}

/** RFC 5280, 4.2.1.2: the hash of the key's bits tells two authorities of one name apart. */
function keyIdOf(key: KeyObject): Buffer {
  return createHash("sha1")
    .update(key.export({ format: "der", type: "spki" }))
    .digest();
}

function pemOf(key: KeyObject): string {
  return key.export({ format: "pem", type: "pkcs8" }).toString();
}

function pemBlock(label: string, der: Der): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}
