// Promise S4, along the way that words of the server take: from a refusal, through the record, to everything that people can read.
import { ForbiddenError, InvalidError, makeLogger } from "@memhog/runtime";
import { manualClock } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { endingOf, withEndings } from "../act/outcome.ts";
import { statusOf } from "../api/status.ts";
import { aPlan } from "../model/plan.fixture.ts";
import { anIntent, aRecord, now } from "../model/seen.fixture.ts";
import { news } from "./events.ts";
import { logOutcomes } from "./log.ts";

const canary = "canary-9f8e7d";
const said = `pod updates may not change fields: Env: [{Name: "PASSWORD", Value: "${canary}"}]`;
const refusal = { attempt: "patch Pod demo/memhog-1", reason: "", message: said };
const causes = [{ field: "spec", reason: "FieldValueForbidden", message: said }];

it.each([
  { name: "a refused field", error: new InvalidError({ ...refusal, status: 422, details: { causes } }) },
  { name: "a webhook", error: new ForbiddenError({ ...refusal, status: 403, message: `denied the request: token=${canary}` }) },
])("S4: what $name repeats of a pod is in no status, Event or log", ({ error }) => {
  const intent = anIntent();
  const outcome = { command: { do: "resize", intent, resourceVersion: "1", step: "limits" } as const, ...endingOf(error) };
  const record = withEndings(aRecord({ intents: [intent] }), [outcome]);
  const detail = record.intents[0]?.waitingFor ?? "";
  const settled = [{ intent, outcome: "Refused", detail } as const];
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  logOutcomes(
    makeLogger({ name: "test", verbosity: 9, format: "json", clock: manualClock(), write }),
    { kind: "Pod", namespace: "demo", name: "hungry" },
    [outcome],
  );
  const told = news({ record: aRecord({ intents: [intent] }), reason: undefined }, aPlan({ settled }));
  const everything = JSON.stringify([statusOf(aPlan({ record }), undefined, now), told, lines]);
  expect(everything).toContain("Refused: ");
  expect(everything).toContain("RaiseRefused");
  expect(everything).not.toContain(canary);
});
