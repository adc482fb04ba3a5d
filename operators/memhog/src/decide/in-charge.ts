// Whose business is this container? The first questions of a verdict: nothing else matters until all of them are answered.
import { monitorAnnotation } from "../api/names.ts";
import { type Hold, hold, type Looked } from "./facts.ts";

/** The pod goes away; a resize would be lost, a copy would be a mistake. */
export function terminating({ pod }: Looked): Hold | undefined {
  return pod.deleting ? hold("Terminating", `${pod.name} is being deleted`) : undefined;
}

export function notMonitored({ pod }: Looked): Hold | undefined {
  return pod.monitored ? undefined : hold("NotMonitored", `${pod.name} is not annotated with ${monitorAnnotation}: "true"`);
}

export function noMonitor({ seen }: Looked): Hold {
  return hold("NoMonitor", `no AppMonitor in the namespace ${seen.app.namespace} selects it`);
}

/** Whichever of them we obeyed, the other would be disobeyed, silently (promise F2). */
export function ambiguousMonitor({ seen }: Looked): Hold | undefined {
  if (seen.policies.length < 2) return undefined;
  const names = seen.policies.map(({ name }) => name).toSorted();
  return hold("AmbiguousMonitor", `the AppMonitors ${names.join(" and ")} both select it; none acts until only one does`);
}

export function paused({ seen }: Looked): Hold | undefined {
  const policy = seen.policies.find((each) => each.paused);
  return policy && hold("Paused", `the AppMonitor ${policy.name} is paused`);
}

export function noLimit({ container }: Looked): Hold {
  return hold("NoLimit", `${container.name} has no memory limit`);
}
