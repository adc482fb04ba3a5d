// Starts all HTTP servers of the repository in this process, each with a dictionary of the values it recognizes.
import { AppMonitor, dashboardState, History, serveDashboard } from "@memhog/memhog-operator";
import { allowed, ConfigMap, controller, convert, done, operator, systemEnvironment, validate } from "@memhog/runtime";
import { silentLogger } from "@memhog/runtime/concurrency";
import { freePort, startFaultProxy } from "@memhog/runtime/testing";
import { fullCluster, startSimulator } from "@memhog/simulator";
import type { Dictionary } from "./http-requests.ts";

export interface FuzzedServer extends Dictionary {
  readonly name: string;
  readonly port: number;
  readonly tls?: boolean;
  /** A valid request, and the status that it must get regardless of earlier requests. */
  readonly probe: { readonly request: string; readonly status: number };
  /** Whether the response reports an internal error of the server. */
  isFailure(status: number, answer: string): boolean;
}

export interface FuzzedServers extends AsyncDisposable {
  readonly servers: readonly FuzzedServer[];
  /** Internal errors that the servers reported. */
  readonly errors: unknown[];
}

export async function startServers(): Promise<FuzzedServers> {
  const environment = systemEnvironment();
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  await using stack = new AsyncDisposableStack();
  const cluster = fullCluster({ nodes: { count: 1 }, prometheus: { port: 0, intervalMs: 1_000 } });
  const simulator = stack.use(await startSimulator({ environment, http: true, components: cluster }));
  const secure = stack.use(await startSimulator({ environment, http: { tls: true } }));
  const proxy = stack.use(await startFaultProxy(secure.transport, { clock: environment.clock }));
  const page = stack.use(await serveDashboard({ address: "127.0.0.1:0", clock: environment.clock, onError, state: stateSince }));
  const program = stack.use(await startOperator(simulator.client(), onError));
  const api = { ...apiWords, isFailure: isStackTold };
  const endpoints = { ...endpointWords, isFailure: isServerError };
  return {
    errors,
    servers: [
      { name: "simulator", port: portOf(simulator.url), probe: get("/version"), ...api },
      { name: "simulator with TLS", port: portOf(secure.url), tls: true, probe: get("/version"), ...api },
      { name: "fault proxy", port: portOf(proxy.url), probe: get("/version"), ...api },
      {
        name: "simulated Prometheus",
        port: portOf(cluster.prometheusUrl),
        probe: get("/-/ready"),
        ...prometheusWords,
        isFailure: isServerError,
      },
      { name: "dashboard", port: page.port, probe: get("/"), ...endpoints },
      { name: "metrics", port: program.ports.metrics, probe: get("/metrics"), ...endpoints },
      { name: "health probes", port: program.ports.health, probe: get("/healthz"), ...endpoints },
      { name: "webhook", port: program.ports.webhook, tls: true, probe: proper, ...webhookWords, isFailure: isServerError },
    ],
    [Symbol.asyncDispose]: keep(stack),
  };
}

/** Transfers ownership: the caller disposes of the resources. */
function keep(stack: AsyncDisposableStack): () => Promise<void> {
  const kept = stack.move();
  return () => kept.disposeAsync();
}

/** An operator with metrics, probes and webhooks; its controller does nothing. */
async function startOperator(client: Parameters<typeof operator>[0]["client"], onError: (error: unknown) => void) {
  const webhook = await freePort();
  const ending = new AbortController();
  const log = {
    ...silentLogger,
    error: ({ err }: { readonly err?: unknown }) => isForeseen(err) || onError(err),
    child: () => log,
  };
  const program = operator({
    name: "fuzzed",
    controllers: [controller(ConfigMap, {}, async () => done())],
    webhooks: [validate(ConfigMap, () => allowed()), convert(AppMonitor, {})],
    webhookServer: { host: "127.0.0.1", port: webhook, address: { url: `https://127.0.0.1:${webhook}` } },
    ...{ metricsBindAddress: "127.0.0.1:0", healthProbeBindAddress: "127.0.0.1:0", memory: "default", drainMs: 0 },
    ...(client && { client }),
    log,
    // The fuzzer itself catches unhandled rejections.
    process: { onStop: () => () => {}, onUnhandledRejection: () => () => {}, exit: () => {} },
  });
  const ended = program.run(ending.signal);
  await Promise.race([program.ready, ended]);
  const { metrics = 0, health = 0 } = program.ports;
  return {
    ports: { metrics, health, webhook },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await ended;
    },
  };
}

/** An error with one of our codes is caused by the request, for example a conversion of an unknown kind. */
function isForeseen(error: unknown): boolean {
  return error instanceof Error && "code" in error && !String(error.code).startsWith("ERR_");
}

const history = new History();
const stateSince = (sinceMs: number) =>
  dashboardState({ nowMs: 0, metrics: { available: true, freshForMs: 60_000 }, apps: history.apps(), monitors: [] }, sinceMs);

const isServerError = (status: number) => status === 500;
/** API servers respond with 500 to some invalid requests. Only a response with a stack trace is an internal error. */
const isStackTold = (status: number, answer: string) => status === 500 && /\.ts:\d+/.test(answer);

