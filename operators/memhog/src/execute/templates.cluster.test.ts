import { Deployment, type Kind, type KubernetesObject, StatefulSet, type Stored } from "@memhog/runtime";
import { CronJob, DaemonSet, ReplicaSet } from "@memhog/runtime/kinds";
import { describe, expect, it } from "vitest";
import { monitorAnnotation, operatorName } from "../api/names.ts";
import { mib } from "../model/bytes.ts";
import { anIntent } from "../model/observed-app.fixture.ts";
import type { AppKind } from "../model/observed-app.ts";
import type { Change, Command } from "../model/plan.ts";
import { doubled, intentOn, memory, resourcesIn, stage } from "./stage.fixture.ts";
import { type Templated, templateOf } from "./templates.ts";

const labels = { app: "hungry" };
const main = {
  name: "main",
  image: "example.com/none",
  env: [{ name: "MODE", value: "fast" }],
  resources: memory("256Mi", "384Mi"),
};
const side = { name: "side", image: "example.com/none", resources: memory("32Mi", "64Mi") };
const template = { metadata: { labels, annotations: { [monitorAnnotation]: "true" } }, spec: { containers: [main, side] } };
const owner = { replicas: 0, selector: { matchLabels: labels }, template };

const patchOf = (stored: Stored<KubernetesObject>, changes: readonly Change[] = [doubled("main")]): Command => ({
  do: "patchTemplate",
  intent: anIntent({ method: "Template", changes }),
  resourceVersion: stored.metadata.resourceVersion,
  changes,
});
const sideTo = (size: number): Change => ({ ...doubled("side"), to: { limit: mib(size), request: mib(size / 2) } });

