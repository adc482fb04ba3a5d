// "Why did it (not) act on this pod?", answered from the same values the decision was made of. The JSON form is these values; the
// text form is for the person who is on call at three in the morning: the answer first, then what it rests on.
import { formatTime } from "@memhog/runtime";
import { quantityText, readable } from "../model/bytes.ts";
import type { Plan, Verdict } from "../model/plan.ts";
import type { Policy } from "../model/policy.ts";
import { holdReasons, raiseReasons } from "../model/reasons.ts";
import type { Action, Intent } from "../model/record.ts";
import type { AppSeen } from "../model/seen.ts";
import { table } from "./table.ts";

/** Everything about one pod, for `--output json`. */
export interface Explanation {
  readonly pod: string;
  readonly namespace: string;
  readonly app: string;
  readonly monitors: readonly Policy[];
  readonly verdicts: readonly Verdict[];
  readonly underWay: readonly Intent[];
  readonly lastActions: readonly Action[];
  readonly metrics: AppSeen["metrics"];
  readonly summary: Plan["summary"];
}

export function explanationOf(seen: AppSeen, plan: Plan, podName: string): Explanation {
  const { app, policies, metrics } = seen;
  const ofThisPod = ({ pod }: { readonly pod: { readonly name: string } }) => pod.name === podName;
  return {
    pod: podName,
    namespace: app.namespace,
    app: `${app.kind}/${app.name}`,
    monitors: policies,
    verdicts: plan.verdicts.filter(ofThisPod),
    underWay: plan.record.intents.filter((intent) => ofThisPod(intent) || intent.road === "Template"),
    lastActions: plan.record.actions.filter((action) => ofThisPod(action) || action.road !== "InPlace").slice(-10),
    metrics,
    summary: plan.summary,
  };
}

/** The same, for people. */
export function explanationText(explanation: Explanation): string {
  const { pod, namespace, app, verdicts } = explanation;
  return [
    `Pod ${namespace}/${pod} of ${app}`,
    `Looked after by ${monitorsText(explanation.monitors)}`,
    "",
    ...(verdicts.length === 0 ? [`hold — NotMonitored: ${holdReasons.NotMonitored}`] : verdicts.flatMap(answer)),
    ...(verdicts.length === 0 ? [] : ["", ...table([heads, ...verdicts.map(row)])]),
    ...caps(verdicts),
    ...section("Under way", explanation.underWay.map(intentLine)),
    ...section("Last actions", explanation.lastActions.map(actionLine)),
    ...(explanation.metrics.available ? [] : ["", `Prometheus: ${explanation.metrics.problem ?? "no answer"}`]),
  ].join("\n");
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

function caps(verdicts: readonly Verdict[]): readonly string[] {
  const lines = verdicts.flatMap(({ container, inputs }) =>
    inputs.caps.map(({ name, of, most }) => `${container}: ${of} at most ${quantityText(most)} by ${name}`),
  );
  return section("Caps, the tightest first", lines);
}

function intentLine({ reason, road, attempt, changes, waitingFor, atMs }: Intent): string {
  const waits = waitingFor === undefined ? "" : `, waits for ${waitingFor}`;
  return `${formatTime(atMs)}  ${reason}  ${road}  ${changes.map(changeText).join("; ")}  attempt ${attempt}${waits}`;
}

function actionLine({ atMs, reason, road, outcome, changes, detail }: Action): string {
  const more = detail === undefined ? "" : `  ${detail}`;
  return `${formatTime(atMs)}  ${reason}  ${road}  ${changes.map(changeText).join("; ")}  ${outcome}${more}`;
}

function changeText({ container, from, to, cappedBy }: Intent["changes"][number]): string {
  const capped = cappedBy === undefined ? "" : ` (capped by ${cappedBy})`;
  return `${container} ${quantityText(from.limit)} → ${quantityText(to.limit)}${capped}`;
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", `${title}:`, ...lines.map((line) => `  ${line}`)];
}

function monitorsText(policies: readonly Policy[]): string {
  if (policies.length === 0) return "no AppMonitor";
  return policies.map((policy) => `AppMonitor ${policy.name} (${policyText(policy)})`).join(" and ");
}

function policyText({ thresholdPercent, multiplier, strategy, paused }: Policy): string {
  return `at ${thresholdPercent} % × ${multiplier}, ${strategy}${paused ? ", paused" : ""}`;
}

const span = (ms: number | undefined): string => (ms === undefined ? "-" : `${Math.round(ms / 1000)}s`);
