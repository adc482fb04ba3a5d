// An operator for something that holds data. docs/guides/stateful-operator.md explains it.
//
//     Secret         generated once, never changed
//     Service        headless, exactly as declared
//     StatefulSet    with a claim for each replica; replaced as an orphan when its claim template changes
//     claims         grown when the spec asks for more
//     Job            initializes the ledger when the first pod is ready, once
//     CronJob        backs it up, if the spec has a schedule
//     Job            takes a final snapshot before the ledger is deleted
import { randomUUID } from "node:crypto";
import {
  absent,
  after,
  allowed,
  awaitChange,
  type Child,
  child,
  condition,
  declarative,
  defineResource,
  denied,
  done,
  hasCondition,
  Job,
  type ObjectOf,
  parseQuantity,
  quantity,
  release,
  Secret,
  type Seen,
  Service,
  StatefulSet,
  type Stored,
  validate,
  type Wanted,
  z,
} from "@memhog/runtime";
import { CronJob, PersistentVolumeClaim } from "@memhog/runtime/kinds";

export const Ledger = defineResource({
  group: "guide.example.com",
  version: "v1",
  kind: "Ledger",
  spec: z.object({
    image: z.string().max(300).describe("Image of the server and of its jobs."),
    replicas: z.int().min(1).max(9).default(1).describe("Number of servers."),
    storage: quantity().default("1Gi").describe("Size of each volume. Can grow, but not shrink."),
    storageClassName: z.string().max(253).optional().describe("Class of the volumes. The default class if not set."),
    backupSchedule: z.string().max(100).optional().describe("When to back up, in cron syntax. Never if not set."),
    retainVolumes: z.boolean().default(false).describe("Whether the volumes outlive the ledger."),
  }),
  status: z.object({
    ready: z.int().describe("Servers that are ready."),
    snapshot: z.enum(["Taken"]).optional().describe("Whether the final snapshot was taken."),
  }),
  conditions: { Ready: { True: ["Serving"], False: ["Starting", "Initializing"] } },
  columns: [{ name: "Ready", condition: "Ready" }],
});
export type Ledger = ObjectOf<typeof Ledger>;

const owned = [Secret, Service, StatefulSet, Job, CronJob, PersistentVolumeClaim] as const;
type Observed = Seen<typeof Ledger | (typeof owned)[number]>;

// Everything that the final snapshot needs has no owner reference: `kubectl delete --cascade=foreground` would remove it first.
const tracked = { tracked: true } as const;
const labelsOf = ({ metadata }: Stored<Ledger>) => ({ "guide.example.com/ledger": metadata.name });
const named = (ledger: Stored<Ledger>, suffix: string) => ({
  name: `${ledger.metadata.name}-${suffix}`,
  labels: labelsOf(ledger),
});

function password(ledger: Stored<Ledger>): Child {
  return child(
    Secret,
    { metadata: named(ledger, "password"), stringData: { password: randomUUID() } },
    { ...tracked, mode: "once" },
  );
}

function service(ledger: Stored<Ledger>): Child {
  const spec = { clusterIP: "None", selector: labelsOf(ledger), ports: [{ name: "ledger", port: 7070 }] };
  return child(Service, { metadata: named(ledger, "peers"), spec }, { ...tracked, mode: "exact" });
}

function servers(ledger: Stored<Ledger>, storage: string): Child {
  const { image, replicas, storageClassName } = ledger.spec;
  const env = [{ name: "PASSWORD", valueFrom: { secretKeyRef: { name: named(ledger, "password").name, key: "password" } } }];
  const container = { name: "ledger", image, env, volumeMounts: [{ name: "data", mountPath: "/data" }] };
  const claim = {
    metadata: { name: "data", labels: labelsOf(ledger) },
    spec: {
      accessModes: ["ReadWriteOnce" as const],
      ...(storageClassName !== undefined && { storageClassName }),
      resources: { requests: { storage } },
    },
  };
  return child(
    StatefulSet,
    {
      metadata: { name: ledger.metadata.name, labels: labelsOf(ledger) },
      spec: {
        ...{ replicas, serviceName: named(ledger, "peers").name, selector: { matchLabels: labelsOf(ledger) } },
        template: { metadata: { labels: labelsOf(ledger) }, spec: { containers: [container] } },
        volumeClaimTemplates: [claim],
      },
    },
    { ...tracked, replace: "orphan" }, // claim templates are immutable: the pods go on, and the new StatefulSet adopts them
  );
}

const jobSpec = ({ spec: { image } }: Stored<Ledger>, command: string) => ({
  template: { spec: { restartPolicy: "Never" as const, containers: [{ name: command, image, args: [command] }] } },
});