describe("raising the template of an owner", () => {
  it.each([
    { kind: Deployment, spec: owner },
    { kind: StatefulSet, spec: { ...owner, serviceName: "hungry" } },
    { kind: ReplicaSet, spec: owner },
    { kind: DaemonSet, spec: { selector: owner.selector, template } },
    {
      kind: CronJob,
      spec: {
        schedule: "0 0 1 1 *",
        suspend: true,
        jobTemplate: { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } } } },
      },
    },
  ])("$kind.kind: only memory changes, under our name", async ({ kind, spec }) => {
    await using at = await stage();
    const { client, namespace } = at;
    const templated = kind as Kind<Templated>;
    const made = await client.create(
      templated,
      { metadata: { namespace, name: "hungry" }, spec: spec as never },
      { fieldManager: "kubectl" },
    );
    const settled = async () => client.get(templated, { namespace, name: "hungry" });
    // Controllers write the status of what is new; the decision is about what is there then.
    const outcome = await at.cluster.eventually(
      async () => at.act(patchOf(await settled()), { kind: kind.kind as AppKind }),
      ({ outcome }) => outcome !== "changed",
    );
    expect(outcome).toMatchObject({ outcome: "done" });
    const after = await settled();
    expect(resourcesIn(templateOf(after.spec)?.spec)).toEqual({ main: memory("512Mi", "768Mi"), side: memory("32Mi", "64Mi") });
    const plain = (object: Templated) =>
      JSON.parse(JSON.stringify(object.spec).replaceAll("768Mi", "384Mi").replaceAll("512Mi", "256Mi"));
    expect(plain(after)).toEqual(plain(made));
    const ours = after.metadata.managedFields?.filter((entry) => (entry as { manager: string }).manager === operatorName);
    expect(JSON.stringify(ours)).toContain("f:memory");
    expect(JSON.stringify(ours)).not.toContain("f:image");
  });

  it("of one container leaves another with what it was given before", async () => {
    await using at = await stage();
    const { client, namespace } = at;
    await client.create(Deployment, { metadata: { namespace, name: "hungry" }, spec: owner });
    const raise = (change: Change) =>
      at.cluster.eventually(
        async () =>
          at.act(patchOf(await client.get(Deployment, { namespace, name: "hungry" }), [change]), { kind: "Deployment" }),
        ({ outcome }) => outcome !== "changed",
      );
    for (const change of [doubled("main"), sideTo(128), sideTo(256)])
      expect(await raise(change)).toMatchObject({ outcome: "done" });
    const { spec } = await client.get(Deployment, { namespace, name: "hungry" });
    expect(resourcesIn(spec.template.spec)).toEqual({ main: memory("512Mi", "768Mi"), side: memory("128Mi", "256Mi") });
  });

  it('is stopped by the annotation "false" on the pod that the raise is for (E4)', async () => {
    await using at = await stage();
    const { client, namespace } = at;
    const made = await client.create(ReplicaSet, { metadata: { namespace, name: "hungry" }, spec: owner });
    const pod = await at.make("hungry-1");
    const raise = async () => {
      const { metadata } = await client.get(ReplicaSet, { namespace, name: "hungry" });
      const intent = intentOn(pod, { method: "Template" });
      return at.act({ ...patchOf({ ...made, metadata }), intent } as Command, { kind: "ReplicaSet" });
    };
    await at.annotate("hungry-1", "false");
    expect(await raise()).toMatchObject({ outcome: "stopped" });
    // Removed is not "false": the template decides about the pods that the raise is for.
    await at.annotate("hungry-1", null);
    expect(await at.cluster.eventually(raise, ({ outcome }) => outcome !== "changed")).toMatchObject({ outcome: "done" });
  });

  it("D6: is undone by its previous memory, and only where the memory is still what memhog wrote", async () => {
    await using at = await stage();
    const { client, namespace } = at;
    const ref = { namespace, name: "hungry" };
    const jobTemplate = { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" as const } } } };
    await client.create(CronJob, { metadata: ref, spec: { schedule: "0 0 1 1 *", suspend: true, jobTemplate } });
    const as = { kind: "CronJob" } as const;
    const now = async () => resourcesIn(templateOf((await client.get(CronJob, ref)).spec)?.spec);
    const changes = [doubled("main"), sideTo(128)];
    const restore = async (): Promise<Command> => ({
      ...{ do: "restoreTemplate", intent: anIntent({ method: "Template", changes }), changes },
      resourceVersion: (await client.get(CronJob, ref)).metadata.resourceVersion,
    });
    expect(await at.act(patchOf(await client.get(CronJob, ref), changes), as)).toMatchObject({ outcome: "done" });
    const edited = { name: "side", resources: memory("70Mi", "128Mi") };
    const body = { spec: { jobTemplate: { spec: { template: { spec: { containers: [edited] } } } } } };
    await client.patch(CronJob, ref, { type: "strategic", body });
    expect(await at.act(await restore(), as)).toMatchObject({ outcome: "done" });
    expect(await now()).toEqual({ main: memory("256Mi", "384Mi"), side: memory("70Mi", "128Mi") });
    expect(await at.act(await restore(), as)).toMatchObject({ outcome: "done", message: expect.stringContaining("already") });
  });

  it("may be repeated, and is not done to another version or against the annotation (C2, W1, E4)", async () => {
    await using at = await stage();
    const { client, namespace } = at;
    const ref = { namespace, name: "hungry" };
    // Nobody writes the status of a CronJob that is suspended: versions are ours alone.
    const jobTemplate = { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" as const } } } };
    const made = await client.create(CronJob, { metadata: ref, spec: { schedule: "0 0 1 1 *", suspend: true, jobTemplate } });
    const as = { kind: "CronJob" } as const;
    const label = (value: string) => client.patch(CronJob, ref, { type: "merge", body: { metadata: { labels: { value } } } });
    await label("new");
    expect(await at.act(patchOf(made), as)).toMatchObject({ outcome: "changed" });
    expect(await at.act(patchOf(await client.get(CronJob, ref)), as)).toMatchObject({ outcome: "done" });
    const raised = await client.get(CronJob, ref);
    expect(await at.act(patchOf(made), as)).toMatchObject({ outcome: "done", message: expect.stringContaining("already") });
    expect((await client.get(CronJob, ref)).metadata.resourceVersion).toBe(raised.metadata.resourceVersion);
    const annotations = { [monitorAnnotation]: "false" };
    const body = { spec: { jobTemplate: { spec: { template: { metadata: { annotations } } } } } };
    const off = await client.patch(CronJob, ref, { type: "merge", body });
    expect(await at.act(patchOf(off, [sideTo(128)]), as)).toMatchObject({ outcome: "stopped" });
    await client.delete(CronJob, ref);
    expect(await at.act(patchOf(off), as)).toMatchObject({ outcome: "gone" });
  });
});
