// The part of undici we use, and no other. Its front door also loads fetch, WebSocket, caches and mocks: 13 MiB of memory
// for nothing (measured: 29.7 MiB against 17.0 for the agent alone, of which 14.3 are Node's own TLS and HTTP/2).
import { createRequire } from "node:module";
import type { Agent, ProxyAgent } from "undici";
import { settled } from "../../concurrency/system-environment.ts";

const require = createRequire(import.meta.url);

type AgentClass = new (options: Agent.Options) => Agent;
type ProxyAgentClass = new (options: ProxyAgent.Options & ProxyPlace) => ProxyAgent;

/** Undici takes the name and password of a SOCKS proxy in these, though its types do not say so. */
export interface ProxyPlace {
  readonly uri: string;
  readonly username: string;
  readonly password: string;
}

const agent = "undici/lib/dispatcher/agent.js";

/** When it is first needed, not with us: an operator begins with a list, which comes without it (bulk/). */
export function loadAgent(): AgentClass {
  return require(agent) as AgentClass;
}

/** The same in three parts, of some 6 ms each: the event loop turns between them. */
export async function loadAgentInParts(): Promise<void> {
  for (const part of ["undici/lib/core/util.js", "undici/lib/dispatcher/client-h1.js", agent]) {
    await settled();
    require(part);
  }
}

/** By the front door, because it needs more of the house; only people behind a proxy pay for that. */
export function loadProxyAgent(): ProxyAgentClass {
  return (require("undici") as { readonly ProxyAgent: ProxyAgentClass }).ProxyAgent;
}
