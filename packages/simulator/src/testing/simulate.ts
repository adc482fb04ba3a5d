// Runs controllers in a simulated cluster for unit tests: the real caches, queue, retries and finalizers, and an API server that
// applies defaults, validation and managed fields. It opens no port and starts no process, and time advances only when the test
// says so. It does not depend on a test runner.
import {
  type AnyResource,
  apiVersionOf,
  type Client,
  type Controller,
  hasCondition,
  installCrds,
  type Kind,
  type KubernetesObject,
  type Logger,
  minutes,
} from "@memhog/runtime";
import { silentLogger } from "@memhog/runtime/concurrency";
import {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  Namespace,
  ServiceAccount,
  ValidatingWebhookConfiguration,
} from "@memhog/runtime/kinds";
import {
  eventually,
  type Journal,
  type ManualClock,
  manualEnvironment,
  reviewersOf,
  startOperator,
} from "@memhog/runtime/testing";
import { conversionFor, type Webhook, webhookConfigurations } from "@memhog/runtime/webhook";
import { type FullCluster, type FullClusterOptions, fullCluster } from "../full-cluster.ts";
import { type Simulator, startSimulator } from "../simulator.ts";

interface SimulateOptions {
  readonly controllers: readonly Controller[];
  /** Objects that exist before the controllers start, of kinds that they declare. Namespaces are created for them. @default none */
  readonly objects?: readonly KubernetesObject[];
  /** Admission and conversion webhooks of the operator. They are called for every write, without a network. @default none */
  readonly webhooks?: readonly Webhook[];
  /** CRDs defined elsewhere that the controllers use. The controllers' own CRDs are installed anyway. @default none */
  readonly crds?: readonly CustomResourceDefinition[];
  /** Adds nodes, so that Deployments get running pods. @default the API server and the Kubernetes controllers, without nodes */
  readonly cluster?: FullClusterOptions;
  /** Seed of the random numbers. The same seed gives the same run. @default 1 */
  readonly seed?: number;
}

/** A simulated cluster and the controllers that run in it. */
interface Simulation extends AsyncDisposable {
  /** `advance` runs everything that falls due: a `requeueAfter`, a retry, a resync. By 0: everything that is due now. */
  readonly clock: ManualClock;
  /** For reading objects, and for writing as another client. */
  readonly client: Client;
  /** All requests of the controllers. */
  readonly journal: Journal;
  /** The errors of failed reconciles. */
  readonly errors: readonly unknown[];
  readonly simulator: Simulator;
  readonly cluster: FullCluster;
}

/**
 * Runs controllers. Resolves when everything that is due at the start is done.
 *
 *     await using cluster = await simulate({ controllers: [greetings], objects: [anObject(Greeting, { spec: { to: "world" } })] });
 *     const { data } = await cluster.client.get(ConfigMap, { namespace: "default", name: "greeting-example" });
 */
