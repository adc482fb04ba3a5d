// The part of undici we use, and no other. Its front door also loads fetch, WebSocket, caches and mocks: 13 MiB of memory
// for nothing (measured: 29.7 MiB against 17.0 for the agent alone, of which 14.3 are Node's own TLS and HTTP/2).
import { createRequire } from "node:module";
import type { Agent, buildConnector, ProxyAgent } from "undici";
import { settled } from "../../concurrency/system-environment.ts";
import { ConfigError } from "../errors.ts";

const require = createRequire(import.meta.url);

type AgentClass = new (options: Agent.Options) => Agent;
type ProxyAgentClass = new (options: ProxyAgent.Options) => ProxyAgent;

/** Makes connections for an agent. */
export type Connector = buildConnector.connector;

const agent = "undici/lib/dispatcher/agent.js";

/** When it is first needed, not with us: an operator begins with a list, which comes without it (bulk/). @throws ConfigError */
export function loadAgent(load: Load = require): AgentClass {
  return loaded(agent, load) as AgentClass;
}

/** The same in three parts, of some 6 ms each: the event loop turns between them. What is missing is told to whoever needs it. */
export async function loadAgentInParts(load: Load = require): Promise<void> {
  for (const part of ["undici/lib/core/util.js", "undici/lib/dispatcher/client-h1.js", agent]) {
    await settled();
    try {
      load(part);
    } catch {
      return; // nobody waits for this; the first request that needs an agent says what is wrong
    }
  }
}

/** What an agent makes its connections with. @throws ConfigError */
export function loadConnector(): (options: buildConnector.BuildOptions) => Connector {
  return loaded("undici/lib/core/connect.js", require) as (options: buildConnector.BuildOptions) => Connector;
}

/** By the front door, because it needs more of the house; only people behind a proxy pay for that. @throws ConfigError */
export function loadProxyAgent(): ProxyAgentClass {
  return (loaded("undici", require) as { readonly ProxyAgent: ProxyAgentClass }).ProxyAgent;
}

type Load = (part: string) => unknown;

function loaded(part: string, load: Load): unknown {
  try {
    return load(part);
  } catch (cause) {
    const [found] = (cause as Error).message.split("\n"); // Node adds a stack of files
    const remedy = "install @memhog/runtime with all of its dependencies";
    throw new ConfigError(`expected ${part}, found ${found} → ${remedy}`, { cause });
  }
}
