// The second door, for the bench: the judgement by itself, worlds to judge, and the laws that hold in all of them.
export { decide } from "./decide/decide.ts";
export { brokenLaw } from "./decide/laws.fixture.ts";
export { randomWorld } from "./decide/worlds.fixture.ts";
export { aContainerSeen, anApp, aPodSeen, samplesOf } from "./model/seen.fixture.ts";
