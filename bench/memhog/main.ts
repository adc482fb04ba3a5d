// npm run bench -- memhog [PART …] [--quick] [--json] …: --help lists all flags
//
// Measures what memhog-operator achieves and what it costs.
//   node        hogs on a real node, a real Prometheus, the operator in a separate process: latency, number of raises,
//               memory granted (on-a-node.ts)
//   deciding    decide() alone (deciding.ts)
//   shapes      labelled traces: false alarms and misses of the leak detector (shapes.ts)
//   shrink      30 simulated days with spec.shrink and without (shrink.ts)
//   scale       memory, CPU, writes and queries of the operator at rest, on a simulated cluster (at-scale.ts)
//   worlds      the invariants of decide() in random clusters; only with --worlds, a million take some minutes (worlds.ts)
//   objects     memory of the operator with many AppMonitors and AppMemories; only with --objects (own-objects.ts)
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { conditions, type Figure, printTable, report } from "../report.ts";
import { measureAtScale } from "./at-scale.ts";
import { measureDeciding } from "./deciding.ts";
import { measureOnANode } from "./on-a-node.ts";
import { operatorTree } from "./operator-process.ts";
import { measureOwnObjects } from "./own-objects.ts";
import { figuresOf, runShapes, tableOf, totalsOf } from "./shapes.ts";
import { measureShrink } from "./shrink.ts";
import { judgeWorlds } from "./worlds.ts";

const parts = ["node", "deciding", "shapes", "shrink", "scale"] as const;
type Part = (typeof parts)[number];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    pods: { type: "string", default: "1000,5000" },
    seed: { type: "string", default: "10001" },
    traces: { type: "string", default: "50" },
    worlds: { type: "string", default: "0" },
    objects: { type: "string", default: "0" },
    json: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help) {
  console.log(`Usage: npm run bench -- memhog [PART …] [--quick] [--pods 1000,5000] [--seed 10001] [--traces 50]
                               [--worlds 1000000] [--objects 10000] [--json]

PART       one or more of ${parts.join(", ")}; without it, all of them
--quick    without the part that needs a real node (root) and seven minutes
--pods     how many simulated pods the operator looks after
--seed     the first seed of the labelled traces
--traces   how many labelled traces of each shape
--worlds   also hold the laws of decide() against so many random worlds
--objects  also measure the operator with so many AppMonitors and AppMemories`);
  process.exit(0);
}
const sizes = values.pods.split(",").map((size) => wholeNumber("--pods", size));
const seeds = { from: wholeNumber("--seed", values.seed), count: wholeNumber("--traces", values.traces) };
const worlds = wholeNumber("--worlds", values.worlds);
const objects = wholeNumber("--objects", values.objects);
const chosen = new Set<Part>(positionals.length > 0 ? positionals.map(partOf) : parts);
if (values.quick) chosen.delete("node");
const runs = (part: Part) => chosen.has(part);
const needsOperator = runs("node") || runs("scale") || objects > 0;

const load = () => `${loadavg()[0]?.toFixed(1)}`;
const loadBefore = load();
using tree = needsOperator ? await operatorTree() : undefined;
const program = tree?.program ?? "";
const figures: Figure[] = [];
if (runs("node")) figures.push(...(await measureOnANode(program)));
if (runs("deciding")) figures.push(...measureDeciding());
const shapes = runs("shapes") ? runShapes(seeds) : [];
if (runs("shapes")) figures.push(...totalsOf(shapes), ...(values.json ? figuresOf(shapes) : []));
if (runs("shrink")) figures.push(...measureShrink());
if (worlds > 0) figures.push(...judgeWorlds(worlds));
if (runs("scale")) figures.push(...(await measureAtScale(program, sizes)));
if (objects > 0) figures.push(...(await measureOwnObjects(program, objects)));
report("memhog-operator", figures, {
  ...conditions(),
  load: `${loadBefore} processes wanted a core in the minute before it began, ${load()} in the last minute of it (this bench and its clusters included)`,
  ...(needsOperator && {
    operator:
      "a process of its own, plain JavaScript as in the image, with the heap that Node gives itself in the 256Mi of our manifests (259 MiB at most)",
  }),
  ...(runs("node") && {
    "real node":
      "Kubernetes 1.37.1 with kubelet defaults, Prometheus scrapes every 5 s, --interval 5s; AppMonitor 75 %, × 2; 256Mi/384Mi; all ramps side by side, after a minute of idling",
  }),
  ...(runs("shapes") && {
    shapes: `seeds ${seeds.from} to ${seeds.from + seeds.count - 1} for each shape; 256Mi/384Mi, 75 %, × 2, a node of 16Gi; no maxMemory unless the shape says so`,
  }),
  ...(runs("scale") && {
    "at rest":
      "an API server of the simulator in another process, with apps of 20 pods that stand still, Prometheus played by the bench, the default --interval of 15 s, one minute; one replica without --leader-elect, so there is no Lease",
  }),
});
if (runs("shapes") && !values.json) printTable(tableOf(shapes));

function partOf(text: string): Part {
  const found = parts.find((part) => part === text);
  if (found !== undefined) return found;
  console.error(`expected parts out of ${parts.join(", ")}, found ${text}`);
  process.exit(2);
}

function wholeNumber(flag: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 0) return number;
  console.error(`${flag}: expected whole numbers, found ${text}`);
  process.exit(2);
}
