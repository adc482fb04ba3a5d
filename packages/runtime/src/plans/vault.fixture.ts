// For tests of plans: a kind with an init, an upgrade, a backup and a cleanup plan. The work of a step is a ConfigMap, so that no
// node is needed; `work` of the spec names steps that wait until somebody sets `done` in their ConfigMap.
import { z } from "zod";
import { child } from "../controller/children.ts";
import { defineController } from "../controller/controller.ts";
import { done } from "../controller/outcome.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import type { ObjectOf, Stored } from "../objects/object.ts";
import { hours, minutes } from "../objects/time.ts";
import { condition } from "../schema/conditions.ts";
import { defineResource } from "../schema/define-resource.ts";
import { waiting } from "./checks.ts";
import { type PlanRun, plansFor } from "./plan.ts";
import { planColumns, plansStatus } from "./status.ts";

export const Vault = defineResource({
  group: "plans-test.example.com",
  version: "v1",
  kind: "Vault",
  spec: z.object({
    version: z.string().max(20),
    size: z.int().optional(),
    work: z.array(z.string().max(63)).max(10).default([]),
  }),
  status: z.object({ version: z.string().max(20).optional(), plans: plansStatus() }),
  conditions: { Ready: { True: ["Idle"], False: ["Busy"] } },
  columns: [{ name: "Ready", condition: "Ready" }, ...planColumns],
});
export type Vault = ObjectOf<typeof Vault>;

const definition = defineController(Vault, { owns: [ConfigMap] });
const { step, serial, parallel, plan, plans } = plansFor(definition);

type Run = PlanRun<Vault["spec"]>;

/** The name of the object that a step makes: the same in every attempt, another in every run. */
export const objectOf = (vault: Stored<Vault>, name: string, { id }: Pick<Run, "id">) => ({
  namespace: vault.metadata.namespace ?? "",
  name: `${vault.metadata.name}-${name}-${id}`,
});

/** A step that makes a ConfigMap, and waits for somebody to finish it if the spec says so. */
const job = (name: string) =>
  step(name, {
    apply: (vault, _ctx, run) => [
      child(ConfigMap, {
        metadata: { name: objectOf(vault, name, run).name },
        data: { from: String(run.previous.version), to: String(run.values.version) },
      }),
    ],
    doneWhen: (vault, ctx, run) => {
      const ref = objectOf(vault, name, run);
      const found = ctx.get(ConfigMap, ref);
      if (found === undefined) return waiting(`${ref.name} to be made`);
      return !vault.spec.work.includes(name) || found.metadata.annotations?.done === "true" || waiting(`${ref.name} to finish`);
    },
    timeoutMs: minutes(10),
  });

export const operations = plans([
  plan("init", [job("format"), job("seed")], { onCreate: true }),
  plan("upgrade", [job("dump"), parallel([job("convert"), serial([job("copy"), job("verify")])]), job("switch")], {
    onChange: ["version"],
    timeoutMs: hours(1),
  }),
  plan("backup", [job("snapshot")], { onAnnotation: "plans-test.example.com/backup" }),
  plan("cleanup", [job("archive"), job("shred")], { onDelete: true, onAnnotation: "plans-test.example.com/cleanup" }),
]);

export const vaults = definition.reconcile(
  async (ref, ctx) => {
    const vault = ctx.get(Vault, ref);
    if (vault === undefined) return done();
    const { outcome, running, plans: progress } = await operations.advance(vault, ctx);
    const [reason, message] =
      running === undefined ? (["Idle", "Nothing to do"] as const) : (["Busy", `${running} is running`] as const);
    const settled = progress.runs?.find(({ name }) => name === "upgrade")?.settled as { version?: string } | undefined;
    await ctx.setStatus(vault, {
      ...(settled?.version !== undefined && { version: settled.version }),
      conditions: [condition(Vault, "Ready", reason, message)],
    });
    return outcome;
  },
  { finalizer: operations.finalizer("plans-test.example.com/cleanup"), resyncMs: 0 },
);
