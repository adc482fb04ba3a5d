// For tests on a cluster without nodes, simulated or real: pods that nobody schedules, a hand that plays their kubelet, and the
// commands of a plan about them. A command is typed in full here once; tests say what differs.
import { type Client, crdOf, Pod, type Stored } from "@memhog/runtime";
import { testCluster } from "@memhog/simulator/testing";
import { AppMemory } from "../api/app-memory.ts";
import { monitorAnnotation } from "../api/names.ts";
import { mib } from "../model/bytes.ts";
import { anIntent } from "../model/observed-app.fixture.ts";
import type { AppKind } from "../model/observed-app.ts";
import { aPlan } from "../model/plan.fixture.ts";
import type { Change, Command, Intent } from "../model/plan.ts";
import { execute } from "./execute.ts";
import type { CommandOutcome } from "./outcome.ts";

export const memory = (request: string, limit: string) => ({ requests: { memory: request }, limits: { memory: limit } });

/** 256Mi/384Mi → 512Mi/768Mi. */
export const doubled = (container: string): Change => ({
  container,
  from: { limit: mib(384), request: mib(256) },
  to: { limit: mib(768), request: mib(512) },
});

/** An intent about this very pod. */
export const intentOn = ({ metadata: { name, uid } }: Stored<Pod>, different: Partial<Intent> = {}): Intent =>
  anIntent({ id: `${uid}/1`, pod: { name, uid }, changes: [doubled("main")], ...different });

export async function stage() {
  const cluster = await testCluster();
  await cluster.apply(crdOf(AppMemory));
  const client = await cluster.client();
  const namespace = cluster.defaultNamespace;
  return {
    ...{ cluster, client, namespace, ...pods(client, namespace), ...acts(client, namespace) },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

function pods(client: Client, namespace: string) {
  const get = (name: string) => client.find(Pod, { namespace, name });
  return {
    get,
    /** A monitored pod that asks for 256Mi/384Mi and stays where it was made. */
    make: (name: string, { metadata = {}, spec = {} }: { readonly metadata?: object; readonly spec?: object } = {}) =>
      client.create(Pod, {
        metadata: { namespace, name, annotations: { [monitorAnnotation]: "true" }, ...metadata },
        spec: {
          schedulerName: "nobody",
          // Nobody would be there to confirm its end.
          terminationGracePeriodSeconds: 0,
          containers: [{ name: "main", image: "example.com/none", resources: memory("256Mi", "384Mi") }],
          ...spec,
        },
      }),
    say: (name: string, status: object) =>
      client.patch(Pod, { namespace, name }, { type: "merge", body: { status } }, { subresource: "status" }),
    annotate: (name: string, value: string | null) =>
      client.patch(
        Pod,
        { namespace, name },
        { type: "merge", body: { metadata: { annotations: { [monitorAnnotation]: value } } } },
      ),
  };
}

export const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };

function acts(client: Client, namespace: string) {
  return {
    /** Carries out one command about an app, with the client of somebody else if there is one. */
    act: async (command: Command, { kind = "Pod" as AppKind, name = "hungry", as = client } = {}): Promise<CommandOutcome> => {
      const [outcome] = await execute({ client: as }, { kind, namespace, name }, aPlan({ commands: [command] }));
      if (outcome === undefined) throw new Error("expected an outcome of the command, found none");
      return outcome;
    },
  };
}

/** Resources by container, of anything that has containers. */
export const resourcesIn = (spec: Pod["spec"] | undefined) =>
  Object.fromEntries(
    [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ name, resources }) => [name, resources]),
  );
