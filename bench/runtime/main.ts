// npm run bench -- runtime [--pods 5000,20000] [--json]
//
// Three runtimes do the same work one after another in one run: watch all pods, reconcile every change.
//   synced, memory, block    from one real API server (packages/localcluster) that holds the pods
//   events, latency          from a watch that stamps each event (event-server.ts): 1,000 per second, then at full speed
//   connections, recovery    through a proxy that counts connections and cuts them
import { parseArgs } from "node:util";
import { startCluster } from "@memhog/localcluster";
import { conditions, type Figure, report } from "../report.ts";
import { buildContenders, type Contenders } from "./build.ts";
import { measureEvents } from "./events.ts";
import { measureFloor } from "./floor.ts";
import { measureIdle } from "./idle.ts";
import { seedPods } from "./seed.ts";
import { measureSync } from "./sync.ts";
import { measureWire } from "./wire.ts";

const { values } = parseArgs({
  options: { pods: { type: "string", default: "5000,20000" }, json: { type: "boolean" }, help: { type: "boolean", short: "h" } },
});
if (values.help) {
  console.log("Usage: npm run bench -- runtime [--pods 5000,20000] [--json]");
  process.exit(0);
}
const sizes = values.pods.split(",").map(Number);
if (sizes.some((size) => !Number.isInteger(size) || size < 1)) {
  console.error(`--pods: expected whole numbers like 5000,20000, found ${values.pods}`);
  process.exit(2);
}

await measure();
// Exits at once: after one of four runs, Node's own cleanup looped until it was killed an hour later.
process.exit(0);

async function measure(): Promise<void> {
  const contenders: Contenders = await buildContenders();
  const figures: Figure[] = [];
  await using cluster = await startCluster();
  const idle = await measureIdle(contenders, cluster); // while there are no pods yet
  for (const size of sizes) {
    await seedPods(cluster, size);
    figures.push(...(await measureSync(contenders, cluster, size)), ...(await measureFloor(cluster, size)));
  }
  figures.push(...(await measureEvents(contenders)));
  figures.push(...(await measureWire(contenders, cluster)));
  figures.push(...idle);
  report("@memhog/runtime beside its peers", figures, {
    ...conditions({ kubernetes: cluster.version }),
    ours: "packed as for a registry (npm run pack:runtime), no flags; a view of the fields memhog-operator uses. “ours, whole” keeps whole objects. The runtime itself keeps V8's young generation small, as in every operator made with it",
    peers:
      "@kubernetes/client-node 2.0.1 (informer, Node as ours, as installed and as one file), controller-runtime v0.25.2 (typed cache, defaults)",
  });
}
