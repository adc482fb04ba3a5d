import { describe, expect, it } from "vitest";
import { DeadlineExceededError } from "../concurrency/abort.ts";
import { type Answers, clientAnswering } from "../testing/answers.ts";
import { CrdNotEstablishedError } from "./errors.ts";
import { installCrds } from "./install.ts";
import { Gordon } from "./seed-operators.fixture.ts";

const name = "gordons.operator.prgcont.cz";
const condition = (type: string, status: string, message = "") => ({ type, status, reason: "Because", message });
const crd = (rest: object) => ({ body: JSON.stringify({ metadata: { name }, spec: {}, ...rest }) });
const served = crd({ status: { conditions: [condition("NamesAccepted", "True"), condition("Established", "True")] } });

const list = { body: JSON.stringify({ metadata: { resourceVersion: "1" }, items: [] }) };

function install(answers: Answers, timeoutMs?: number) {
  const { client, clock, journal } = clientAnswering(answers);
  return { clock, journal, done: installCrds(client, [Gordon], { clock, ...(timeoutMs !== undefined && { timeoutMs }) }) };
}

describe("installing definitions", () => {
  it("applies with force, since they are ours, and asks no further if they are served already", async () => {
    const { done, journal } = install((_, call) => (call === 1 ? served : list));
    await done;
    expect(journal.calls.map(({ method, query }) => [method, query.force])).toEqual([
      ["PATCH", true],
      ["GET", undefined],
    ]);
    expect(journal.calls[1]?.path).toBe("/apis/operator.prgcont.cz/v1/gordons");
  });

  it("looks again until they are served", async () => {
    const { done, clock, journal } = install((_, call) => (call < 3 ? crd({}) : call === 3 ? served : list));
    await clock.advance(1000);
    await done;
    expect(journal.calls.map(({ method }) => method)).toEqual(["PATCH", "GET", "GET", "GET"]);
  });

  it.each([
    { name: "while the storage of their objects is being made", refusal: { status: 429, headers: { "retry-after": "1" } } },
    { name: "while the path is not there yet", refusal: { status: 404 } },
  ])("waits $name", async ({ refusal }) => {
    const { done, clock, journal } = install((_, call) => (call === 1 ? served : call < 4 ? { body: "{}", ...refusal } : list));
    await clock.advance(10_000);
    await done;
    expect(journal.calls.map(({ status }) => status)).toEqual([200, refusal.status, refusal.status, 200]);
  });

  it("does not mind if it may not list them", async () => {
    const { done } = install((_, call) => (call === 1 ? served : { status: 403, body: "{}" }));
    await done;
  });

  it("does not wait for names that somebody else has", async () => {
    const taken = condition("NamesAccepted", "False", '"gn" is already in use');
    const { done } = install(() => crd({ status: { conditions: [taken] } }));
    await expect(done).rejects.toThrow(CrdNotEstablishedError);
    await expect(done).rejects.toThrow(`${name}: expected its names to be free, found: "gn" is already in use`);
  });

  it("does not take a definition that is on its way out for an installed one", async () => {
    const going = { metadata: { name, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    const { done } = install(() => crd(going));
    await expect(done).rejects.toThrow("found it being deleted");
  });

  it("gives up in the end, and says what it was waiting for", async () => {
    const { done, clock } = install(() => crd({}), 2000);
    const outcome = expect(done).rejects.toThrow(DeadlineExceededError);
    await clock.advance(2000);
    await outcome;
    await expect(done).rejects.toThrow(`install ${name}`);
  });
});
