// memhog-operator explain POD: makes the same observation and decision as the operator and prints them without acting. It reads the
// API server and Prometheus directly, so it works while the operator is down.
import { controller, done, type OperatorOptions, operator, systemEnvironment } from "@memhog/runtime";
import type { SourceContext } from "@memhog/runtime/controller";
import { formatTime } from "@memhog/runtime/objects";
import { decide } from "../decide/decide.ts";
import { withShrinks } from "../decide/shrink.ts";
import { quantityText, readable } from "../model/bytes.ts";
import type { ObservedApp, Policy } from "../model/observed-app.ts";
import type { Action, Intent, Memory, Plan, ShrinkVerdict, Verdict } from "../model/plan.ts";
import { holdReasons, raiseReasons, waitReasons } from "../model/reasons.ts";
import { appOf, appRef } from "../observe/app-of.ts";
import { AppMemoryView, PodView } from "../observe/kinds.ts";
import { type LastQuery, MemoryPoller } from "../observe/memory-poller.ts";
import { observe } from "../observe/observe.ts";
import { RaiseTimes } from "../observe/pods.ts";
import type { Matcher } from "../observe/prometheus/query.ts";
import type { PrometheusTransport } from "../observe/prometheus/transport.ts";
import { watches } from "../observe/watches.ts";
import { NotReadyToStartError } from "./preflight.ts";

export interface ExplainOptions extends Partial<OperatorOptions> {
  readonly namespace: string;
  readonly pod: string;
  readonly prometheus: PrometheusTransport;
  readonly nodes: boolean;
  /** As in MemhogOptions. @default none */
  readonly matchers?: readonly Matcher[];
  /** As in MemhogOptions. @default false */
  readonly inPlaceOnly?: boolean;
}

/** @throws NotReadyToStartError if there is no such pod */
export async function explainPod(options: ExplainOptions): Promise<Explanation> {
  const { namespace, pod, prometheus, nodes, matchers = [], inPlaceOnly = false, environment = systemEnvironment() } = options;
  const memory = new MemoryPoller({ transport: prometheus, matchers });
  const deps = { memory, raises: new RaiseTimes(environment.clock), nodes, inPlaceOnly };
  const { promise, resolve, reject } = Promise.withResolvers<Explanation>();
  const stop = new AbortController();
  let asked = false;

  // A source runs after the caches have synced. It polls Prometheus once and then triggers the decision.
  const source = {
    name: "explain",
    run: async ({ cached, environment, signal, enqueue }: SourceContext) => {
      const found = cached.get(PodView, { namespace, name: pod });
      const app = found && appOf(found, cached);
      if (app === undefined) return reject(new NotReadyToStartError(noSuchPod(namespace, pod)));
      await memory.poll({ cached, environment, signal });
      asked = true;
      enqueue(appRef(app), "explain");
    },
  };
  const explaining = controller(
    AppMemoryView,
    { name: "explain", watches: watches({ nodes }), sources: [source], writesStatus: false },
    async (ref, ctx) => {
      if (!asked) return done(); // from the initial list: there are no samples yet
      const seen = await observe(ref, ctx, deps);
      if (seen?.pods.some(({ name }) => name === pod) && seen.app.namespace === namespace)
        resolve(explanationOf(seen, withShrinks(seen, decide(seen)), { pod, query: memory.lastQuery() }));
      return done();
    },
  );
  const running = operator({
    ...options,
    ...{ name: "memhog-explain", controllers: [explaining], namespaces: [namespace], environment },
    ...{ metricsBindAddress: "0", healthProbeBindAddress: "0", leaderElection: false },
  }).run(stop.signal);
  try {
    return await Promise.race([promise, running.then(() => Promise.reject(new Error("explain was stopped before it finished")))]);
  } finally {
    stop.abort();
    await running;
  }
}

function noSuchPod(namespace: string, pod: string): string {
  return `expected a pod ${pod} in namespace ${namespace}, found none → run kubectl get pods -n ${namespace}, or set the namespace with -n`;
}

