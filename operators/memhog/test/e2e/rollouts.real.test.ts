// Real Kubernetes, because admission, the quota controller and the Deployment controller decide whether a rollout gets stuck.
import { Deployment } from "@memhog/runtime";
import { beforeAll, describe, expect, it } from "vitest";
import { asked, furnish, longTest, noTrend, type RealWorld, realWorld, serves, smallHog } from "./real-world.fixture.ts";

beforeAll(furnish);

/** Replicas of 64Mi/128Mi that soon use 116Mi. */
function hogs(replicas: number, spec: object = {}) {
  const { metadata, spec: pod } = smallHog("web");
  const labels = { app: "web" };
  const template = { metadata: { labels, annotations: metadata.annotations }, spec: pod };
  const all = { replicas, selector: { matchLabels: labels }, template, ...spec };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec: all };
}

const quota = (spec: object) => ({ apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "team" }, spec });
const templateIn = async ({ client, namespace }: RealWorld) =>
  (await client.get(Deployment, { namespace, name: "web" })).spec.template.spec.containers[0]?.resources;

describe.concurrent("rollouts (real Kubernetes: quotas and controllers decide)", () => {
  it("D5: all replicas get what a quota allows for the whole rollout, and all are Ready", longTest, async () => {
    await using on = await realWorld();
    await on.apply(quota({ hard: { "limits.memory": "700Mi" } }), hogs(3));
    await on.monitor({ ...noTrend, strategy: "Redeploy" });
    await on.operate();
    // (700Mi − 128Mi of the old pod that exists at the same time) ÷ 3
    const pods = await on.eventually(
      () => on.pods("app=web"),
      (found) => found.length === 3 && found.every((pod) => asked(pod) === "95Mi/190Mi" && serves(pod)),
    );
    expect(pods).toHaveLength(3);
    const status = (await on.appMemory("deployment-web"))?.status;
    const [raise] = [...(status?.intents ?? []), ...(status?.actions ?? [])];
    expect(raise.changes).toMatchObject([{ cappedBy: "ResourceQuota/team" }]);
  });

  it("D6: a rollout whose pods cannot be created is undone and reported, and the old pods go on serving", longTest, async () => {
    await using on = await realWorld();
    await on.apply(hogs(2, { progressDeadlineSeconds: 20 }));
    const before = await on.eventually(
      () => on.pods("app=web"),
      (pods) => pods.length === 2 && pods.every(serves),
    );
    // memhog leaves quotas with such a scope to the API server, so it cannot know that the rollout will not fit.
    const scopeSelector = { matchExpressions: [{ scopeName: "PriorityClass", operator: "DoesNotExist" }] };
    await on.apply(quota({ hard: { "limits.memory": "300Mi" }, scopeSelector }));
    await on.monitor({ ...noTrend, strategy: "Redeploy" });
    await on.operate();
    const memory = await on.eventually(
      () => on.appMemory("deployment-web"),
      (found) => (found?.status?.actions ?? []).length > 0 && found?.status.reason === "RolloutUndone",
    );
    expect(memory?.status.actions).toMatchObject([{ method: "Template", outcome: "NotReady" }]);
    expect(await templateIn(on)).toEqual({ requests: { memory: "64Mi" }, limits: { memory: "128Mi" } });
    await on.told("Deployment", /^RolloutUndone: .*the rollout was undone/);
    const after = await on.pods("app=web");
    expect(after.filter(serves).map(({ metadata }) => metadata.uid)).toEqual(before.map(({ metadata }) => metadata.uid));
  });
});