/** Once: its template is immutable, and the image in it changes with every upgrade. */
function job(ledger: Stored<Ledger>, command: string) {
  return child(Job, { metadata: named(ledger, command), spec: jobSpec(ledger, command) }, { ...tracked, mode: "once" });
}

function backups(ledger: Stored<Ledger>): Child {
  const { backupSchedule: schedule } = ledger.spec;
  const metadata = named(ledger, "backup");
  if (schedule === undefined) return absent(CronJob, metadata);
  return child(CronJob, { metadata, spec: { schedule, jobTemplate: { spec: jobSpec(ledger, "backup") } } }, tracked);
}

// Storage growth: first the claims, then the template for claims to come. A claim can grow when it is bound; a template that is
// ahead of its claims would hide that they did not.

const requested = ({ spec }: PersistentVolumeClaim) => String(spec.resources?.requests?.storage ?? 0);

/** The StatefulSet controller creates the claims, so they are adopted; only their size is declared. */
function growth(ledger: Stored<Ledger>, claims: readonly Stored<PersistentVolumeClaim>[]): readonly Child[] {
  const resources = { requests: { storage: ledger.spec.storage } };
  return claims
    .filter(({ status }) => status?.phase === "Bound")
    .map(({ metadata: { name } }) =>
      child(PersistentVolumeClaim, { metadata: { name }, spec: { resources } }, { ...tracked, adopt: true }),
    );
}

/** The size in the template: the new one when every claim has it. */
function templateSize(
  ledger: Stored<Ledger>,
  claims: readonly Stored<PersistentVolumeClaim>[],
  set?: Stored<StatefulSet>,
): string {
  const storage = String(ledger.spec.storage);
  const [template] = set?.spec.volumeClaimTemplates ?? [];
  const grown = claims.every((claim) => parseQuantity(requested(claim)).compare(parseQuantity(storage)) >= 0);
  return grown || template === undefined ? storage : requested(template);
}

/** The desired state, from what is observed. */
export function decide(ledger: Stored<Ledger>, seen: Observed): Wanted<typeof Ledger> {
  const { namespace = "", name } = ledger.metadata;
  const claims = seen.list(PersistentVolumeClaim, { namespace, labels: labelsOf(ledger) });
  const set = seen.get(StatefulSet, { namespace, name });
  const ready = set?.status?.readyReplicas ?? 0;
  const initialized = isComplete(seen.get(Job, { namespace, name: named(ledger, "init").name }));
  return {
    children: [
      password(ledger),
      service(ledger),
      ...growth(ledger, claims),
      servers(ledger, templateSize(ledger, claims, set)),
      after(ready > 0, job(ledger, "init"), "the first server"),
      backups(ledger),
    ],
    status: { ready, conditions: [report(ledger, ready, initialized)] },
  };
}

function report(ledger: Stored<Ledger>, ready: number, initialized: boolean) {
  const message = `${ready} of ${ledger.spec.replicas} servers are ready`;
  if (ready < ledger.spec.replicas) return condition(Ledger, "Ready", "Starting", message);
  return condition(Ledger, "Ready", initialized ? "Serving" : "Initializing", message);
}

const isComplete = (found: Job | undefined) => hasCondition(found?.status?.conditions, "Complete");

export const ledgers = declarative(
  Ledger,
  {
    owns: owned,
    finalizer: {
      name: "guide.example.com/snapshot",
      async cleanUp(ledger, ctx) {
        const snapshot = job(ledger, "snapshot");
        const { namespace = "" } = ledger.metadata;
        if (ledger.status?.snapshot === undefined) {
          await ctx.applyChildren(ledger, [snapshot]);
          if (!isComplete(ctx.get(Job, { namespace, name: snapshot.object.metadata.name })))
            return awaitChange("the final snapshot is not complete");
          // Before the Job is deleted: without it, an operator that dies here would take a snapshot of nothing.
          await ctx.patchStatus(ledger, { snapshot: "Taken" });
        }
        const claims = ctx.list(PersistentVolumeClaim, { namespace, labels: labelsOf(ledger) });
        const kept = ledger.spec.retainVolumes ? claims.map(({ metadata }) => release(PersistentVolumeClaim, metadata)) : [];
        await ctx.applyChildren(ledger, kept, { prune: owned });
        return done();
      },
    },
  },
  decide,
);

export const webhooks = [
  validate(Ledger, ({ spec }, old) =>
    old !== undefined && parseQuantity(spec.storage).compare(parseQuantity(old.spec.storage)) < 0
      ? denied(`spec.storage: expected at least ${old.spec.storage}, found ${spec.storage}; volumes cannot shrink`)
      : allowed(),
  ),
];