/** The decision about one pod and everything it is based on: the output of `explain --output json`. */
export interface Explanation {
  readonly pod: string;
  readonly namespace: string;
  readonly app: string;
  readonly monitors: readonly Policy[];
  /** AppMonitors with less specific selectors, which do not act on the pod. */
  readonly outranked: readonly string[];
  readonly verdicts: readonly Verdict[];
  /** Whether memory is taken back, with spec.shrink. */
  readonly shrinks: readonly ShrinkVerdict[];
  readonly underWay: readonly Intent[];
  readonly lastActions: readonly Action[];
  /** Of the whole app. */
  readonly oomKills: number;
  readonly metrics: ObservedApp["metrics"];
  /** The query to Prometheus and what it returned, for all pods. Undefined if Prometheus did not answer. */
  readonly query: LastQuery | undefined;
  readonly summary: Plan["summary"];
}

export interface Explained {
  /** The name of the pod. */
  readonly pod: string;
  readonly query?: LastQuery | undefined;
}

export function explanationOf(seen: ObservedApp, plan: Plan, { pod: podName, query }: Explained): Explanation {
  const { app, policies, outranked, metrics } = seen;
  const ofThisPod = ({ pod }: { readonly pod: { readonly name: string } }) => pod.name === podName;
  return {
    pod: podName,
    namespace: app.namespace,
    app: `${app.kind}/${app.name}`,
    monitors: policies,
    outranked,
    verdicts: plan.verdicts.filter(ofThisPod),
    shrinks: plan.shrinks?.verdicts.filter(ofThisPod) ?? [],
    underWay: plan.record.intents.filter((intent) => ofThisPod(intent) || intent.method === "Template"),
    lastActions: plan.record.actions.filter((action) => ofThisPod(action) || action.method !== "InPlace").slice(-10),
    oomKills: plan.record.oomKills,
    metrics,
    query,
    summary: plan.summary,
  };
}

/** The text output of `explain`: the decision first, then the figures it is based on. */
export function explanationText(explanation: Explanation): string {
  const { pod, namespace, app, verdicts } = explanation;
  return [
    `Pod ${namespace}/${pod} of ${app}`,
    `Monitored by ${monitorsText(explanation)}`,
    "",
    ...(verdicts.length === 0 ? [`hold — NotMonitored: ${holdReasons.NotMonitored}`] : verdicts.flatMap(answer)),
    ...(verdicts.length === 0 ? [] : ["", ...table([heads, ...verdicts.map(row)])]),
    ...caps(verdicts),
    ...section("OOM kills", explanation.oomKills === 0 ? [] : [`${explanation.oomKills} of ${app} so far`]),
    ...section("Shrink", explanation.shrinks.map(shrinkLine)),
    ...section("Under way", explanation.underWay.map(intentLine)),
    ...section("Last actions", explanation.lastActions.map(actionLine)),
    ...(explanation.metrics.available ? [] : ["", `Prometheus: ${explanation.metrics.problem ?? "no response"}`]),
    ...noSamples(explanation),
  ].join("\n");
}

/** A response without this pod looks like any other response, so the query is printed: people can run it themselves. */
function noSamples({ pod, verdicts, query }: Explanation): readonly string[] {
  const without = verdicts.filter(({ decision }) => decision.reason === "NoSample").map(({ container }) => container);
  if (query === undefined || without.length === 0) return [];
  return [
    "",
    `Prometheus answers, but has no samples of ${without.join(", ")} in ${pod}. The response has ${query.series} series; ${query.samples} samples are of monitored pods.`,
    "  A new pod has samples after one or two scrapes. Otherwise check that cAdvisor on its node is scraped, the tenant",
    "  in --prometheus-header, and --prometheus-matcher. The query:",
    `  ${query.query}`,
  ];
}

