// Where Prometheus is and how it is spoken to. All of it comes from whoever starts the operator: never from an object in a
// namespace, which could send us anywhere (promise S3).
import { PrometheusError } from "./errors.ts";

export interface PrometheusOptions {
  /** "http://prometheus.monitoring:9090", with the path under which it is served if there is one. */
  readonly address: string;
  /** Its content is sent as a bearer token; read for every question, since it may be renewed. */
  readonly bearerTokenFile?: string | undefined;
  /** For basic authentication, with `passwordFile`. A name and password in the address do the same. */
  readonly username?: string | undefined;
  /** Read for every question. */
  readonly passwordFile?: string | undefined;
  /** Whom to trust, in PEM. @default the authorities Node knows */
  readonly caFile?: string | undefined;
  /** Sent with every question: X-Scope-OrgID and the like. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The address, taken apart. `shown` is what people may see of it. */
export interface Address {
  readonly origin: string;
  /** Of the query API. */
  readonly path: string;
  readonly shown: string;
  readonly userinfo: string | undefined;
}

/** @throws PrometheusError that does not repeat what it was given: it may have a password in it. */
export function parseAddress(address: string, queryPath: string): Address {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new PrometheusError("PROMETHEUS_CONFIG", "expected the address of Prometheus like http://localhost:9090, found none");
  const prefix = url.pathname.replace(/\/+$/, "");
  const userinfo = url.username === "" ? undefined : `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { origin: url.origin, path: `${prefix}${queryPath}`, shown: `${url.origin}${prefix}`, userinfo };
}
