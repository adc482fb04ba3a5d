// The cgroups of a node: each container, the pause container of each pod, each pod, and the three levels above them.
//
//     /                                               the machine
//     /kubepods                                       all pods
//     /kubepods/burstable                             those of one class (Guaranteed ones are directly below kubepods)
//     /kubepods/burstable/pod<uid>                    a pod:         container="", pod, namespace
//     /kubepods/burstable/pod<uid>/<id>               its sandbox:   container="", image of the pause container
//     /kubepods/burstable/pod<uid>/<id>               a container:   container="main", image, name
import type { Environment } from "@memhog/runtime";
import type { Labels, Sample } from "../../prometheus/exposition.ts";
import { memoryLimitIn } from "../amounts.ts";
import type { ContainerRun } from "../container-run.ts";
import { canonicalImage } from "../images.ts";
import { type Instant, instantAt } from "../instant.ts";
import type { Life } from "../life.ts";
import type { NodeRun } from "../node-run.ts";
import type { PodRun } from "../pod-run.ts";
import { type Cgroup, samplesOf } from "./cgroup.ts";

const pauseImage = "registry.k8s.io/pause:3.10";
/** What a pause container was seen to use. */
const pauseBytes = 360_448;

export interface CadvisorOptions {
  readonly environment: Environment;
  /** For how long a container that has ended is still shown, as it was last measured. */
  readonly deadSeriesMs: number;
}

/** A container that has ended and is still shown. */
interface Dead {
  readonly samples: readonly Sample[];
  readonly until: number;
}

export class Cadvisor {
  readonly #node: NodeRun;
  readonly #options: CadvisorOptions;
  readonly #bootedAt: Instant;
  /** What is remembered of a cgroup between two looks: its labels, so that they are the same object, and its rhythm. */
  readonly #rhythms = new Map<string, { readonly labels: Labels; readonly everyMs: number }>();
  /** By container: what was shown at the last look, for when it is gone at the next. */
  #shown = new Map<string, readonly Sample[]>();
  #dead: Dead[] = [];

  constructor(node: NodeRun, options: CadvisorOptions) {
    const { clock } = options.environment;
    this.#node = node;
    this.#options = options;
    this.#bootedAt = instantAt(clock, clock.monotonic());
  }

  /** What would be read from /metrics/cadvisor at this moment. */
  samples(): readonly Sample[] {
    this.#node.advance();
    const now = this.#options.environment.clock.monotonic();
    const pods = [...this.#node.pods.values()].filter(({ sandbox }) => sandbox.kind === "ready");
    const cgroups = [...this.#above(pods), ...pods.flatMap((run) => this.#ofPod(run))];
    const shown = new Map(cgroups.map((cgroup) => [cgroup.labels.id ?? "", samplesOf(cgroup, now)]));
    this.#noteDead(shown, now);
    return [...[...shown.values()].flat(), ...this.#dead.flatMap(({ samples }) => samples)];
  }

  #noteDead(shown: Map<string, readonly Sample[]>, now: number): void {
    const { deadSeriesMs } = this.#options;
    const gone = [...this.#shown].filter(([id]) => !shown.has(id));
    for (const [id] of gone) this.#rhythms.delete(id);
    const fresh = deadSeriesMs > 0 ? gone.map(([, samples]) => ({ samples, until: now + deadSeriesMs })) : [];
    this.#dead = [...this.#dead.filter(({ until }) => until > now), ...fresh];
    this.#shown = shown;
  }

  #above(pods: readonly PodRun[]): readonly Cgroup[] {
    const capacity = memoryLimitIn({ limits: this.#node.spec.capacity });
    const total = (some: readonly PodRun[]) => (ms: number) => some.reduce((sum, run) => sum + usageOfPod(run, ms), 0);
    const ofClass = (name: string) => pods.filter((run) => classOf(run) === name);
    const level = (id: string, some: readonly PodRun[], limit: number) =>
      this.#cgroup(id, () => nobody(id), { since: this.#bootedAt, usage: total(some), limit });
    return [
      level("/", pods, capacity),
      level("/kubepods", pods, capacity),
      level("/kubepods/besteffort", ofClass("besteffort"), 0),
      level("/kubepods/burstable", ofClass("burstable"), 0),
    ];
  }

  #ofPod(run: PodRun): readonly Cgroup[] {
    const { sandbox } = run;
    if (sandbox.kind !== "ready") return [];
    const { name: pod = "", namespace = "" } = run.pod.metadata;
    const home = `${["/kubepods", classOf(run)].filter((part) => part !== "").join("/")}/pod${run.uid}`;
    const pause = `${home}/${sandbox.id}`;
    const { since } = sandbox;
    const labels = (id: string, own: Partial<Record<"container" | "image" | "name", string>>) => () => {
      const { container = "", image = "", name = "" } = own;
      return { container, id, image, name, namespace, pod };
    };
    return [
      this.#cgroup(home, labels(home, {}), { since, usage: (ms) => usageOfPod(run, ms), limit: limitOfPod(run) }),
      this.#cgroup(pause, labels(pause, { image: pauseImage, name: sandbox.id }), { since, usage: () => pauseBytes, limit: 0 }),
      ...run.containers.flatMap((container) => {
        const { life, name, spec, actual } = container;
        if (life === undefined) return [];
        const id = `${home}/${life.containerId}`;
        const own = { container: name, image: canonicalImage(spec.image ?? ""), name: life.containerId };
        const usage = (ms: number) => life.usage(ms);
        return [this.#cgroup(id, labels(id, own), { since: life.startedAt, usage, limit: finite(memoryLimitIn(actual)) })];
      }),
    ];
  }

  #cgroup(id: string, labels: () => Labels, rest: Pick<Cgroup, "since" | "usage" | "limit">): Cgroup {
    const fresh = () => ({ labels: labels(), everyMs: 10_000 + Math.floor(5_000 * this.#options.environment.random()) });
    const rhythm = this.#rhythms.get(id) ?? fresh();
    this.#rhythms.set(id, rhythm);
    return { ...rhythm, ...rest };
  }
}

function nobody(id: string): Labels {
  return { container: "", id, image: "", name: "", namespace: "", pod: "" };
}

/** "" for Guaranteed: such pods have no level of their own. */
function classOf({ pod }: PodRun): string {
  const { qosClass = "BestEffort" } = pod.status ?? {};
  return qosClass === "Guaranteed" ? "" : qosClass.toLowerCase();
}

function usageOfPod({ containers, sandbox }: PodRun, ms: number): number {
  const lives = containers.map(({ life }) => life).filter((life): life is Life => life !== undefined && life.startedAt.ms <= ms);
  return lives.reduce((sum, life) => sum + life.usage(ms), sandbox.kind === "ready" ? pauseBytes : 0);
}

function limitOfPod({ containers }: PodRun): number {
  const counted = containers.filter(({ role }: ContainerRun) => role !== "init");
  return finite(counted.reduce((sum, { actual, allocated }) => sum + memoryLimitIn(actual ?? allocated), 0));
}

function finite(limit: number): number {
  return Number.isFinite(limit) ? limit : 0;
}
