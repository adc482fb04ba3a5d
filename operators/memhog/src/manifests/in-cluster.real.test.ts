// Real Kubernetes, because here the operator runs as a pod: with the permissions of its Role, the memory of its limit, probes, and a
// process that can be killed.
import { readdirSync, readFileSync } from "node:fs";
import { hogPod, loadHog } from "@memhog/hog";
import { type TestCluster, testCluster } from "@memhog/localcluster/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { operatorName } from "../api/names.ts";
import { loadOperator } from "./image.fixture.ts";
import { samples } from "./manifests.ts";
import { kustomized, prometheusFor, withPrometheusAt } from "./stage.fixture.ts";

beforeAll(async () => {
  await using cluster = await testCluster({ nodes: "real" });
  await loadHog(cluster);
  await loadOperator(cluster);
});

describe("two replicas in a real cluster", () => {
  it("S1, S2: raise the sample Deployment in place with Roles only in a restricted namespace, and elect a new leader after a kill", {
    timeout: 600_000,
  }, async () => {
    await using cluster = await testCluster({ nodes: "real" });
    await cluster.kubectl("label", "namespace", cluster.defaultNamespace, "pod-security.kubernetes.io/enforce=restricted");
    await using _operator = await kustomized(cluster, { patches: [withPrometheusAt(await prometheusFor(cluster))] });
    await cluster.kubectl("rollout", "status", `deployment/${operatorName}`, "--timeout=200s");
    await cluster.apply(samples["app-monitor.yaml"], hurried(samples["memhog.yaml"]));
    const [pod] = await grown(cluster, "name=memhog", "768Mi");
    expect(pod?.status.containerStatuses[0]).toMatchObject({ restartCount: 0, resources: { limits: { memory: "768Mi" } } });
    expect(pod?.spec.containers[0].resources).toEqual({ limits: { memory: "768Mi" }, requests: { memory: "512Mi" } });

    const before = await lease(cluster);
    killContainerOf(before.holderIdentity);
    const after = await cluster.eventually(
      () => lease(cluster),
      ({ holderIdentity }) => holderIdentity !== before.holderIdentity && holderIdentity !== "",
      { timeoutMs: 120_000 },
    );
    // Measured by the times in the Lease, which do not depend on the load of this machine.
    expect(Date.parse(after.acquireTime) - Date.parse(before.renewTime)).toBeLessThan(30_000);
    await cluster.apply(hogPod({ name: "second", args: ["--ramp", "2Mi/s", "--to", "80Mi"], limit: "120Mi", monitored: true }));
    await grown(cluster, "name=second", "240Mi");
  });
});

/** The sample Deployment with a faster ramp that ends at 330 of 384Mi, so that it is raised exactly once. */
function hurried(deployment: (typeof samples)["memhog.yaml"]): object {
  const text = JSON.stringify(deployment);
  return JSON.parse(text.replace('"1Mi/s"', '"4Mi/s"').replace('"500Mi"', '"330Mi"'));
}

/** Waits until the kubelet reports this limit for a pod with this label. */
async function grown(cluster: TestCluster, labels: string, limit: string) {
  const read = () => cluster.list({ apiVersion: "v1", kind: "Pod" }, { namespace: cluster.defaultNamespace, labels });
  type Pods = Awaited<ReturnType<typeof read>>;
  const holds = (pods: Pods) => pods.some(({ status }) => status.containerStatuses?.[0]?.resources?.limits?.memory === limit);
  return cluster.eventually(read, holds, { timeoutMs: 200_000 });
}

interface Claim {
  readonly holderIdentity: string;
  readonly acquireTime: string;
  readonly renewTime: string;
}

async function lease(cluster: TestCluster): Promise<Claim> {
  return JSON.parse(await cluster.kubectl("get", "lease", operatorName, "-o", "jsonpath={.spec}"));
}

/** Sends SIGKILL, so that the Lease is not released. */
function killContainerOf(identity: string): void {
  const hostname = `HOSTNAME=${identity.split("_")[0]}\0`;
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(hostname));
  expect(processes).toHaveLength(1);
  process.kill(Number(processes[0]), "SIGKILL");
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return ""; // it has ended in the meantime
  }
}
