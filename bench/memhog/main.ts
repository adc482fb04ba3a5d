// npm run bench -- memhog [--quick] [--pods 1000,5000] [--worlds 1000000] [--objects 10000] [--json]
//
// Measures what memhog-operator achieves and what it costs.
//   on a node   hogs on a real node, a real Prometheus, the operator in a separate process: latency, number of raises,
//               memory granted (on-a-node.ts)
//   deciding    decide() alone (deciding.ts)
//   at scale    memory, CPU, writes and queries of the operator at rest, on a simulated cluster (at-scale.ts)
//   shrink      30 simulated days with spec.shrink and without (shrink.ts)
//   worlds      the invariants of decide() in random clusters; only with --worlds, a million take some minutes (worlds.ts)
//   objects     memory of the operator with many AppMonitors and AppMemories; only with --objects (own-objects.ts)
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { conditions, type Figure, report } from "../report.ts";
import { measureAtScale } from "./at-scale.ts";
import { measureDeciding } from "./deciding.ts";
import { measureOnANode } from "./on-a-node.ts";
import { operatorTree } from "./operator-process.ts";
import { measureOwnObjects } from "./own-objects.ts";
import { measureShrink } from "./shrink.ts";
import { judgeWorlds } from "./worlds.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    pods: { type: "string", default: "1000,5000" },
    worlds: { type: "string", default: "0" },
    objects: { type: "string", default: "0" },
    json: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help) {
  console.log(`Usage: npm run bench -- memhog [--quick] [--pods 1000,5000] [--worlds 1000000] [--objects 10000] [--json]

--quick    without the part that needs a real node (root) and seven minutes
--pods     how many simulated pods the operator looks after
--worlds   also hold the laws of decide() against so many random worlds
--objects  also measure the operator with so many AppMonitors and AppMemories`);
  process.exit(0);
}
const sizes = values.pods.split(",").map((size) => wholeNumber("--pods", size));
const worlds = wholeNumber("--worlds", values.worlds);
const objects = wholeNumber("--objects", values.objects);

const load = () => `${loadavg()[0]?.toFixed(1)}`;
const loadBefore = load();
using tree = await operatorTree();
const figures: Figure[] = [];
if (!values.quick) figures.push(...(await measureOnANode(tree.program)));
figures.push(...measureDeciding());
figures.push(...measureShrink());
if (worlds > 0) figures.push(...judgeWorlds(worlds));
figures.push(...(await measureAtScale(tree.program, sizes)));
if (objects > 0) figures.push(...(await measureOwnObjects(tree.program, objects)));
report("memhog-operator", figures, {
  ...conditions(),
  load: `${loadBefore} processes wanted a core in the minute before it began, ${load()} in the last minute of it (this bench and its clusters included)`,
  operator:
    "a process of its own, plain JavaScript as in the image, with the heap that Node gives itself in the 256Mi of our manifests (259 MiB at most)",
  ...(values.quick
    ? {}
    : {
        "real node":
          "Kubernetes 1.37.1 with kubelet defaults, Prometheus scrapes every 5 s, --interval 5s; AppMonitor 75 %, × 2; 256Mi/384Mi; all ramps side by side",
      }),
  "at rest":
    "an API server of the simulator in another process, with apps of 20 pods that stand still, Prometheus played by the bench, the default --interval of 15 s, one minute; one replica without --leader-elect, so there is no Lease",
});

function wholeNumber(flag: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 0) return number;
  console.error(`${flag}: expected whole numbers, found ${text}`);
  process.exit(2);
}
