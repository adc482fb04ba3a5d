// Real Kubernetes, because the kernel is what kills a hog, and the kubelet is what measures it.
import { testCluster } from "@memhog/localcluster/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { hogManifests, hogPod, loadHog } from "./index.ts";

beforeAll(async () => {
  await using cluster = await testCluster({ nodes: "real" });
  await loadHog(cluster);
});

describe("the hog in a container (real Kubernetes: the kernel counts its memory)", () => {
  it("is OOM-killed when its ramp reaches the limit", async () => {
    await using cluster = await testCluster({ nodes: "real" });
    await cluster.apply(hogPod({ name: "greedy", args: ["--ramp", "20Mi/s"], limit: "128Mi", restartPolicy: "Never" }));
    const dead = await cluster.eventually(
      () => cluster.pod("greedy"),
      (found) => found?.status.phase === "Failed",
    );
    expect(dead?.status.containerStatuses[0].state.terminated).toMatchObject({ reason: "OOMKilled", exitCode: 137 });
    const lines = (await cluster.kubectl("logs", "greedy")).trim().split("\n");
    const held = lines.map((line) => Number(/^holding (\d+\.\d) MiB$/.exec(line)?.[1]));
    expect(held.at(-1)).toBeGreaterThan(40); // it was its own memory that it died of, not Node's
    expect(held.at(-1)).toBeLessThan(128);
  });

  it("keeps the memory that its ramp has reached, and prints a summary on SIGTERM", async () => {
    await using cluster = await testCluster({ nodes: "real" });
    const args = ["--ramp", "20Mi/s", "--to", "60Mi"];
    // Room for a second Node, which is to give the signal: there is no kill in the image.
    await cluster.apply(hogPod({ name: "content", args, limit: "256Mi", restartPolicy: "Never" }));
    const logs = () => cluster.kubectl("logs", "content");
    const log = await cluster.eventually(logs, (log) => log.split("holding 60.0 MiB\n").length > 5);
    expect(log).not.toMatch(/holding (60\.[1-9]|6[1-9]|[7-9]\d|\d{3})/);
    await cluster.kubectl("exec", "content", "--", "node", "-e", "process.kill(1, 'SIGTERM')");
    await cluster.eventually(
      () => cluster.pod("content"),
      (found) => found?.status.phase === "Succeeded",
    );
    expect(await logs()).toMatch(/\nSIGTERM after \d+\.\d s: held 60\.0 MiB, at most 60\.0 MiB\n$/);
  });

  it("runs from the manifests as a Deployment and as a bare pod, under the restricted pod security standard", async () => {
    await using cluster = await testCluster({ nodes: "real" });
    await cluster.kubectl("label", "namespace", cluster.defaultNamespace, "pod-security.kubernetes.io/enforce=restricted");
    await cluster.kubectl("apply", "-f", hogManifests.deployment, "-f", hogManifests.pod);
    await cluster.kubectl("rollout", "status", "deployment/memhog", "--timeout=100s");
    await cluster.kubectl("wait", "pod/memhog", "--for=condition=Ready", "--timeout=100s");
    for (const each of ["deployment/memhog", "pod/memhog"]) {
      await cluster.eventually(
        () => cluster.kubectl("logs", each),
        (log) => /^holding \d/.test(log),
      );
    }
  });
});