const heads = [
  "CONTAINER",
  "DECISION",
  "REASON",
  "USAGE",
  "AGE",
  "LIMIT",
  "THRESHOLD",
  "GROWTH",
  "RUNS OUT IN",
  "COOLDOWN",
  "RAISES/H",
];

function answer({ container, decision }: Verdict): readonly string[] {
  const words = { ...raiseReasons, ...holdReasons };
  const what = decision.kind === "raise" ? `raise to ${quantityText(decision.granted.limit)}` : "hold";
  return [`${container}: ${what} — ${decision.reason}: ${words[decision.reason]}`, `    ${decision.detail}`];
}

function row({ container, decision, inputs }: Verdict): readonly string[] {
  const { usage, sampleAgeMs, limit, thresholdBytes, growth, runsOutInMs, cooldownLeftMs, raisesLastHour } = inputs;
  return [
    container,
    decision.kind,
    decision.reason,
    usage === undefined ? "none" : readable(usage),
    span(sampleAgeMs),
    limit === undefined ? "none" : quantityText(limit),
    thresholdBytes === undefined ? "-" : readable(thresholdBytes),
    growth === undefined ? "-" : `${readable(growth)}/s`,
    span(runsOutInMs),
    cooldownLeftMs > 0 ? span(cooldownLeftMs) : "over",
    String(raisesLastHour),
  ];
}

function shrinkLine({ container, decision }: ShrinkVerdict): string {
  const what = decision.kind === "hold" ? "hold" : `lower ${memoryText(decision.from)} → ${memoryText(decision.to)}`;
  return `${container}: ${what} — ${decision.reason}: ${decision.detail}`;
}

const memoryText = ({ limit, request }: Memory): string =>
  request === undefined ? quantityText(limit) : `${quantityText(request)}/${quantityText(limit)}`;

function caps(verdicts: readonly Verdict[]): readonly string[] {
  const lines = verdicts.flatMap(({ container, inputs }) =>
    inputs.caps.map(({ name, of, most }) => `${container}: ${of} at most ${quantityText(most)} by ${name}`),
  );
  return section("Caps, tightest first", lines);
}

function intentLine({ reason, method, attempt, changes, waiting, atMs }: Intent): string {
  const waits = waiting === undefined ? "" : `, waiting: ${waiting.reason}: ${waiting.message ?? waitReasons[waiting.reason]}`;
  return `${formatTime(atMs)}  ${reason}  ${method}  ${changes.map(changeText).join("; ")}  attempt ${attempt}${waits}`;
}

function actionLine({ atMs, reason, method, outcome, changes, message }: Action): string {
  const more = message === undefined ? "" : `  ${message}`;
  return `${formatTime(atMs)}  ${reason}  ${method}  ${changes.map(changeText).join("; ")}  ${outcome}${more}`;
}

function changeText({ container, from, to, cappedBy }: Intent["changes"][number]): string {
  const capped = cappedBy === undefined ? "" : ` (capped by ${cappedBy})`;
  return `${container} ${quantityText(from.limit)} → ${quantityText(to.limit)}${capped}`;
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", `${title}:`, ...lines.map((line) => `  ${line}`)];
}

function monitorsText({ monitors, outranked }: Explanation): string {
  if (monitors.length === 0) return "no AppMonitor";
  const rest = outranked.length === 0 ? "" : `; more specific than ${outranked.join(", ")}`;
  return `${monitors.map((policy) => `AppMonitor ${policy.name} (${policyText(policy)})`).join(" and ")}${rest}`;
}

function policyText({ thresholdPercent, multiplier, strategy, paused }: Policy): string {
  return `at ${thresholdPercent} % × ${multiplier}, ${strategy}${paused ? ", paused" : ""}`;
}

const span = (ms: number | undefined): string => (ms === undefined ? "-" : `${Math.round(ms / 1000)}s`);

/** A table as kubectl prints it. The first row is the header; all rows have the same length. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("   ")
      .trimEnd(),
  );
}
