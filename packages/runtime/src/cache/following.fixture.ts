// For tests only: a cache that follows a scripted API.
import { silentLogger } from "../concurrency/logger.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { Cache, type CacheOptions } from "./cache.ts";
import { ScriptedApi } from "./scripted-api.fixture.ts";

export const ref = (name: string, namespace = "home") => ({ namespace, name });
export const config = (name: string, data: Record<string, string> = {}, namespace = "home"): ConfigMap => ({
  metadata: ref(name, namespace),
  data,
});

/** A cache of config maps on a manual clock, started, and the API it follows. */
export function following(more: Partial<CacheOptions<ConfigMap>> = {}) {
  const api = new ScriptedApi();
  const environment = manualEnvironment();
  const cache = new Cache<ConfigMap>({
    client: api,
    kind: ConfigMap,
    namespaces: "all",
    environment,
    log: silentLogger,
    ...more,
  });
  const changes: string[] = [];
  cache.onChange(({ type, object }) => changes.push(`${type} ${object.metadata.name}`));
  const names = () => [...cache.objects()].map(({ metadata }) => metadata.name).sort();
  const { clock } = environment;
  const start = async () => {
    cache.start();
    await clock.advance(0);
  };
  return { api, cache, changes, names, clock, start, [Symbol.asyncDispose]: () => cache.stop() };
}
