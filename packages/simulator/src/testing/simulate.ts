// Controllers at work in a cluster of their own, for their unit tests: the controllers themselves, with caches, queue, retries and
// finalizers, and an API server that fills in defaults, checks rules and keeps managed fields as the real one does. No port, no
// process, and time moves when the test says so. A door of its own: whoever uses it needs no test runner of ours.
import {
  type AnyResource,
  apiVersionOf,
  type Client,
  type Controller,
  CustomResourceDefinition,
  hasCondition,
  installCrds,
  type Kind,
  type KubernetesObject,
  type Logger,
  minutes,
  Namespace,
  ServiceAccount,
  silentLogger,
} from "@memhog/runtime";
import { eventually, type Journal, type ManualClock, manualEnvironment, startOperator } from "@memhog/runtime/testing";
import { type Simulator, startSimulator } from "../simulator.ts";
import { type WholeCluster, type WholeClusterOptions, wholeCluster } from "../whole-cluster.ts";

export interface SimulateOptions {
  readonly controllers: readonly Controller[];
  /** What is there before they begin, of kinds that they declare. Namespaces need not be named. @default nothing */
  readonly objects?: readonly KubernetesObject[];
  /** Kinds that somebody else defines and the controllers use; their own are there anyway. @default none */
  readonly crds?: readonly CustomResourceDefinition[];
  /** Nodes make Deployments into pods that run. @default the API server and the controllers of Kubernetes, without nodes */
  readonly cluster?: WholeClusterOptions;
  /** For chance: the same seed tells the same story. @default 1 */
  readonly seed?: number;
}

/** The world of a test. */
export interface SimulatedWorld extends AsyncDisposable {
  /** `advance` it, and whatever falls due happens: a `checkAgainIn`, a retry, a resync; by 0: what there is to do at once. */
  readonly clock: ManualClock;
  /** To look, and to do what somebody else would do. */
  readonly client: Client;
  /** Every call of the controllers. */
  readonly journal: Journal;
  /** What their reconciles failed with. */
  readonly errors: readonly unknown[];
  readonly simulator: Simulator;
  readonly cluster: WholeCluster;
}

/**
 * Lets controllers work; resolves when they have done what there is to do at once.
 *
 *     await using world = await simulate({ controllers: [greetings], objects: [anObject(Greeting, { spec: { to: "world" } })] });
 *     const { data } = await world.client.get(ConfigMap, { namespace: "default", name: "greeting-example" });
 */
export async function simulate(options: SimulateOptions): Promise<SimulatedWorld> {
  const { controllers, objects = [], crds = [], seed } = options;
  const kinds = controllers.flatMap(({ grants }) => grants.map(({ kind }) => kind));
  const known = objects.map((object) => ({ object, kind: kindOf(object, kinds) }));
  const environment = manualEnvironment(seed === undefined ? {} : { seed });
  const { clock } = environment;
  await using starting = new AsyncDisposableStack();
  const cluster = wholeCluster(options.cluster);
  const simulator = starting.use(await startSimulator({ environment, parts: cluster }));
  const client = simulator.client();
  await whileTimeGoes(clock, installCrds(client, [...new Set(kinds.filter(isResource))], { clock }));
  for (const crd of crds) await define(client, crd, clock);
  await putAll(client, clock, known);
  const errors: unknown[] = [];
  const warnings: string[] = [];
  const { transport } = simulator;
  const log = writingDown(errors, warnings);
  const operator = starting.use(await startOperator({ name: "simulated", controllers, transport, environment, log }));
  await whileTimeGoes(clock, operator.ready, () => warnings.join("; "));
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

/** Some things at the start wait for a moment. If it is more than that, they wait for something that never comes. */
async function whileTimeGoes(clock: ManualClock, what: Promise<unknown>, found = () => "nothing"): Promise<void> {
  const until = clock.monotonic() + minutes(1);
  let over = false;
  const ended = what.finally(() => {
    over = true;
  });
  ended.catch(() => {}); // it is thrown below
  while (!over && clock.monotonic() < until) await clock.advance(10);
  if (!over) throw new Error(`simulate: expected the controllers to be ready within a minute, found ${found()}`);
  await ended;
}

function writingDown(errors: unknown[], warnings: string[]): Logger {
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

/** An object says what it is in words; the controllers have declared every kind that they can see. */
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

/** As if they had always been there: with their status, and without what the server decides. */
async function putAll(client: Client, clock: ManualClock, known: readonly Known[]): Promise<void> {
  const namespaces = new Set(known.map(({ object }) => object.metadata?.namespace ?? "default"));
  for (const name of namespaces) await makeNamespace(client, name, clock);
  for (const { object, kind } of known) {
    const { uid: _u, resourceVersion: _r, creationTimestamp: _c, generation: _g, ...metadata } = object.metadata ?? {};
    const created = await client.create(kind, { ...object, metadata });
    if (object.status !== undefined) await client.update(kind, { ...created, status: object.status }, { subresource: "status" });
  }
}

/** With what pods need of one, which a controller makes. */
async function makeNamespace(client: Client, name: string, clock: ManualClock): Promise<void> {
  if ((await client.find(Namespace, { name })) === undefined) await client.create(Namespace, { metadata: { name } });
  const account = () => client.find(ServiceAccount, { namespace: name, name: "default" });
  await eventually(account, (found) => found !== undefined, { clock });
}
