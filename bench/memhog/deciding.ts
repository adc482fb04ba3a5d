// Measures decide() on 50,000 containers, in 2,500 apps of twenty pods, one after another as in the operator. Measures
// CPU time, not wall time, to exclude other processes of the machine.
import { anApp, anObservedContainer, anObservedPod, decide, samplesOf } from "@memhog/memhog-operator/testing";
import { type Figure, percentile } from "../report.ts";

const apps = 2_500;
const podsPerApp = 20;
/** Reports the median; the first rounds also warm up the JIT compiler. */
const rounds = 7;

/** As many samples as the poller keeps of a container that is scraped every five seconds. */
const quiet = samplesOf(Array(8).fill(100));
const hot = samplesOf([250, 260, 270, 280, 285, 290, 295, 300]);

export function measureDeciding(): readonly Figure[] {
  console.error("decide(), 50,000 containers");
  const atRest = millisecondsFor(() => quiet);
  const busy = millisecondsFor((pod) => (pod % 10 === 0 ? hot : quiet));
  const figure = (name: string, ours: number): Figure => ({ name, unit: "ms of CPU", ours, peers: {} });
  return [
    figure("decide(), 50,000 containers, all content", atRest),
    figure("decide(), 50,000 containers, one in ten above the threshold", busy),
  ];
}

function millisecondsFor(samplesAt: (pod: number) => ReturnType<typeof samplesOf>): number {
  const pods = Array.from({ length: podsPerApp }, (_, at) =>
    anObservedPod({ name: `memhog-${at}`, uid: `pod-${at}`, containers: [anObservedContainer({ samples: samplesAt(at) })] }),
  );
  const worlds = Array.from({ length: apps }, (_, at) =>
    anApp({ app: { kind: "Deployment", namespace: "demo", name: `app-${at}` }, pods }),
  );
  const samples = Array.from({ length: rounds }, () => {
    const since = process.cpuUsage();
    for (const world of worlds) decide(world);
    const { user, system } = process.cpuUsage(since);
    return (user + system) / 1000;
  });
  return percentile(samples, 0.5);
}
