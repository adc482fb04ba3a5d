// The flags that every operator has, and their conversion to options. run-operator.ts uses them.
import { isDnsLabel } from "../objects/names.ts";
import { parseAddress } from "./endpoints.ts";
import { FlagError, OperatorOptionsError } from "./errors.ts";
import { type FlagFormat, type FlagTable, type FlagValues, parseFlags } from "./parse-flags.ts";

/** An address to listen on. */
export const addressFormat: FlagFormat = {
  expected: 'an address like ":8080" or "127.0.0.1:8080", or "0" to disable it',
  test: (value) => {
    try {
      return value === "0" || parseAddress(value).port >= 0;
    } catch {
      return false;
    }
  },
};

const namespaceName: FlagFormat = {
  expected: "the name of a namespace: at most 63 lowercase letters, digits and dashes",
  test: isDnsLabel,
};

const notEmpty: FlagFormat = { expected: "a value", test: (value) => value !== "" };

export const commonFlags = {
  kubeconfig: {
    type: "string",
    placeholder: "file",
    format: notEmpty,
    describe: "path of the kubeconfig; defaults to $KUBECONFIG, the pod's service account, or ~/.kube/config",
  },
  context: { type: "string", placeholder: "name", format: notEmpty, describe: "context of the kubeconfig to use" },
  namespace: {
    type: "list",
    short: "n",
    placeholder: "name",
    format: namespaceName,
    describe: "namespaces to watch; defaults to $POD_NAMESPACE, then to the namespace of the kubeconfig's context",
  },
  "all-namespaces": { type: "boolean", short: "A", describe: "watch all namespaces" },
  "leader-elect": { type: "boolean", describe: "elect a leader: only one of several replicas reconciles" },
  "metrics-bind-address": {
    type: "string",
    placeholder: "address",
    default: ":8080",
    format: addressFormat,
    describe: "address of /metrics and /debug/explain; 0 disables them",
  },
  "health-probe-bind-address": {
    type: "string",
    placeholder: "address",
    default: ":8081",
    format: addressFormat,
    describe: "address of /healthz and /readyz; 0 disables them",
  },
  "profiler-bind-address": {
    type: "string",
    placeholder: "address",
    default: "0",
    format: addressFormat,
    describe: "loopback address of CPU and heap profiles; 0 disables them",
  },
  v: {
    type: "number",
    short: "v",
    default: 0,
    integer: true,
    min: 0,
    placeholder: "level",
    describe: "log verbosity: 0 info, 2 debug, 4 trace, 6 every API call",
  },
  logtostderr: { type: "boolean", describe: "ignored; accepted for compatibility. Logs always go to standard error" },
  print: { type: "boolean", describe: "print the CustomResourceDefinitions and the RBAC objects as YAML and exit" },
  version: { type: "boolean", describe: "print the version and exit" },
  help: { type: "boolean", short: "h", describe: "print this help and exit" },
} as const satisfies FlagTable;

export const crdFlags = {
  "install-crds": { type: "boolean", describe: "apply the operator's CustomResourceDefinitions before starting" },
} as const satisfies FlagTable;

export const webhookFlags = {
  webhooks: { type: "boolean", describe: "serve the operator's webhooks" },
  "webhook-port": { type: "number", default: 9443, integer: true, min: 0, max: 65_535, describe: "port of the webhooks" },
  "webhook-cert-path": {
    type: "string",
    placeholder: "folder",
    describe: "folder with tls.crt and tls.key for the webhooks; without it the operator issues its own certificate",
  },
} as const satisfies FlagTable;

/** Namespaces by name, or "own": the pod's, or that of the kubeconfig's context. */
export type DefaultNamespaces = readonly string[] | "own";

/** The options of an operator that its command line sets. */
export interface FlagOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespaces: readonly string[] | "all" | "own";
  readonly leaderElection: boolean;
  readonly metricsBindAddress: string;
  readonly healthProbeBindAddress: string;
  readonly profilerBindAddress: string;
  readonly verbosity: number;
}

export interface FlagsOptions<F extends FlagTable> {
  /** Where $POD_NAMESPACE is looked up: process.env. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Flags beside the common ones. */
  readonly flags: F;
  readonly defaultNamespaces: DefaultNamespaces;
}

export interface OperatorFlags<F extends FlagTable> {
  readonly options: FlagOptions;
  readonly values: FlagValues<F & typeof commonFlags>;
  /** The arguments that are not flags. */
  readonly words: readonly string[];
}

/** Parses a command line. @throws FlagError with a message for the user */
export function operatorFlags<F extends FlagTable>(argv: readonly string[], options: FlagsOptions<F>): OperatorFlags<F> {
  const { values, words } = parseFlags(argv, { ...commonFlags, ...options.flags });
  const common = values as FlagValues<typeof commonFlags>;
  const { kubeconfig, context } = common;
  return {
    options: {
      ...(kubeconfig !== undefined && { kubeconfig }),
      ...(context !== undefined && { context }),
      namespaces: namespacesFrom(common, options),
      leaderElection: common["leader-elect"],
      metricsBindAddress: common["metrics-bind-address"],
      healthProbeBindAddress: common["health-probe-bind-address"],
      profilerBindAddress: common["profiler-bind-address"],
      verbosity: common.v,
    },
    values: values as FlagValues<F & typeof commonFlags>,
    words,
  };
}

function namespacesFrom(
  { namespace, "all-namespaces": all }: FlagValues<typeof commonFlags>,
  { env, defaultNamespaces }: Pick<FlagsOptions<FlagTable>, "env" | "defaultNamespaces">,
): FlagOptions["namespaces"] {
  if (all && namespace.length > 0) throw new FlagError("expected either --namespace or --all-namespaces, found both");
  if (all) return "all";
  if (namespace.length > 0) return namespace;
  if (!env.POD_NAMESPACE) return defaultNamespaces;
  if (namespaceName.test(env.POD_NAMESPACE)) return [env.POD_NAMESPACE];
  throw new FlagError(`$POD_NAMESPACE: expected ${namespaceName.expected}, found ${JSON.stringify(env.POD_NAMESPACE)}`);
}

/** @throws OperatorOptionsError if a custom flag would hide a built-in one */
export function checkCustomFlags(operator: string, own: FlagTable, reserved: FlagTable): void {
  const shorts = new Map(Object.entries(reserved).map(([name, { short }]) => [short, name]));
  for (const [name, { short }] of Object.entries(own)) {
    const hidden = Object.hasOwn(reserved, name) ? name : short === undefined ? undefined : shorts.get(short);
    if (hidden === undefined) continue;
    throw new OperatorOptionsError(
      `${operator}: expected flags that no built-in flag uses, found --${name}, which would hide --${hidden} → rename it`,
    );
  }
}
