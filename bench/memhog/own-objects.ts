// Measures what the operator's own objects cost: its memory without any, and with many AppMonitors and as many
// AppMemories, all in one namespace without pods. Anyone who can create AppMonitors determines their number, so a quota
// on count/appmonitors.kubedemo.com has to limit this cost.
import { AppMemory, AppMonitor } from "@memhog/memhog-operator";
import { systemEnvironment } from "@memhog/runtime";
import { createClient, loadConfig } from "@memhog/runtime/client";
import type { Figure } from "../report.ts";
import { OperatorProcess, pause } from "./operator-process.ts";
import { type Crowd, startCrowd } from "./start-crowd.ts";

/** Long enough to fill the caches, to reconcile every object once, and for garbage collection. */
const windowMs = 30_000;
const namespace = "default";

export async function measureOwnObjects(program: string, count: number): Promise<readonly Figure[]> {
  await using crowd = await startCrowd();
  const without = await memoryWith(program, crowd);
  await createObjects(crowd, count);
  const withAll = await memoryWith(program, crowd);
  const named = `${count.toLocaleString("en")} AppMonitors and as many AppMemories`;
  const figure = (name: string, unit: string, ours: number): Figure => ({ name, unit, ours, peers: {} });
  return [
    figure("memory, no AppMemory and one AppMonitor", "MiB", without.rss),
    figure(`memory, ${named}`, "MiB", withAll.rss),
    figure(`highest memory since its start, ${named}`, "MiB", withAll.peak),
    figure("memory per AppMonitor with its AppMemory", "KiB", ((withAll.rss - without.rss) * 1024) / count),
  ];
}

async function memoryWith(program: string, { kubeconfig, prometheus }: Crowd) {
  await using operator = await OperatorProcess.start({ program, kubeconfig, prometheus, interval: "15s" });
  await pause(windowMs);
  operator.mustLive();
  return operator.memory();
}

async function createObjects({ kubeconfig }: Crowd, count: number): Promise<void> {
  console.error(`creating ${count} AppMonitors and AppMemories`);
  const config = await loadConfig({ kubeconfig });
  const unlimited = { qps: 1_000_000, burst: 1_000_000 };
  await using client = createClient({ config, environment: systemEnvironment(), rateLimit: unlimited });
  const spec = { memThresholdPercent: 75, memMultiplier: 2, paused: true } as AppMonitor["spec"]; // the server adds the defaults
  for (let at = 0; at < count; at += 1) {
    await client.create(AppMonitor, { metadata: { namespace, name: `monitor-${at}` }, spec });
    await client.create(AppMemory, {
      metadata: { namespace, name: `deployment-app-${at}` },
      spec: { app: `Deployment/app-${at}` },
    });
  }
}
