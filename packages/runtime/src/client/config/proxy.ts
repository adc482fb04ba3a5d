// The proxy of the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY), as kubectl and every Go program understand it. A
// proxy-url in the kubeconfig goes before it.
import { BlockList, isIP } from "node:net";
import { ConfigError } from "../errors.ts";
import { Secret } from "./secret.ts";

/** The proxy to use for this server; undefined: none. */
export function proxyFromEnvironment(server: string, env: NodeJS.ProcessEnv): Secret | undefined {
  const { protocol, hostname, port } = new URL(server);
  const name = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const value = env[name] || env[name.toLowerCase()];
  const host = hostname.replace(/^\[|\]$/g, "");
  const effectivePort = port || (protocol === "https:" ? "443" : "80");
  if (!value || isLoopback(host) || isExempt(host, effectivePort, env.NO_PROXY || env.no_proxy || "")) return undefined;
  return proxyUrlOf(value.includes("://") ? value : `http://${value}`, name);
}

const schemes = ["http", "https", "socks5", "socks5h"];

/**
 * A proxy that can be used. It is looked at now, because undici would complain with the first request, and quote all of it.
 *
 * @throws ConfigError without the value, which may contain a password
 */
export function proxyUrlOf(value: string, name: string): Secret {
  const url = URL.parse(value);
  if (url === null || url.hostname === "" || !schemes.includes(url.protocol.slice(0, -1)) || !isEscaped(url)) {
    throw new ConfigError(`expected ${name} to be a URL with ${schemes.join(", ")}, found something else`);
  }
  return new Secret(value);
}

/** "100%" is a password, and must be written "100%25". */
function isEscaped({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/** What is on this machine needs no proxy, whatever the environment says. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\./.test(host);
}

/** NO_PROXY: a list of "*", names (with what is below them), addresses and ranges, some with a port. */
function isExempt(host: string, port: string, noProxy: string): boolean {
  const entries = noProxy.split(",").map((entry) => entry.trim().toLowerCase());
  return entries.some((entry) => entry === "*" || (entry !== "" && covers(entry, host.toLowerCase(), port)));
}

function covers(entry: string, host: string, port: string): boolean {
  if (entry.includes("/")) return inRange(entry, host);
  const [, address, word, onlyPort = port] = /^(?:\[(.+)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  const name = address ?? word ?? entry; // IPv6 without a port needs no brackets
  if (onlyPort !== port) return false;
  if (isIP(name) !== 0) return inRange(`${name}/${isIP(name) === 6 ? 128 : 32}`, host);
  // With a dot in front only what is below the name, without one the name too.
  const bare = name.replace(/^\*?\./, "");
  return host.endsWith(`.${bare}`) || host === name;
}

/** What is no range covers nothing, as in Go: one word of many should not keep an operator from its cluster. */
function inRange(range: string, host: string): boolean {
  const [, network = "", bits = ""] = /^(.+)\/(\d{1,3})$/.exec(range) ?? [];
  const family = isIP(host);
  if (family === 0 || isIP(network) !== family || Number(bits) > (family === 6 ? 128 : 32)) return false;
  const type = family === 6 ? "ipv6" : "ipv4";
  const block = new BlockList();
  block.addSubnet(network, Number(bits), type);
  return block.check(host, type);
}
