// The program: its flags, its commands, and what it checks before it starts.
import { allow, createClient, FlagError, loadConfig, Node, type OperatorProgram, systemEnvironment } from "@memhog/runtime";
import { silentLogger } from "@memhog/runtime/concurrency";
import type { FlagOptions, Runnable } from "@memhog/runtime/operator";
import { type Grant, toYaml } from "@memhog/runtime/schema";
import packageJson from "../../package.json" with { type: "json" };
import { operatorName } from "../api/names.ts";
import { podWebhook } from "../controllers/pod-webhook.ts";
import { type MemhogOptions, memhogControllers, memhogKinds, memhogOptions } from "../memhog.ts";
import { httpTransport } from "../observe/prometheus/http-transport.ts";
import type { PrometheusTransport } from "../observe/prometheus/transport.ts";
import { PrometheusError } from "../observe/prometheus/transport.ts";
import { explainPod, explanationText } from "./explain.ts";
import { epilog, exclusionOf, flags, headersOf, intervalMsOf, type MemhogFlags, matchersOf } from "./flags.ts";
import { allowed, checkDefinitions, checkPermissions, checkServer } from "./preflight.ts";

export const program: OperatorProgram<typeof flags> = {
  name: operatorName,
  description: "Raises a container's memory limit before it is OOM-killed.",
  version: packageJson.version,
  resources: memhogKinds,
  // For flags, permissions and manifests. `configure` and `prepare` return the one that is served, with its caches.
  webhooks: [podWebhook(true).webhook],
  optionalWebhooks: true,
  flags,
  // Never the namespace of a kubeconfig's context: an operator that changes pods should not follow `kubectl config use-context`.
  defaultNamespaces: ["default"],
  configure: (flags, options) =>
    optionsFor(flags, options, { prometheus: prometheusOf(flags), nodes: options.namespaces === "all" }),
  prepare: async (flags, given) => {
    const prometheus = prometheusOf(flags);
    const nodes = await checkCluster(flags, given, prometheus);
    const options = optionsFor(flags, given, { prometheus, nodes });
    const runnables = [...options.runnables, ...(sendsCredentialsInClear(flags) ? [clearTextWarning] : [])];
    return { options: { ...options, runnables }, close: () => prometheus.close?.() };
  },
  commands: {
    explain: { args: ["POD"], describe: "explain the current decision for a pod (-o json for scripts)", run: explain },
    manifests: { describe: "print the YAML that installs the operator in a cluster", run: installYaml },
  },
  epilog,
};

function optionsFor(flags: MemhogFlags, given: FlagOptions, found: Pick<MemhogOptions, "prometheus" | "nodes">) {
  const dashboardBindAddress = flags["dashboard-bind-address"];
  const dashboardAllowedHosts = flags["dashboard-allowed-host"];
  const polling = { intervalMs: intervalMsOf(flags), matchers: matchersOf(flags) };
  const scope = { inPlaceOnly: flags["in-place-only"], isExcluded: exclusionOf(flags, given) };
  const { webhooks = false } = flags as { readonly webhooks?: boolean };
  const shown = { dashboardBindAddress, dashboardAllowedHosts };
  return memhogOptions({ ...found, ...polling, ...scope, ...shown, podWebhook: webhooks });
}

/** Reports common setup mistakes before anything starts. Resolves to whether the operator is allowed to read nodes. */
async function checkCluster(flags: MemhogFlags, options: FlagOptions, prometheus: PrometheusTransport): Promise<boolean> {
  await using client = createClient({
    config: await loadConfig(configOf(options)),
    environment: systemEnvironment(),
    rateLimit: { qps: 200, burst: 200 },
  });
  await checkServer(client);
  if (!(flags as { readonly "install-crds"?: boolean })["install-crds"]) await checkDefinitions(client);
  const nodes = await allowed(client, allow(Node, "list"), "list");
  const namespaces = options.namespaces === "own" ? ["default"] : options.namespaces;
  await checkPermissions(client, grantsOf(prometheus, nodes), namespaces);
  return nodes;
}

async function explain([pod = ""]: readonly string[], flags: MemhogFlags, options: FlagOptions): Promise<string> {
  const [namespace, ...others] = typeof options.namespaces === "string" ? [] : options.namespaces;
  if (namespace === undefined || others.length > 0) throw new FlagError("expected one namespace: explain POD -n NAMESPACE");
  const prometheus = prometheusOf(flags);
  const nodes = await checkCluster(flags, options, prometheus);
  // Only the explanation is printed unless -v is set.
  const log = options.verbosity > 0 ? {} : { log: silentLogger };
  const explanation = await explainPod({
    ...configOf(options),
    ...log,
    namespace,
    pod,
    prometheus,
    nodes,
    matchers: matchersOf(flags),
    inPlaceOnly: flags["in-place-only"],
  });
  await prometheus.close?.();
  return flags.output === "json" ? JSON.stringify(explanation, null, 2) : explanationText(explanation);
}

/** @throws FlagError if the address or a header is malformed */
function prometheusOf(flags: MemhogFlags): PrometheusTransport {
  try {
    return httpTransport({
      address: flags["prometheus-addr"],
      bearerTokenFile: flags["prometheus-bearer-token-file"],
      username: flags["prometheus-username"],
      passwordFile: flags["prometheus-password-file"],
      caFile: flags["prometheus-ca-file"],
      headers: headersOf(flags),
    });
  } catch (cause) {
    if (!(cause instanceof PrometheusError)) throw cause;
    throw new FlagError(`--prometheus-addr: ${cause.message}`, { cause });
  }
}

/** Whether everybody on the way to Prometheus can read the token or password. */
export function sendsCredentialsInClear(flags: MemhogFlags): boolean {
  const { protocol, hostname, username } = new URL(flags["prometheus-addr"]);
  const isLocal = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  const headers = Object.keys(headersOf(flags)).map((name) => name.toLowerCase());
  const { "prometheus-bearer-token-file": token, "prometheus-username": user } = flags;
  const hasAny = token !== undefined || user !== undefined || username !== "" || headers.includes("authorization");
  return protocol === "http:" && !isLocal && hasAny;
}

const clearTextWarning: Runnable = {
  name: "clear-text-warning",
  needsLeaderElection: false,
  start: async ({ log }) =>
    log.warn({}, "--prometheus-addr uses http: credentials for Prometheus are sent in clear text → use an https URL"),
};

function configOf({ kubeconfig, context }: FlagOptions): Pick<FlagOptions, "kubeconfig" | "context"> {
  return { ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }) };
}

function grantsOf(prometheus: PrometheusTransport, nodes: boolean): readonly Grant[] {
  return memhogControllers({ prometheus, nodes }, systemEnvironment()).controllers.flatMap(({ grants }) => grants);
}

/** The same as `kubectl apply -k`; for all namespaces with --all-namespaces, with fewer permissions with --in-place-only. */
async function installYaml(_args: readonly string[], flags: MemhogFlags, { namespaces }: FlagOptions): Promise<string> {
  // Loaded on use: a running operator does not need it.
  const { manifests } = await import("../manifests/manifests.ts");
  const folder = `${namespaces === "all" ? "cluster-wide" : "operator"}${flags["in-place-only"] ? "-in-place" : ""}/`;
  const objects = Object.entries(manifests())
    .filter(([path]) => (path.startsWith("crd/") || path.startsWith(folder)) && !path.endsWith("kustomization.yaml"))
    .flatMap(([, content]) => (typeof content === "string" ? [] : content));
  return toYaml(...objects);
}
