// What the command line asks for: run, explain, or print what an install is made of.
import {
  connect,
  crdOf,
  type Grant,
  may,
  Node,
  type OperatorOptions,
  parseAddress,
  rolesFor,
  silentLogger,
  systemEnvironment,
  toYaml,
} from "@memhog/runtime";
import { operatorName } from "../api/names.ts";
import { explanationText } from "../explain/explanation.ts";
import { manifests } from "../manifests.ts";
import { memhogControllers, memhogKinds, memhogOperator } from "../memhog.ts";
import { httpTransport } from "../observe/prometheus/http-transport.ts";
import type { PrometheusTransport } from "../observe/prometheus/transport.ts";
import { explainPod } from "./explain.ts";
import { headersOf, intervalMsOf, type MemhogFlags } from "./flags.ts";
import { allowed, checkDefinitions, checkRights, checkServer, NotReadyToStartError } from "./preflight.ts";

/** Words after the program's name → what is done. Resolves when it is done. */
export async function obey(flags: MemhogFlags): Promise<void> {
  const [command, ...rest] = flags.words;
  if (flags.help !== undefined) return console.log(flags.help);
  if (command === undefined) return run(flags);
  if (command === "explain") return explain(flags, rest);
  if (command === "crd") return console.log(await toYaml(...memhogKinds.map((kind) => crdOf(kind))));
  if (command === "rbac") return console.log(await toYaml(...rolesOf(flags)));
  if (command === "manifests") return console.log(await toYaml(...installOf(flags)));
  throw new NotReadyToStartError(
    `expected a command: explain, crd, rbac, manifests or none, found ${JSON.stringify(command)} → --help`,
  );
}

async function run(flags: MemhogFlags): Promise<void> {
  const { own, options } = flags;
  const pageBindAddress = own["page-bind-address"];
  if (pageBindAddress !== "0") parseAddress(pageBindAddress); // now, not when the page is to be served
  const prometheus = prometheusOf(flags);
  const nodes = await lookBeforeStarting(flags, prometheus);
  const installCrds = own["install-crds"] ? memhogKinds : [];
  await memhogOperator({ ...options, installCrds, prometheus, nodes, intervalMs: intervalMsOf(own), pageBindAddress }).run();
  await prometheus.close?.();
}

/** What people get wrong is said before anything starts. Returns whether nodes may be read. */
async function lookBeforeStarting({ own, options }: MemhogFlags, prometheus: PrometheusTransport): Promise<boolean> {
  await using client = await connect({
    ...configOf(options),
    environment: systemEnvironment(),
    rateLimit: { qps: 200, burst: 200 },
  });
  await checkServer(client);
  if (!own["install-crds"]) await checkDefinitions(client);
  const nodes = await allowed(client, may(Node, "list"), "list");
  await checkRights(client, grantsOf(prometheus, nodes), options.namespaces);
  return nodes;
}

async function explain(flags: MemhogFlags, [pod, ...more]: readonly string[]): Promise<void> {
  const { options, own } = flags;
  const [namespace, ...others] = options.namespaces === "all" ? [] : options.namespaces;
  if (!["text", "json", undefined].includes(own.output))
    throw new NotReadyToStartError(`--output: expected text or json, found ${JSON.stringify(own.output)}`);
  if (pod === undefined || more.length > 0) throw new NotReadyToStartError("expected one pod: explain POD");
  if (namespace === undefined || others.length > 0)
    throw new NotReadyToStartError("expected one namespace: explain POD -n NAMESPACE");
  const prometheus = prometheusOf(flags);
  const nodes = await lookBeforeStarting(flags, prometheus);
  // What is asked for is the answer; the log of getting it only on request.
  const log = options.verbosity > 0 ? {} : { log: silentLogger };
  const explanation = await explainPod({ ...configOf(options), ...log, namespace, pod, prometheus, nodes });
  await prometheus.close?.();
  console.log(own.output === "json" ? JSON.stringify(explanation, null, 2) : explanationText(explanation));
}

function prometheusOf({ own }: MemhogFlags): PrometheusTransport {
  return httpTransport({
    address: own["prometheus-addr"],
    bearerTokenFile: own["prometheus-bearer-token-file"],
    username: own["prometheus-username"],
    passwordFile: own["prometheus-password-file"],
    caFile: own["prometheus-ca-file"],
    headers: headersOf(own),
  });
}

function configOf({ kubeconfig, context }: MemhogFlags["options"]): Pick<OperatorOptions, "kubeconfig" | "context"> {
  return { ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }) };
}

/** What the operator may do: from the controllers themselves, so the two cannot drift. */
function grantsOf(prometheus: PrometheusTransport, nodes: boolean): readonly Grant[] {
  return memhogControllers({ prometheus, nodes }, systemEnvironment()).controllers.flatMap(({ grants }) => grants);
}

/** Definitions, rights and the program, as `kubectl apply -k` would have them; for all namespaces on request. */
function installOf({ options }: MemhogFlags): readonly object[] {
  const folder = options.namespaces === "all" ? "cluster-wide/" : "operator/";
  return Object.entries(manifests())
    .filter(([path]) => (path.startsWith("crd/") || path.startsWith(folder)) && !path.endsWith("kustomization.yaml"))
    .flatMap(([, content]) => (typeof content === "string" ? [] : content)); // words are for the folder
}

function rolesOf(flags: MemhogFlags): readonly object[] {
  const { namespaces } = flags.options;
  const wide = namespaces === "all";
  const namespace = wide ? "default" : (namespaces[0] ?? "default");
  return rolesFor(grantsOf(prometheusOf(flags), wide), { name: operatorName, namespace, namespaces });
}
