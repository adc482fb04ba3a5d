// Network faults on connections with TLS and HTTP/2 that a server cannot produce itself: resets, and peers that disappear.
import { describe, expect, it } from "vitest";
import type { Environment } from "../../concurrency/environment.ts";
import { manualEnvironment } from "../../concurrency/manual-clock.ts";
import { settled, systemEnvironment } from "../../concurrency/system-environment.ts";
import { ConfigMap } from "../../objects/kinds/core.ts";
import { loopback, startTcpProxy } from "../../testing/loopback.ts";
import { issueServing, makeAuthority } from "../../webhook/certificates.ts";
import { Secret } from "../config/config.ts";
import { createClient } from "../create-client.ts";
import { BrokenStreamError, IdleWatchError, TimeoutError } from "../errors.ts";

const lifetimeMs = 3_600_000;
const authority = await makeAuthority({ name: "test", lifetimeMs }, systemEnvironment());
const { certificate: cert, key } = await issueServing(authority, { names: ["127.0.0.1"], lifetimeMs }, systemEnvironment());
const ref = { namespace: "x", name: "a" };
const event = `${JSON.stringify({ type: "ADDED", object: { metadata: ref } })}\n`;

/** A server, a TCP proxy and a client. */
async function world(http2: boolean, environment: Environment) {
  const server = await loopback(
    (request, response) => {
      if (request.url?.includes("watch")) response.write(event);
      else response.end('{"kind":"ConfigMap"}');
    },
    { tls: { cert, key } },
  );
  const cable = await startTcpProxy({ host: "127.0.0.1", port: server.port });
  const config = {
    ...server.config,
    server: `https://127.0.0.1:${cable.port}`,
    tls: { ca: { data: new Secret(authority.certificate) } },
  };
  const client = createClient({ config, environment, http2 });
  const close = async () => {
    await client.close();
    await cable.close();
    await server[Symbol.asyncDispose]();
  };
  return { cable, client, [Symbol.asyncDispose]: close };
}

/** Advances the clock until the promise settles; real I/O continues in between. */
async function ended<T>(promise: Promise<T>, clock: { advance(ms: number): Promise<void> }): Promise<unknown> {
  let over = false;
  const result = promise
    .then(
      (value: unknown) => value,
      (error: unknown) => error,
    )
    .finally(() => (over = true));
  while (!over) await clock.advance(1000);
  return result;
}

describe.each([{ http2: true }, { http2: false }])("with http2: $http2", ({ http2 }) => {
  it("a request on a half-open connection times out, and the next one uses a new connection", async () => {
    const environment = manualEnvironment();
    await using it = await world(http2, environment);
    await it.client.get(ConfigMap, ref);
    await settled(); // the agent takes a connection back a moment after its response; before that, it would open another one
    it.cable.freeze();
    expect(await ended(it.client.get(ConfigMap, ref), environment.clock)).toBeInstanceOf(TimeoutError);
    expect(await it.client.get(ConfigMap, ref)).toEqual({ kind: "ConfigMap" });
    expect(it.cable.connections).toBe(2);
  });

  it("a watch on a half-open connection becomes idle, and the next one uses a new connection", async () => {
    const environment = manualEnvironment();
    await using it = await world(http2, environment);
    const begun = Promise.withResolvers<void>();
    const silent = (async () => {
      for await (const _ of it.client.watch(ConfigMap, { idleMs: 5000 })) begun.resolve();
    })();
    await begun.promise;
    it.cable.freeze();
    expect(await ended(silent, environment.clock)).toBeInstanceOf(IdleWatchError);
    for await (const { type } of it.client.watch(ConfigMap)) {
      expect(type).toBe("ADDED");
      break;
    }
    expect(it.cable.connections).toBe(2);
  });

  it("a reset connection breaks the watch and not the process; the next request opens a new one", async () => {
    await using it = await world(http2, systemEnvironment());
    await it.client.get(ConfigMap, ref);
    const cut = (async () => {
      for await (const _ of it.client.watch(ConfigMap)) it.cable.cut();
    })();
    await expect(cut).rejects.toBeInstanceOf(BrokenStreamError);
    expect(await it.client.get(ConfigMap, ref)).toEqual({ kind: "ConfigMap" });
  });
});