const portOf = (url: string | undefined) => Number(new URL(url ?? "").port);
const get = (path: string) => ({
  request: `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
  status: 200,
});

const review = JSON.stringify({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: { uid: "7", operation: "CREATE", object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } } },
});
const conversion = JSON.stringify({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "ConversionReview",
  request: { uid: "7", desiredAPIVersion: "kubedemo.com/v1", objects: [{ apiVersion: "kubedemo.com/v1", kind: "AppMonitor" }] },
});
const proper = {
  request: `POST /validate--v1-configmap HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${review.length}\r\n\r\n${review}`,
  status: 200,
};

const webhookWords: Dictionary = {
  paths: ["/validate--v1-configmap", "/convert", "/"],
  queries: ["timeout=1s", "timeout=99999999999999s", "timeout=-1s", "timeout="],
  bodies: [review, conversion, "{}", "null", "[]", '"x"'],
};

const endpointWords: Dictionary = {
  paths: ["/metrics", "/debug/explain", "/healthz", "/readyz", "/", "/dashboard.js", "/dashboard.css", "/api/state"],
  queries: ["key=default/x", "key=", "key=a/b/c", "since=0", "since=NaN", "since=-1e309", "verbose", "exclude=x"],
  bodies: ["{}", "x"],
};

const prometheusWords: Dictionary = {
  paths: ["/api/v1/query", "/api/v1/query", "/api/v1/query_range", "/-/ready", "/api/v1/status/buildinfo", "/api/v1/labels"],
  queries: [
    ...[
      "query=up",
      "query=container_memory_working_set_bytes",
      "query=rate(up%5B5m%5D)",
      "query=sum(up)by(",
      "query=%7B__name__=~%22.*%22%7D",
    ],
    ...[
      "query=up%5B1e9y%5D",
      "query=((((((((((1))))))))))",
      "query=-",
      "time=0",
      "time=NaN",
      "time=1e308",
      "start=0",
      "end=1",
      "end=1e18",
    ],
    ...["step=1", "step=0", "step=1e-9", "timeout=x", "lookback_delta=1s"],
  ],
  bodies: ["query=up", "query=up&time=x", "query=%zz", "=", '{"query":"up"}'],
};

const pod = { metadata: { name: "x", labels: { a: "b" } }, spec: { containers: [{ name: "main", image: "example.com/x:1" }] } };
const apiWords: Dictionary = {
  paths: [
    ...[
      "/api",
      "/apis",
      "/api/v1",
      "/apis/apps/v1",
      "/openapi/v2",
      "/openapi/v3",
      "/healthz",
      "/version",
      "/api/v1/namespaces/default",
    ],
    ...[
      "/api/v1/pods",
      "/api/v1/namespaces/default/pods",
      "/api/v1/namespaces/default/pods/x",
      "/api/v1/namespaces/default/pods/x/status",
    ],
    ...[
      "/api/v1/namespaces/default/pods/x/resize",
      "/api/v1/namespaces/default/pods/x/eviction",
      "/api/v1/namespaces/default/pods/x/log",
    ],
    ...[
      "/api/v1/namespaces/default/configmaps",
      "/api/v1/namespaces/default/configmaps/x",
      "/api/v1/nodes",
      "/api/v1/nodes/node-1/proxy/x",
    ],
    ...["/apis/apps/v1/namespaces/default/deployments/x", "/apis/apps/v1/namespaces/default/deployments/x/scale"],
    ...["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"],
  ],
  queries: [
    ...[
      "watch=true",
      "watch=x",
      "timeoutSeconds=1",
      "limit=1",
      "limit=-1",
      "limit=1e99",
      "continue=x",
      "continue=eyJ2IjoibWV0YSJ9",
    ],
    ...[
      "resourceVersion=0",
      "resourceVersion=x",
      "resourceVersion=99999999999999999999",
      "resourceVersionMatch=Exact",
      "dryRun=All",
      "dryRun=x",
    ],
    ...[
      "labelSelector=a%3Db",
      "labelSelector=((",
      "labelSelector=a in (b",
      "fieldSelector=metadata.name%3Dx",
      "fieldSelector==",
      "force=true",
    ],
    ...[
      "fieldManager=x",
      "fieldManager=",
      "fieldValidation=Strict",
      "sendInitialEvents=true",
      "allowWatchBookmarks=true",
      "pretty=1",
    ],
    ...["propagationPolicy=Orphan", "propagationPolicy=x", "gracePeriodSeconds=-1", "gracePeriodSeconds=0"],
  ],
  bodies: [
    JSON.stringify({ apiVersion: "v1", kind: "Pod", ...pod }),
    JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, data: { a: "b" } }),
    JSON.stringify({
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "x" } },
      spec: { replicas: 1, selector: { matchLabels: { a: "b" } }, template: pod },
    }),
    JSON.stringify([{ op: "replace", path: "/metadata/labels/a", value: "c" }]),
    JSON.stringify([{ op: "copy", from: "/metadata", path: "/metadata/annotations/a" }]),
    JSON.stringify({ metadata: { labels: { a: null }, finalizers: ["x/y"] } }),
    JSON.stringify({ kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Foreground", preconditions: { uid: "x" } }),
    JSON.stringify({ spec: { resourceAttributes: { verb: "get", resource: "pods" } } }),
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n",
  ],
};
