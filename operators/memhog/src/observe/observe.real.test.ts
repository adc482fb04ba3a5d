// Real Kubernetes, because the kubelet measures and a real Prometheus answers.
import { hogPod, loadHog } from "@memhog/hog";
import { testCluster } from "@memhog/localcluster/testing";
import { crdOf } from "@memhog/runtime";
import { beforeAll, describe, expect, it } from "vitest";
import { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import { mib } from "../model/bytes.ts";
import { httpTransport } from "./prometheus/http-transport.ts";
import { looking } from "./read-only-operator.fixture.ts";

beforeAll(async () => {
  await using cluster = await testCluster({ nodes: "real" });
  await loadHog(cluster);
  await cluster.apply(crdOf(AppMonitor), crdOf(AppMemory));
});

describe("observing a real node (real Kubernetes: a kubelet measures, a real Prometheus answers)", () => {
  it("returns the memory usage, the age of the sample, and the free memory of the node", async () => {
    await using cluster = await testCluster({ nodes: "real" });
    const { kubeconfig, defaultNamespace, prometheus = "" } = cluster;
    await cluster.apply(
      hogPod({ name: "hog", args: ["--ramp", "5Mi/s", "--to", "150Mi"], limit: "384Mi", request: "256Mi", monitored: true }),
    );
    await using operator = await looking({
      kubeconfig,
      namespaces: [defaultNamespace],
      prometheus: httpTransport({ address: prometheus }),
    });
    const seen = await cluster.eventually(
      () => operator.seen("pod-hog"),
      (found) => {
        const samples = found?.pods[0]?.containers[0]?.samples ?? [];
        return samples.length >= 3 && (samples.at(-1)?.bytes ?? 0) > mib(150);
      },
    );
    const [pod] = seen?.pods ?? [];
    const [container] = pod?.containers ?? [];
    expect(seen?.metrics).toMatchObject({ available: true });
    expect(container).toMatchObject({
      running: true,
      limit: mib(384),
      appliedLimit: mib(384),
      appliedRequest: mib(256),
      badSamples: 0,
    });
    const ages = container?.samples.map(({ ageMs }) => ageMs) ?? [];
    expect(ages).toEqual(ages.toSorted((a, b) => b - a));
    expect(ages.at(-1)).toBeLessThan(90_000);
    // The usage grew, so the samples are different measurements and not one repeated value.
    const [first, last] = [container?.samples[0]?.bytes ?? 0, container?.samples.at(-1)?.bytes ?? 0];
    expect(last).toBeGreaterThan(first);
    expect(pod?.node?.allocatable).toBeGreaterThan(mib(512));
    expect(pod?.node?.requested).toBeGreaterThanOrEqual(mib(256));
  });
});
