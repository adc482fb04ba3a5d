// The flags of the program. Settings that differ per workload are fields of the AppMonitor, not flags.
import { FlagError, type FlagTable, type FlagValues, seconds } from "@memhog/runtime";
import { parseDuration } from "@memhog/runtime/objects";
import { addressFormat, type FlagOptions } from "@memhog/runtime/operator";
import { operatorName } from "../api/names.ts";
import type { Matcher } from "../observe/prometheus/query.ts";

export const flags = {
  "prometheus-addr": {
    type: "string",
    placeholder: "url",
    default: "http://localhost:9090",
    describe: "URL of Prometheus, including a path prefix if there is one",
  },
  "prometheus-bearer-token-file": {
    type: "string",
    placeholder: "file",
    describe: "file with a bearer token for Prometheus; read again for every query",
  },
  "prometheus-username": { type: "string", placeholder: "name", describe: "user name for basic authentication" },
  "prometheus-password-file": {
    type: "string",
    placeholder: "file",
    describe: "file with the password for basic authentication; read again for every query",
  },
  "prometheus-ca-file": {
    type: "string",
    placeholder: "file",
    describe: "PEM file with the CA certificates that verify Prometheus",
  },
  "prometheus-header": {
    type: "list",
    placeholder: "name=value",
    describe: "HTTP header sent with every query, for example X-Scope-OrgID=team-a; may be repeated",
  },
  "prometheus-matcher": {
    type: "list",
    placeholder: "matcher",
    describe: 'label matcher added to every query, for example job="kubelet" or cluster="eu1"; may be repeated',
  },
  "in-place-only": {
    type: "boolean",
    describe: "only resize pods in place: never replace pods or edit owners, and need no permission for it",
  },
  "exclude-namespace": {
    type: "list",
    placeholder: "name",
    describe: "namespace to leave alone with --all-namespaces, besides kube-system; may be repeated",
  },
  "include-kube-system": { type: "boolean", describe: "with --all-namespaces, monitor kube-system too" },
  interval: {
    type: "string",
    placeholder: "duration",
    default: "15s",
    describe: "how often memory usage is evaluated, 5s to 300s; kubelets measure it every 10 to 15 s",
  },
  "dashboard-bind-address": {
    type: "string",
    placeholder: "address",
    default: "0",
    format: addressFormat,
    describe: "address of the dashboard, which shows the memory usage and limit of every app; 0 disables it",
  },
  "dashboard-allowed-host": {
    type: "list",
    placeholder: "name",
    describe: "host name under which browsers reach the dashboard, besides localhost and IP addresses; may be repeated",
  },
  output: {
    type: "string",
    short: "o",
    placeholder: "format",
    format: { expected: "text or json", test: (value) => ["text", "json"].includes(value) },
    describe: "output format of explain: text or json",
  },
} as const satisfies FlagTable;

export type MemhogFlags = FlagValues<typeof flags>;

/** @throws FlagError */
export function intervalMsOf({ interval }: MemhogFlags): number {
  let intervalMs: number;
  try {
    intervalMs = parseDuration(interval);
  } catch (cause) {
    throw new FlagError(`--interval: expected a duration like 15s, found ${JSON.stringify(interval)}`, { cause });
  }
  if (intervalMs < seconds(5) || intervalMs > seconds(300))
    throw new FlagError(`--interval: expected 5s to 300s, found ${interval}: kubelets measure memory every 10 to 15 s`);
  return intervalMs;
}

const namespaceName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Namespaces that were named with --namespace are never excluded. */
export function exclusionOf(flags: MemhogFlags, { namespaces }: FlagOptions): (namespace: string) => boolean {
  const names = [...flags["exclude-namespace"], ...(flags["include-kube-system"] ? [] : ["kube-system"])];
  const invalid = names.find((name) => !namespaceName.test(name));
  if (invalid !== undefined)
    throw new FlagError(`--exclude-namespace: expected the name of a namespace, found ${JSON.stringify(invalid)}`);
  const excluded = new Set(namespaces === "all" ? names : []);
  return (namespace) => excluded.has(namespace);
}

/** @throws FlagError */
export function headersOf({ "prometheus-header": headers }: MemhogFlags): Readonly<Record<string, string>> {
  return Object.fromEntries(
    headers.map((header) => {
      const at = header.indexOf("=");
      if (at < 1) throw new FlagError("--prometheus-header: expected name=value, found a header without a name or without =");
      return [header.slice(0, at), header.slice(at + 1)] as const;
    }),
  );
}

/** A label name, an operator, and a value with or without quotes. */
const matcherForm = /^([a-zA-Z_][a-zA-Z0-9_]*)(=~|!~|!=|=)(.*)$/s;
const longestMatcher = 1024;

/** @throws FlagError */
export function matchersOf({ "prometheus-matcher": matchers }: MemhogFlags): readonly Matcher[] {
  return matchers.map((text) => {
    const [, label, operator, value] = (text.length > longestMatcher ? undefined : matcherForm.exec(text)) ?? [];
    const unquoted = value === undefined ? undefined : unquote(value);
    // The metric is part of the query. With another name no series would be understood.
    if (label === undefined || label === "__name__" || unquoted === undefined)
      throw new FlagError(
        `--prometheus-matcher: expected a label matcher like job="kubelet", found ${JSON.stringify(text.slice(0, 100))}`,
      );
    return { label, operator: operator as Matcher["operator"], value: unquoted };
  });
}

/** Shells remove quotes, so they are optional. Undefined if they do not match. */
function unquote(text: string): string | undefined {
  if (!text.startsWith('"')) return text;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

export const epilog = `Getting started:
  1. Annotate pods that have a memory limit:    app-monitor.kubedemo.com/monitor: "true"
  2. kubectl apply -f - <<< '{"apiVersion": "kubedemo.com/v1", "kind": "AppMonitor", "metadata": {"name": "johnny-cache"},
                             "spec": {"memThresholdPercent": 75, "memMultiplier": 2}}'
  3. ${operatorName} -v2 --install-crds --prometheus-addr=http://localhost:9090 --kubeconfig=$HOME/.kube/config
  4. kubectl get appmonitors,appmemories
     ${operatorName} explain POD`;
