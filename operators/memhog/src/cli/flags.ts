// The command line: the seeds' flags and defaults, and what was added to them. What differs per workload is in the AppMonitor, not
// here.
import { FlagError, type FlagTable, type OperatorFlags, operatorFlags, parseDuration, seconds } from "@memhog/runtime";
import { operatorName } from "../api/names.ts";

const own = {
  "prometheus-addr": {
    type: "text",
    placeholder: "url",
    default: "http://localhost:9090",
    describe: "where Prometheus is; a path is kept, so it may be behind a prefix",
  },
  "prometheus-bearer-token-file": {
    type: "text",
    placeholder: "file",
    describe: "a token for Prometheus; read again when it changes",
  },
  "prometheus-username": { type: "text", placeholder: "name", describe: "for basic authentication" },
  "prometheus-password-file": {
    type: "text",
    placeholder: "file",
    describe: "for basic authentication; read again when it changes",
  },
  "prometheus-ca-file": { type: "text", placeholder: "file", describe: "whom to trust when Prometheus speaks TLS" },
  "prometheus-header": {
    type: "list",
    placeholder: "name=value",
    describe: "sent with every query, for example X-Scope-OrgID=team-a; may be repeated",
  },
  interval: {
    type: "text",
    placeholder: "duration",
    default: "15s",
    describe: "how often memory is looked at; 5s is the least that makes sense, since nodes measure every 10 to 15 s",
  },
  "page-bind-address": {
    type: "text",
    placeholder: "address",
    default: "0",
    describe: "where to serve the page that shows every app's memory against its limit; 0 for nowhere",
  },
  "install-crds": { type: "switch", describe: "put the definitions of AppMonitor and AppMemory into the cluster first" },
  output: { type: "text", short: "o", placeholder: "format", describe: "for explain: text or json" },
} as const satisfies FlagTable;

/** As the seeds say: -n, else POD_NAMESPACE, else default; never the namespace of a context. */
const usualNamespaces: readonly string[] = ["default"];

export type MemhogFlags = OperatorFlags<typeof own, typeof usualNamespaces>;

/** @throws FlagError with a message for the user */
export function memhogFlags(argv: readonly string[], env: Readonly<Record<string, string | undefined>>): MemhogFlags {
  const about = "gives containers more memory before they are killed for lack of it";
  const flags = operatorFlags(argv, { name: operatorName, about, env, own, usualNamespaces, words: true });
  return flags.help === undefined ? flags : { ...flags, help: `${flags.help}\n\n${teaching}` };
}

/** @throws FlagError */
export function intervalMsOf({ interval }: MemhogFlags["own"]): number {
  let intervalMs: number;
  try {
    intervalMs = parseDuration(interval);
  } catch (cause) {
    throw new FlagError(`--interval: expected a duration like 15s, found ${JSON.stringify(interval)}`, { cause });
  }
  if (intervalMs < seconds(5) || intervalMs > seconds(300))
    throw new FlagError(`--interval: expected 5s to 300s, found ${interval}: nodes measure memory every 10 to 15 s`);
  return intervalMs;
}

/** @throws FlagError */
export function headersOf({ "prometheus-header": headers }: MemhogFlags["own"]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    headers.map((header) => {
      const at = header.indexOf("=");
      if (at < 1) throw new FlagError("--prometheus-header: expected name=value, found a header without a name or without =");
      return [header.slice(0, at), header.slice(at + 1)] as const;
    }),
  );
}

const teaching = `Commands (none of them: run the operator):
  explain POD      why it acts, or does not, on this pod of the namespace; --output json for scripts
  crd              the definitions of AppMonitor and AppMemory, as YAML
  rbac             the service account, the Role and its binding; ClusterRoles with --all-namespaces
  manifests        everything needed to run it in a cluster; in all namespaces with --all-namespaces

To begin with:
  1. annotate pods that have a memory limit:    app-monitor.kubedemo.com/monitor: "true"
  2. kubectl apply -f - <<< '{"apiVersion": "kubedemo.com/v1", "kind": "AppMonitor", "metadata": {"name": "johnny-cache"},
                             "spec": {"memThresholdPercent": 75, "memMultiplier": 2}}'
  3. ${operatorName} -v2 --install-crds --prometheus-addr=http://localhost:9090 --kubeconfig=$HOME/.kube/config
  4. kubectl get appmonitors,appmemories        and: ${operatorName} explain POD`;
