// One container from its start on, judged every five seconds by what is known of it then: the kubelet looks every 10 to 15 s, and its
// figure reaches us some seconds later. Raises are there a second after they were decided.
import { type Bytes, bytes, MiB, mib } from "../model/bytes.ts";
import { anAction, anAppWith, aPolicy, aRecord, now } from "../model/observed-app.fixture.ts";
import type { Policy } from "../model/observed-app.ts";
import type { Action, Change } from "../model/plan.ts";
import { verdictOf } from "./verdict.fixture.ts";

/** All in seconds. */
export interface Schedule {
  readonly every: number;
  /** When the kubelet looks first. */
  readonly start: number;
  readonly lag: number;
  /** When we look first. */
  readonly phase: number;
}

export interface Life {
  /** MiB in use after so many seconds. */
  readonly uses: (second: number) => number;
  readonly seconds: number;
  readonly policy?: Partial<Policy>;
}

export interface Lived {
  readonly killed: boolean;
  /** The limits it was given, in MiB, until it was stopped as a leak. */
  readonly limits: readonly number[];
}

const loop = 5;

export const schedules: readonly Schedule[] = [10, 12, 15].flatMap((every) =>
  [0, 1, 3, 5].flatMap((start) => [2, 6, 10].flatMap((lag) => [0, 2, 4].map((phase) => ({ every, start, lag, phase })))),
);

export function live({ uses, seconds, policy = {} }: Life, schedule: Schedule): Lived {
  let limit = mib(384);
  const actions: Action[] = [];
  for (let second = 0; second <= seconds; second += 1) {
    const applied = appliedAt(actions, second - 1) ?? mib(384);
    if (uses(second) * MiB >= applied) return { killed: true, limits: limitsOf(actions) };
    if (second % loop !== schedule.phase) continue;
    const to = judge({ uses, policy }, { schedule, second, limit, actions });
    if (to === "stop") return { killed: false, limits: limitsOf(actions) };
    if (to === undefined) continue;
    actions.push(anAction({ atMs: now + second * 1000, changes: [to] }));
    limit = to.to.limit;
  }
  return { killed: false, limits: limitsOf(actions) };
}

interface Moment {
  readonly schedule: Schedule;
  readonly second: number;
  readonly limit: Bytes;
  readonly actions: readonly Action[];
}

function judge(
  { uses, policy }: Pick<Life, "uses" | "policy">,
  { schedule, second, limit, actions }: Moment,
): Change | "stop" | undefined {
  const { every, start, lag } = schedule;
  const known = Array.from({ length: 20 }, (_, i) => second - lag - ((second - lag - start) % every) - i * every);
  const samples = known
    .filter((at) => at >= start && at + lag <= second)
    .toReversed()
    .map((at) => ({ bytes: bytes(Math.round(uses(at) * MiB)), ageMs: (second - at) * 1000 }));
  const { decision, inputs } = verdictOf(
    anAppWith(
      { limit, request: mib(256), samples },
      { nowMs: now + second * 1000, record: aRecord({ actions }), policies: [aPolicy({ maxMemory: mib(2 ** 20), ...policy })] },
      { createdAtMs: now },
    ),
  );
  if (decision.kind !== "raise") return decision.reason === "SuspectedLeak" ? "stop" : undefined;
  const measured = { usage: inputs.usage ?? bytes(0), atMs: now + second * 1000 - (inputs.sampleAgeMs ?? 0), restart: 0 };
  return { container: "memhog", from: decision.from, to: { limit: decision.granted.limit, request: mib(256) }, measured };
}

function appliedAt(actions: readonly Action[], second: number): Bytes | undefined {
  return actions.findLast(({ atMs }) => atMs <= now + second * 1000)?.changes[0]?.to.limit;
}

const limitsOf = (actions: readonly Action[]) => actions.map(({ changes }) => (changes[0]?.to.limit ?? 0) / MiB);
