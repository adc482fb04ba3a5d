// For benchmarks and tests: the decision function, random inputs for it, and the properties that hold for all of them; and the readers
// of what others wrote.
export { readRecord } from "./api/stored-record.ts";
export { liveDays, shapes } from "./decide/days.fixture.ts";
export { decide } from "./decide/decide.ts";
export { brokenLaw } from "./decide/laws.fixture.ts";
export { largeShapes, runTrace, shapes as labelledShapes } from "./decide/traces.fixture.ts";
export { randomWorld } from "./decide/worlds.fixture.ts";
export { anApp, anObservedContainer, anObservedPod, samplesOf } from "./model/observed-app.fixture.ts";
export { ask } from "./observe/prometheus/query.ts";
