// What annotations of a pod say about its containers:
//
//     simulator.memhog.dev/memory.main:  ramp 1Mi/s to 500Mi      see memory/parse-model.ts
//     simulator.memhog.dev/exit.main:    after 5s with 1          how it ends by itself
//     simulator.memhog.dev/stop.main:    after 2s with 0          how it ends when asked to; "never": it has to be killed
//     simulator.memhog.dev/ready.main:   after 3s until 20s       what a readiness probe finds; also live. and started.
//
// On a real node they do nothing, so a test that is to run there as well brings a command that does the same.
import { type Pod, parseDuration } from "@memhog/runtime";
import { parseMemoryModel } from "../memory/parse-model.ts";
import type { End, PartialProgram } from "./program.ts";
import { parseTimeline, type Timeline } from "./timeline.ts";

export const annotationPrefix = "simulator.memhog.dev/";

/** An annotation that was passed over, and why. */
export interface Complaint {
  readonly annotation: string;
  readonly message: string;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export function toldBy(pod: Pod, container: string, seed: number, onComplaint: (complaint: Complaint) => void): PartialProgram {
  const told: Mutable<PartialProgram> = {};
  const readers: Record<string, (text: string) => void> = {
    memory: (text) => {
      told.memory = parseMemoryModel(text, seed);
    },
    exit: (text) => {
      told.end = endIn(text);
    },
    stop: (text) => {
      told.stop = text.trim() === "never" ? undefined : endIn(text);
    },
    ready: (text) => {
      told.ready = timelineIn(text);
    },
    live: (text) => {
      told.live = timelineIn(text);
    },
    started: (text) => {
      told.started = timelineIn(text);
    },
  };
  for (const [name, read] of Object.entries(readers)) {
    const annotation = `${annotationPrefix}${name}.${container}`;
    const text = pod.metadata?.annotations?.[annotation];
    if (text === undefined) continue;
    try {
      read(text);
    } catch (error) {
      onComplaint({ annotation, message: error instanceof Error ? error.message : String(error) });
    }
  }
  return told;
}

/** "after 5s with 1", "after 5s", "with 1". */
function endIn(text: string): End {
  const [, after, code] = /^(?:after\s+(\S+))?\s*(?:with\s+(\d+))?$/.exec(text.trim()) ?? [];
  if (after === undefined && code === undefined)
    throw new TypeError(`expected an end such as "after 5s with 1", found ${JSON.stringify(text)}`);
  return { afterMs: after === undefined ? 0 : parseDuration(after), exitCode: Number(code ?? 0) };
}

function timelineIn(text: string): Timeline {
  const timeline = parseTimeline(text);
  if (timeline === undefined)
    throw new TypeError(`expected "always", "never" or words such as "after 3s until 20s", found ${JSON.stringify(text)}`);
  return timeline;
}
