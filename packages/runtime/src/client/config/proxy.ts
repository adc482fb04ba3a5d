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
  const url = value.includes("://") ? value : `http://${value}`;
  // The value stays out of the message: it may contain a password.
  if (URL.parse(url) === null) throw new ConfigError(`expected ${name} to be a URL, found something else`);
  return new Secret(url);
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
  if (isIP(entry) !== 0) return entry === host;
  const [name = "", onlyPort = port] = entry.split(":");
  // With a dot in front only what is below the name, without one the name too.
  const bare = name.replace(/^\*?\./, "");
  return onlyPort === port && (host.endsWith(`.${bare}`) || host === name);
}

function inRange(range: string, host: string): boolean {
  const [network = "", bits] = range.split("/");
  const family = isIP(host) === 6 ? "ipv6" : "ipv4";
  if (isIP(host) === 0 || isIP(network) !== isIP(host)) return false;
  const block = new BlockList();
  block.addSubnet(network, Number(bits), family);
  return block.check(host, family);
}
