// An operator without work but with the usual parts: its own kind, children, leader election, probes, metrics, logs.
import { createInterface } from "node:readline";
import { ConfigMap, controller, defineResource, done, operator, z } from "@memhog/runtime";

const Idler = defineResource({
  ...{ group: "bench.example.com", version: "v1", kind: "Idler" },
  spec: z.object({ why: z.string().max(100).describe("Nobody asks") }),
});

const idlers = controller(Idler, { owns: [ConfigMap] }, async () => done());
const idle = operator({
  name: "idle",
  controllers: [idlers],
  installCrds: [Idler],
  leaderElection: true,
  kubeconfig: process.argv[process.argv.indexOf("--kubeconfig") + 1] ?? "",
  ...{ metricsBindAddress: "127.0.0.1:0", healthProbeBindAddress: "127.0.0.1:0" },
});
idle.ready.then(() => console.log(JSON.stringify({ event: "synced", ms: performance.now(), objects: 0 })));
createInterface({ input: process.stdin }).on("close", () => process.exit(0));
await idle.run();
