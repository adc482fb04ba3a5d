// Our contender: the same work as the others, written with the public entry points of @memhog/runtime.
//
//     --whole   keeps whole objects (except managedFields), as the peers do; by default, a view of what memhog-operator needs
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createInterface } from "node:readline";

const since = performance.now();
const { createClient, loadConfig, controller, done, operator, Pod, systemEnvironment, view } = await import("@memhog/runtime");
const { leanMetadata } = await import("@memhog/runtime/cache");
const { silentLogger } = await import("@memhog/runtime/concurrency");
const { Namespace } = await import("@memhog/runtime/kinds");

const delay = monitorEventLoopDelay({ resolution: 1 });

/** The fields of a pod that a memory autoscaler needs. */
const PodMemory = view(Pod, {
  project: (pod) => ({
    metadata: leanMetadata(pod),
    spec: {
      nodeName: pod.spec?.nodeName,
      containers: pod.spec?.containers.map(({ name, resources, resizePolicy }) => ({ name, resources, resizePolicy })) ?? [],
    },
    status: { phase: pod.status?.phase, containerStatuses: pod.status?.containerStatuses },
  }),
});
const kind = process.argv.includes("--whole") ? Pod : (PodMemory as typeof Pod);

let latencies: number[] = [];
let changes = 0;
let known = 0;
const seen = new Map<string, string>();
const say = (line: object) => console.log(JSON.stringify(line));

const pods = controller(kind, { resyncMs: 0 }, async (ref, ctx) => {
  const now = performance.timeOrigin + performance.now();
  const pod = ctx.get(kind, ref);
  const stamp = pod?.metadata.annotations?.["bench/at"];
  if (pod === undefined || stamp === undefined || seen.get(pod.metadata.name) === stamp) return done();
  seen.set(pod.metadata.name, stamp);
  changes += 1;
  latencies.push(now - Number(stamp));
  return done();
});

const kubeconfig = process.argv[process.argv.indexOf("--kubeconfig") + 1] ?? "";
const rateLimit = { qps: 5_000, burst: 5_000 };
// The operator logs "caches synced" with the number of objects.
const log = {
  ...silentLogger,
  info(fields: object, message?: string) {
    if (message === "listening") delay.enable(); // as in client-node's contender: after reading the configuration
    if (message !== "caches synced") return;
    known = (fields as { objects: number }).objects;
    say({ event: "synced", ms: performance.now() - since, objects: known });
  },
};
const endpoints = { metricsBindAddress: "0", healthProbeBindAddress: "0" };
const running = operator({ name: "bench", controllers: [pods], kubeconfig, rateLimit, log, ...endpoints }).run();

createInterface({ input: process.stdin })
  .on("line", (line) => {
    if (line === "reset") {
      latencies = [];
      changes = 0;
      delay.reset();
    }
    if (line === "report") {
      latencies.sort((a, b) => a - b);
      const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))] ?? -1;
      say({ event: "report", changes, p50: at(0.5), p99: at(0.99), longestBlockMs: delay.max / 1e6 });
    }
    if (line === "calls") void callMany(1000, 20).then(() => say({ event: "called" }));
    if (line === "quit") process.exit(0);
  })
  .on("close", () => process.exit(0));

/** Reads one object from the server many times, several in parallel. */
async function callMany(count: number, atOnce: number): Promise<void> {
  await using client = createClient({ config: await loadConfig({ kubeconfig }), environment: systemEnvironment(), rateLimit });
  const worker = async () => {
    for (let n = 0; n < count / atOnce; n += 1) await client.get(Namespace, { name: "default" });
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

await running;
