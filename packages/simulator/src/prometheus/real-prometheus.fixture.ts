// A real Prometheus for comparison tests: the one installed on this machine, or the one in localcluster's cache.
// It scrapes one address of this machine, and its data directory is removed with it.
import { type ChildProcess, spawn } from "node:child_process";
import { globSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { eventually } from "@memhog/runtime/testing";
import { serve } from "./http.ts";

export interface RealPrometheus extends AsyncDisposable {
  readonly url: string;
}

/** Where it may be installed, best first. */
function findPrometheus(env: NodeJS.ProcessEnv): string {
  const cache = env.LOCALCLUSTER_CACHE ?? join(env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "localcluster");
  const folders = [...(env.PATH ?? "").split(delimiter), ...globSync(join(cache, "debian/*/usr/bin"))];
  const [found] = folders.flatMap((folder) => globSync(join(folder, "prometheus")));
  if (found === undefined)
    throw new Error(
      `expected a prometheus on the PATH or below ${cache}, found none → npm run localcluster -- up --nodes real --prometheus`,
    );
  return found;
}

/** @param target host and port to scrape, once a second */
export async function startRealPrometheus(target: string): Promise<RealPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), "prometheus-"));
  const config = join(folder, "prometheus.yml");
  const port = await freePort();
  await writeFile(
    config,
    `global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs: [{ job_name: test, static_configs: [{ targets: ["${target}"], labels: { instance: one } }] }]
`,
  );
  const url = `http://127.0.0.1:${port}`;
  const flags = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn(findPrometheus(process.env), flags, { stdio: "ignore" });
  const stop = async () => {
    await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await eventually(
      () => fetch(`${url}/-/ready`),
      ({ ok }) => ok,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, [Symbol.asyncDispose]: stop };
}

/** A port that was free just now. */
async function freePort(): Promise<number> {
  await using endpoint = await serve(() => ({ status: 404, headers: {}, body: "" }));
  return endpoint.port;
}

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });
}
