// Real Kubernetes, because here containers run: the operator from its own manifests, in the cluster, and gordons that are
// really killed.
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { busyboxImage, packageImage } from "@memhog/localcluster";
import { type TestCluster, testCluster } from "@memhog/localcluster/testing";
import { beforeAll, expect, it } from "vitest";
import { defaultImage } from "./program.ts";

const deploy = join(import.meta.dirname, "../deploy");
const top = join(import.meta.dirname, "../../..");

beforeAll(async () => {
  await using cluster = await testCluster({ nodes: "real" });
  await cluster.loadBuilt((output) => busyboxImage({ name: defaultImage, command: ["/bin/sleep", "100000"], output }));
  const program = { top, folder: "operators/gordon", entrypoint: ["src/main.ts"] };
  await cluster.loadBuilt((output) => packageImage({ ...program, name: "memhog/gordon-operator:dev", output }));
});

/** kubectl apply -k deploy, in the namespace of the test. */
async function install(cluster: TestCluster): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "deploy-"));
  await cp(deploy, join(folder, "deploy"), { recursive: true });
  await writeFile(
    join(folder, "kustomization.yaml"),
    JSON.stringify({ namespace: cluster.defaultNamespace, resources: ["deploy"] }),
  );
  await cluster.kubectl("apply", "-k", folder);
  await rm(folder, { recursive: true });
  await cluster.kubectl("rollout", "status", "deployment/gordon-operator", "--timeout=100s");
}

it("keeps gordons running from within the cluster, in a namespace that enforces the restricted pod security standard", {
  timeout: 300_000,
}, async () => {
  await using cluster = await testCluster({ nodes: "real" });
  const { kubectl } = { kubectl: (...args: readonly string[]) => cluster.kubectl(...args) };
  await kubectl("label", "namespace", cluster.defaultNamespace, "pod-security.kubernetes.io/enforce=restricted");
  await install(cluster);
  await kubectl("apply", "-f", join(deploy, "samples/gordon.yaml"));
  await kubectl("wait", "gn/gordoncluster", "--for=condition=Ready", "--timeout=100s");
  expect(await kubectl("get", "gn")).toMatch(/gordoncluster +3 +3 +AllPodsReady/);

  const uid = async (pod: string) => (await cluster.pod(pod))?.metadata.uid;
  const before = [await uid("gordon-gordoncluster-0"), await uid("gordon-gordoncluster-1")];
  await kubectl("delete", "pod", "gordon-gordoncluster-0", "--wait=false");
  // A pod that the node ends for good: it fails, as one that was evicted does.
  await kubectl("patch", "pod", "gordon-gordoncluster-1", "-p", '{"spec":{"activeDeadlineSeconds":1}}');
  await cluster.eventually(
    async () => [await uid("gordon-gordoncluster-0"), await uid("gordon-gordoncluster-1")],
    ([zero, one]) => ![...before, undefined].includes(zero) && ![...before, undefined].includes(one),
    { timeoutMs: 100_000 },
  );
  await kubectl("wait", "gn/gordoncluster", "--for=jsonpath={.status.readyReplicas}=3", "--timeout=100s");

  await kubectl("scale", "gn/gordoncluster", "--replicas=1");
  await kubectl("wait", "gn/gordoncluster", "--for=jsonpath={.status.replicas}=1", "--timeout=60s");
  await kubectl("scale", "deployment/gordon-operator", "--replicas=0"); // who is to tidy up?
  await kubectl("delete", "gn", "gordoncluster");
  const gordons = () => kubectl("get", "pods", "-l", "app.kubernetes.io/name=gordon", "-o", "name");
  await cluster.eventually(gordons, (names) => names === "", { timeoutMs: 100_000 });
});