export async function simulate(options: SimulateOptions): Promise<Simulation> {
  const { controllers, objects = [], crds = [], webhooks = [], seed } = options;
  const kinds = controllers.flatMap(({ grants }) => grants.map(({ kind }) => kind));
  const known = objects.map((object) => ({ object, kind: kindOf(object, kinds) }));
  const environment = manualEnvironment(seed === undefined ? {} : { seed });
  const { clock } = environment;
  await using starting = new AsyncDisposableStack();
  const cluster = fullCluster(options.cluster);
  const simulator = starting.use(await startSimulator({ environment, components: cluster }));
  const client = simulator.client();
  for (const [path, review] of reviewersOf(webhooks)) simulator.core.webhooks.set(`${webhookUrl}${path}`, review);
  for (const resource of new Set(kinds.filter(isResource))) {
    const conversion = conversionFor(resource, webhooks, { url: webhookUrl });
    await advanceUntilSettled(clock, installCrds(client, [resource], { clock, ...(conversion && { conversion }) }));
  }
  for (const crd of crds) await define(client, crd, clock);
  await register(client, webhooks);
  await putAll(client, clock, known);
  const errors: unknown[] = [];
  const warnings: string[] = [];
  const { transport } = simulator;
  const log = recordingLogger(errors, warnings);
  const operator = starting.use(await startOperator({ name: "simulated", controllers, transport, environment, log }));
  await advanceUntilSettled(clock, operator.ready, () => warnings.join("; "));
  await clock.advance(0);
  const running = starting.move();
  return {
    clock,
    client,
    journal: operator.journal,
    errors,
    simulator,
    cluster,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Nobody listens there: the simulated API server calls the functions in this process. */
const webhookUrl = "https://webhooks.invalid";

async function register(client: Client, webhooks: readonly Webhook[]): Promise<void> {
  for (const configuration of webhookConfigurations(webhooks, { name: "simulated", url: webhookUrl })) {
    if (configuration.kind === MutatingWebhookConfiguration.kind)
      await client.create(MutatingWebhookConfiguration, configuration);
    else await client.create(ValidatingWebhookConfiguration, configuration);
  }
}

/** Startup may need a little simulated time. After a minute it is waiting for something that never happens. */
async function advanceUntilSettled(clock: ManualClock, what: Promise<unknown>, found = () => "nothing"): Promise<void> {
  const until = clock.monotonic() + minutes(1);
  let over = false;
  const ended = what.finally(() => {
    over = true;
  });
  ended.catch(() => {}); // thrown below
  while (!over && clock.monotonic() < until) await clock.advance(10);
  if (!over) throw new Error(`simulate: expected the controllers to be ready within a minute, found ${found()}`);
  await ended;
}

function recordingLogger(errors: unknown[], warnings: string[]): Logger {
  const log: Logger = {
    ...silentLogger,
    error: (fields) => errors.push("err" in fields ? fields.err : fields),
    warn: (_fields, message) => warnings.push(message),
    child: () => log,
  };
  return log;
}

async function define(client: Client, crd: CustomResourceDefinition, clock: ManualClock): Promise<void> {
  const { metadata } = await client.create(CustomResourceDefinition, crd);
  const look = () => client.get(CustomResourceDefinition, { name: metadata.name });
  await eventually(look, ({ status }) => hasCondition(status?.conditions, "Established"), { clock });
}

function isResource(kind: Kind): kind is Kind & AnyResource {
  return "definition" in kind;
}

/** Finds the kind of an object among those that the controllers declare. */
function kindOf(object: KubernetesObject, known: readonly Kind[]): Kind<WithStatus> {
  const found = known.find((kind) => kind.kind === object.kind && apiVersionOf(kind) === object.apiVersion);
  if (found !== undefined) return found;
  const names = [...new Set(known.map(({ kind }) => kind))].join(", ");
  throw new TypeError(
    `simulate: expected objects of kinds that the controllers declare (${names}), found ${object.apiVersion} ${object.kind}`,
  );
}

interface Known {
  readonly object: WithStatus;
  readonly kind: Kind<WithStatus>;
}

type WithStatus = KubernetesObject & { readonly status?: unknown };

/** Stores objects with their status and without the fields that the server sets. */
async function putAll(client: Client, clock: ManualClock, known: readonly Known[]): Promise<void> {
  const namespaces = new Set(known.map(({ object }) => object.metadata?.namespace ?? "default"));
  for (const name of namespaces) await makeNamespace(client, name, clock);
  for (const { object, kind } of known) {
    const { uid: _u, resourceVersion: _r, creationTimestamp: _c, generation: _g, ...metadata } = object.metadata ?? {};
    const created = await client.create(kind, { ...object, metadata });
    if (object.status !== undefined) await client.update(kind, { ...created, status: object.status }, { subresource: "status" });
  }
}

/** Creates the namespace and waits until a controller has created its service account, which pods need. */
async function makeNamespace(client: Client, name: string, clock: ManualClock): Promise<void> {
  if ((await client.find(Namespace, { name })) === undefined) await client.create(Namespace, { metadata: { name } });
  const account = () => client.find(ServiceAccount, { namespace: name, name: "default" });
  await eventually(account, (found) => found !== undefined, { clock });
}
