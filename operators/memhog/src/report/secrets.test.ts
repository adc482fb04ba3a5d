// S4: an error message of the API server may quote the pod. It must not reach the status, Events or logs.
import { ForbiddenError, InvalidError } from "@memhog/runtime/client";
import { loadPino, makeLogger } from "@memhog/runtime/operator";
import { manualClock } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { statusOf } from "../api/stored-record.ts";
import { endingOf, withEndings } from "../execute/outcome.ts";
import { anIntent, aRecord, now } from "../model/observed-app.fixture.ts";
import { aPlan } from "../model/plan.fixture.ts";
import { newEvents } from "./events.ts";
import { logOutcomes } from "./report.ts";

const pino = await loadPino();

const canary = "canary-9f8e7d";
const said = `pod updates may not change fields: Env: [{Name: "PASSWORD", Value: "${canary}"}]`;
const refusal = { attempt: "patch Pod demo/memhog-1", reason: "", message: said };
const causes = [{ field: "spec", reason: "FieldValueForbidden", message: said }];

it.each([
  { name: "a rejected field", error: new InvalidError({ ...refusal, status: 422, details: { causes } }) },
  {
    name: "an admission webhook",
    error: new ForbiddenError({ ...refusal, status: 403, message: `denied the request: DB_URL has the value ${canary}` }),
  },
  {
    name: "a quota",
    error: new ForbiddenError({ ...refusal, status: 403, message: `exceeded: token=${canary}`, details: { kind: "pods" } }),
  },
])("S4: pod content quoted by $name reaches no status, Event or log", ({ error }) => {
  const intent = anIntent();
  const outcome = { command: { do: "resize", intent, resourceVersion: "1", step: "limits" } as const, ...endingOf(error) };
  const record = withEndings(aRecord({ intents: [intent] }), [outcome]);
  const message = record.intents[0]?.waiting?.message ?? "";
  const settled = [{ intent, outcome: "Refused", message } as const];
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  logOutcomes(
    makeLogger({ name: "test", verbosity: 3, format: "json", clock: manualClock(), write }, pino),
    { kind: "Pod", namespace: "demo", name: "hungry" },
    [outcome],
  );
  const events = newEvents({ record: aRecord({ intents: [intent] }), reason: undefined }, aPlan({ settled }));
  const everything = JSON.stringify([statusOf(aPlan({ record }), undefined, now), events, lines]);
  expect(everything).toContain('"reason":"Refused"');
  expect(everything).toContain("RaiseRefused");
  expect(everything).not.toContain(canary);
});
