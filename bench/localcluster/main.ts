// npm run bench -- localcluster [--cold] [--json]: measures the startup time of a real Kubernetes, and its memory.
//
//     cold   localcluster's cache is empty: the binaries are downloaded or built. Go's build cache may help, unless you pass
//            --cold, which empties it too. It then takes as long as on a new machine: 15 minutes where Go builds.
//     warm   the binaries are in the cache.
import { globSync, mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { type Cluster, defaultVersion, type StartOptions, startCluster } from "@memhog/localcluster";
import { conditions, type Figure, percentile, report } from "../report.ts";

const { values } = parseArgs({
  options: { cold: { type: "boolean", default: false }, json: { type: "boolean" }, help: { type: "boolean", short: "h" } },
});
if (values.help) {
  console.log(
    "Usage: npm run bench -- localcluster [--cold] [--json]\n\n--cold   with an empty Go build cache too (a quarter of an hour)",
  );
  process.exit(0);
}

const figures: Figure[] = [await coldStart(), await warmStart("control plane", {}), await withNode()].flat();
report("A real Kubernetes on one machine", figures, {
  ...conditions({ kubernetes: defaultVersion }),
  cold: values.cold ? "empty cache, empty Go build cache" : "empty cache, Go's build cache as it was",
});

/** From an empty cache until the API server responds. */
async function coldStart(): Promise<Figure> {
  using folder = mkdtempDisposableSync(join(tmpdir(), "bench-cold-"));
  const goCache = values.cold ? { GOCACHE: join(folder.path, "go-build") } : {};
  const env = { ...process.env, LOCALCLUSTER_CACHE: join(folder.path, "cache"), ...goCache };
  const since = performance.now();
  await using _cluster = await startCluster({ env });
  return { name: "control plane, cold", unit: "s", ours: secondsSince(since), peers: {} };
}

/** The median of five, because timings vary. */
async function warmStart(what: string, options: StartOptions): Promise<readonly Figure[]> {
  const samples: number[] = [];
  const downs: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const since = performance.now();
    const cluster = await startCluster(options);
    samples.push(secondsSince(since));
    const ending = performance.now();
    await cluster.down();
    downs.push(secondsSince(ending));
  }
  return [
    { name: `${what}, warm`, unit: "s", ours: percentile(samples, 0.5), peers: {} },
    { name: `${what}, down`, unit: "s", ours: percentile(downs, 0.5), peers: {} },
  ];
}

async function withNode(): Promise<readonly Figure[]> {
  if (process.getuid?.() !== 0) {
    console.error("a real node needs root: its figures are left out");
    return [];
  }
  const since = performance.now();
  await using cluster = await startCluster({ nodes: "real", prometheus: true });
  const ready: Figure = { name: "control plane, node and Prometheus, warm", unit: "s", ours: secondsSince(since), peers: {} };
  return [ready, ...memoryOf(cluster)];
}

/** Resident memory of every process of the cluster. Finds the processes as localcluster does: by their environment. */
function memoryOf(cluster: Cluster): readonly Figure[] {
  const marker = `LOCALCLUSTER=${join(cluster.logs, "..")}`;
  const byProgram = new Map<string, number>();
  for (const folder of globSync("/proc/[0-9]*")) {
    try {
      if (!readFileSync(join(folder, "environ"), "utf8").split("\0").includes(marker)) continue;
      const program = basename(readFileSync(join(folder, "cmdline"), "utf8").split("\0")[0] ?? "");
      const kib = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(join(folder, "status"), "utf8"))?.[1] ?? 0);
      byProgram.set(program, (byProgram.get(program) ?? 0) + kib / 1024);
    } catch {
      // The process has exited in the meantime.
    }
  }
  const rows = [...byProgram].filter(([, mib]) => mib >= 5).sort(([, a], [, b]) => b - a);
  const total = rows.reduce((sum, [, mib]) => sum + mib, 0);
  const figure = ([name, ours]: readonly [string, number]): Figure => ({
    name: `memory of ${name}`,
    unit: "MiB",
    ours,
    peers: {},
  });
  return [...rows.map(figure), figure(["the whole stack", total])];
}

function secondsSince(since: number): number {
  return (performance.now() - since) / 1000;
}
