// The command line every operator has. An operator's main adds its own flags and passes the rest on:
//
//     await main("memhog-operator", async (argv, env) => {
//       const own = { "prometheus-addr": { type: "text", default: "http://localhost:9090", describe: "where Prometheus is" } } as const;
//       const flags = operatorFlags(argv, { name: "memhog-operator", env, own });
//       if (flags.help !== undefined) return console.log(flags.help);
//       await operator({ name: "memhog-operator", ...flags.options, controllers: […] }).run();
//     });
import { FlagError } from "./errors.ts";
import { type FlagTable, type FlagValues, helpFor } from "./flag-table.ts";
import { parseFlags } from "./parse-flags.ts";

const common = {
  kubeconfig: {
    type: "text",
    placeholder: "file",
    describe: "how to reach the cluster; without it $KUBECONFIG, the pod's service account, or ~/.kube/config",
  },
  context: { type: "text", placeholder: "name", describe: "the context of the kubeconfig to use" },
  namespace: {
    type: "list",
    short: "n",
    placeholder: "name",
    describe: "the namespace to watch, or several; without it $POD_NAMESPACE, else that of the kubeconfig's context",
  },
  "all-namespaces": { type: "switch", short: "A", describe: "watch all namespaces" },
  "leader-elect": { type: "switch", describe: "of several replicas, let one work and the others wait" },
  "metrics-bind-address": {
    type: "text",
    placeholder: "address",
    default: ":8080",
    describe: "where to serve /metrics; 0 for nowhere",
  },
  "health-probe-bind-address": {
    type: "text",
    placeholder: "address",
    default: ":8081",
    describe: "where to serve /healthz and /readyz; 0 for nowhere",
  },
  v: {
    type: "number",
    short: "v",
    default: 0,
    placeholder: "level",
    describe: "how much to log: 0 info, 2 debug, 4 trace, 6 every API call",
  },
  logtostderr: { type: "switch", describe: "accepted for old times' sake; logs always go to standard error" },
  help: { type: "switch", short: "h", describe: "show this" },
} as const satisfies FlagTable;

/** Namespaces by name, or the one the operator is at home in. */
type Usual = readonly string[] | "own";

export interface OperatorFlagsOptions<Own extends FlagTable, U extends Usual = Usual> {
  /** The program, for --help. */
  readonly name: string;
  /** A sentence about it, for --help. */
  readonly about?: string;
  /** Where POD_NAMESPACE is looked up: process.env. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Watched where neither the command line nor POD_NAMESPACE says. @default "own": what `kubectl get` shows in the same context */
  readonly usualNamespaces?: U;
  /** Flags of this operator. */
  readonly own?: Own;
  /** Take words that are no flags, such as a subcommand. @default false: they are an error */
  readonly words?: boolean;
}

/** What of an operator's options the command line decides; spread it into `operator({ … })`. */
export interface FlagOptions<U extends Usual = "own"> {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespaces: readonly string[] | "all" | U;
  readonly leaderElection: boolean;
  readonly metricsBindAddress: string;
  readonly healthProbeBindAddress: string;
  readonly verbosity: number;
}

export interface OperatorFlags<Own extends FlagTable, U extends Usual = "own"> {
  readonly options: FlagOptions<U>;
  readonly own: FlagValues<Own>;
  readonly words: readonly string[];
  /** Set if help was asked for: print it and leave. */
  readonly help?: string;
}

/** Reads the command line. @throws FlagError with a message for the user */
export function operatorFlags<Own extends FlagTable = Record<never, never>, U extends Usual = "own">(
  argv: readonly string[],
  options: OperatorFlagsOptions<Own, U>,
): OperatorFlags<Own, U> {
  const { own = {} as Own } = options;
  const { values, words } = parseFlags(argv, { ...common, ...own });
  if (words.length > 0 && options.words !== true)
    throw new FlagError(`expected only flags, found ${JSON.stringify(words[0])} → --help lists them`);
  const ours = values as FlagValues<typeof common>;
  return {
    options: optionsFrom(ours, options),
    own: values as unknown as FlagValues<Own>,
    words,
    ...(ours.help && { help: helpText(options) }),
  };
}

function optionsFrom<U extends Usual>(
  values: FlagValues<typeof common>,
  options: OperatorFlagsOptions<FlagTable, U>,
): FlagOptions<U> {
  const { kubeconfig, context } = values;
  return {
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    namespaces: namespacesFrom(values, options),
    leaderElection: values["leader-elect"],
    metricsBindAddress: values["metrics-bind-address"],
    healthProbeBindAddress: values["health-probe-bind-address"],
    verbosity: values.v,
  };
}

function namespacesFrom<U extends Usual>(
  values: FlagValues<typeof common>,
  { env, usualNamespaces = "own" as U }: OperatorFlagsOptions<FlagTable, U>,
): FlagOptions<U>["namespaces"] {
  const { namespace, "all-namespaces": all } = values;
  if (all && namespace.length > 0) throw new FlagError(`expected either --namespace or --all-namespaces, found both`);
  if (all) return "all";
  if (namespace.length > 0) return namespace;
  return env.POD_NAMESPACE ? [env.POD_NAMESPACE] : usualNamespaces;
}

function helpText({ name, about, own = {}, usualNamespaces = "own" }: OperatorFlagsOptions<FlagTable>): string {
  const ownFlags = Object.keys(own).length === 0 ? [] : [helpFor(own), ""];
  return [
    `${name}${about === undefined ? "" : `: ${about}`}`,
    "",
    `Usage: ${name} [flags]`,
    "",
    ...ownFlags,
    helpFor(usualNamespaces === "own" ? common : { ...common, namespace: watching(usualNamespaces) }),
  ].join("\n");
}

function watching(usual: readonly string[]): FlagTable[string] {
  const { namespace } = common;
  return { ...namespace, describe: namespace.describe.replace(/ else .*/, ` else ${usual.join(", ")}`) };
}
