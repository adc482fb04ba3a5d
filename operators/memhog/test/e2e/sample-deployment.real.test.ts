// Real Kubernetes, because this runs the samples as users do: a Deployment that leaks memory, a kernel that would OOM-kill it, and a
// kubelet that measures and resizes it.
import { readFile } from "node:fs/promises";
import { hogManifests } from "@memhog/hog";
import { Deployment, Pod, type Stored } from "@memhog/runtime";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { mib } from "../../src/model/bytes.ts";
import { cgroupLimit } from "./cgroup.fixture.ts";
import {
  asked,
  confirmed,
  furnish,
  longTest,
  type RealWorld,
  realWorld,
  resizesInPlace,
  restartsOf,
  serves,
} from "./real-world.fixture.ts";

beforeAll(furnish);

/** The sample Deployment with a faster ramp. */
async function memhog(...args: readonly string[]) {
  const deployment = parse(await readFile(hogManifests.deployment, "utf8"));
  deployment.spec.template.spec.containers[0].args = args;
  return deployment;
}

const theOnlyPod = async ({ pods }: RealWorld) => (await pods("name=memhog"))[0];

describe.concurrent("the sample Deployment and AppMonitor (real Kubernetes: the kernel would OOM-kill it)", () => {
  it.runIf(resizesInPlace)("raises in place to 512Mi/768Mi before an OOM kill and reports the raise", longTest, async () => {
    await using on = await realWorld();
    await on.operate();
    await on.monitor();
    await on.apply(await memhog("--ramp", "4Mi/s", "--to", "450Mi"));
    const grown = await on.eventually(
      () => theOnlyPod(on),
      (pod) => confirmed(pod) === "512Mi/768Mi",
    );
    expect(asked(grown)).toBe("512Mi/768Mi");
    expect(cgroupLimit(grown)).toBe(mib(768));
    // More than the original limit: without memhog the container would have been OOM-killed.
    await on.eventually(
      () => on.kubectl("logs", "deployment/memhog", "--tail=1"),
      (log) => log === "holding 450.0 MiB\n",
    );
    const after = await theOnlyPod(on);
    expect(after?.metadata.uid).toBe(grown?.metadata.uid);
    expect(restartsOf(after)).toBe(0);
    expect((await on.appMemory("deployment-memhog"))?.status).toMatchObject({ raises: 1 });
    const deployment = await on.client.get(Deployment, { namespace: on.namespace, name: "memhog" });
    // The template does not change, so GitOps tools see no drift.
    expect(deployment.spec.template.spec.containers[0]?.resources?.limits).toEqual({ memory: "384Mi" });
    const told = /^MemoryRaised: .*memhog 256Mi\/384Mi → 512Mi\/768Mi, in place \((ThresholdCrossed|WillRunOut): /;
    for (const kind of ["Pod", "Deployment", "AppMonitor"]) {
      expect((await on.told(kind, told)).filter((each) => told.test(each))).toHaveLength(1);
    }
  });

  const redeployed = "changes only memory in the template, and the new pod is Ready before the old one is deleted";

  it(`${redeployed} (Redeploy)`, longTest, () => redeploys({ strategy: "Redeploy", lookaheadSeconds: 0 }));

  it.runIf(!resizesInPlace)(`${redeployed} (Auto on a cluster without in-place resize)`, longTest, () =>
    redeploys({ lookaheadSeconds: 0 }),
  );
});

async function redeploys(spec: object): Promise<void> {
  await using on = await realWorld();
  const operator = await on.operate();
  await on.monitor(spec);
  // 341 of 384 MiB as the kubelet counts it: above 75 %, then constant.
  await on.apply(await memhog("--ramp", "10Mi/s", "--to", "330Mi"));
  const before = await on.client.get(Deployment, { namespace: on.namespace, name: "memhog" });
  const original = await on.eventually(
    () => theOnlyPod(on),
    (pod) => serves(pod),
  );
  await using pods = await on.watchLog(Pod);
  const bigger = await on.eventually(
    () => on.pods("name=memhog"),
    ([pod, ...others]) => others.length === 0 && pod?.metadata.uid !== original?.metadata.uid,
  );
  expect(asked(bigger[0])).toBe("512Mi/768Mi");
  expect(restartsOf(bigger[0])).toBe(0);
  expect(pods.states.slice(1).every((state) => Object.values(state).some(serves))).toBe(true);
  const raised = operator.passes.flatMap(({ plan }) => plan.verdicts).find(({ decision }) => decision.kind === "raise");
  expect(raised?.decision.reason).toBe("ThresholdCrossed");
  expect(raised?.inputs.usage).toBeGreaterThanOrEqual(mib(288));
  const after = await on.client.get(Deployment, { namespace: on.namespace, name: "memhog" });
  expect(withMemory(after, "256Mi", "384Mi").spec).toEqual(before.spec);
  expect(after.spec).toEqual(withMemory(before, "512Mi", "768Mi").spec);
}

function withMemory(deployment: Stored<Deployment>, request: string, limit: string): Stored<Deployment> {
  const changed = structuredClone(deployment);
  const [container] = changed.spec.template.spec.containers;
  Object.assign(container?.resources ?? {}, { requests: { memory: request }, limits: { memory: limit } });
  return changed;
}
