// Real Kubernetes, because this is the whole story of the seeds: a program that wastes memory, the kernel that would kill it, the
// kubelet that measures it and gives it more.
import { readFile } from "node:fs/promises";
import { hogManifests } from "@memhog/hog";
import { Deployment, Pod, type Stored } from "@memhog/runtime";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { mib } from "../model/bytes.ts";
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

/** The Deployment of the seeds, only faster: nobody should have to wait five minutes. */
async function memhog(...args: readonly string[]) {
  const deployment = parse(await readFile(hogManifests.deployment, "utf8"));
  deployment.spec.template.spec.containers[0].args = args;
  return deployment;
}

const theOnlyPod = async ({ pods }: RealWorld) => (await pods("name=memhog"))[0];

describe.concurrent("the seeds' Deployment and johnny-cache (real Kubernetes: the kernel would kill it)", () => {
  it.runIf(resizesInPlace)("gets 512Mi/768Mi in place before it needs it, and everybody is told", longTest, async () => {
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
    // More than it was once allowed: without us it would be dead.
    await on.eventually(
      () => on.kubectl("logs", "deployment/memhog", "--tail=1"),
      (log) => log === "holding 450.0 MiB\n",
    );
    const after = await theOnlyPod(on);
    expect(after?.metadata.uid).toBe(grown?.metadata.uid);
    expect(restartsOf(after)).toBe(0);
    expect((await on.appMemory("deployment-memhog"))?.status).toMatchObject({ raises: 1 });
    const deployment = await on.client.get(Deployment, { namespace: on.namespace, name: "memhog" });
    expect(deployment.spec.template.spec.containers[0]?.resources?.limits).toEqual({ memory: "384Mi" }); // GitOps sees no drift
    const told = /^MemoryRaised: .*memhog 256Mi\/384Mi → 512Mi\/768Mi, in place \((ThresholdCrossed|WillRunOut): /;
    for (const kind of ["Pod", "Deployment", "AppMonitor"]) {
      expect((await on.told(kind, told)).filter((each) => told.test(each))).toHaveLength(1);
    }
  });

  const redeployed = "is given a bigger pod by its template, which is Ready before the original goes; only memory is changed";

  it(`${redeployed} (Redeploy)`, longTest, () => redeploys({ strategy: "Redeploy", lookaheadSeconds: 0 }));

  it.runIf(!resizesInPlace)(`${redeployed} (Auto, where nothing can be resized in place)`, longTest, () =>
    redeploys({ lookaheadSeconds: 0 }),
  );
});

async function redeploys(spec: object): Promise<void> {
  await using on = await realWorld();
  const operator = await on.operate();
  await on.monitor(spec);
  // 341 of 384 MiB, as the kubelet counts: past three quarters, and content with that.
  await on.apply(await memhog("--ramp", "10Mi/s", "--to", "330Mi"));
  const before = await on.client.get(Deployment, { namespace: on.namespace, name: "memhog" });
  const original = await on.eventually(
    () => theOnlyPod(on),
    (pod) => serves(pod),
  );
  await using pods = await on.film(Pod);
  const bigger = await on.eventually(
    () => on.pods("name=memhog"),
    ([pod, ...others]) => others.length === 0 && pod?.metadata.uid !== original?.metadata.uid,
  );
  expect(asked(bigger[0])).toBe("512Mi/768Mi");
  expect(restartsOf(bigger[0])).toBe(0);
  expect(pods.frames.slice(1).every((frame) => Object.values(frame).some(serves))).toBe(true);
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
