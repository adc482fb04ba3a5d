import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { DeadlineExceededError } from "../concurrency/abort.ts";
import { type Answers, clientAnswering } from "../testing/loopback.ts";
import { crdOf } from "./custom-resource-definition.ts";
import { CrdNotEstablishedError } from "./errors.ts";
import { installCrds, toYaml } from "./install.ts";
import { Gordon, Memcached } from "./sample-operators.fixture.ts";

const name = "gordons.operator.prgcont.cz";
const condition = (type: string, status: string, message = "") => ({ type, status, reason: "Because", message });
const crd = (rest: object) => ({ body: JSON.stringify({ metadata: { name }, spec: {}, ...rest }) });
const served = crd({ status: { conditions: [condition("NamesAccepted", "True"), condition("Established", "True")] } });

const list = { body: JSON.stringify({ metadata: { resourceVersion: "1" }, items: [] }) };

function install(answers: Answers, timeoutMs?: number) {
  const { client, clock, journal } = clientAnswering(answers);
  return { clock, journal, done: installCrds(client, [Gordon], { clock, ...(timeoutMs !== undefined && { timeoutMs }) }) };
}

describe("installCrds", () => {
  it("applies with force, and does not wait if they are already served", async () => {
    const { done, journal } = install((_, call) => (call === 1 ? served : list));
    await done;
    expect(journal.calls.map(({ method, query }) => [method, query.force])).toEqual([
      ["PATCH", true],
      ["GET", undefined],
    ]);
    expect(journal.calls[1]?.path).toBe("/apis/operator.prgcont.cz/v1/gordons");
  });

  it("polls until they are served", async () => {
    const { done, clock, journal } = install((_, call) => (call < 3 ? crd({}) : call === 3 ? served : list));
    await clock.advance(1000);
    await done;
    expect(journal.calls.map(({ method }) => method)).toEqual(["PATCH", "GET", "GET", "GET"]);
  });

  it.each([
    { name: "while their storage is initializing", refusal: { status: 429, headers: { "retry-after": "1" } } },
    { name: "while their path answers 404", refusal: { status: 404 } },
  ])("waits $name", async ({ refusal }) => {
    const { done, clock, journal } = install((_, call) => (call === 1 ? served : call < 4 ? { body: "{}", ...refusal } : list));
    await clock.advance(10_000);
    await done;
    expect(journal.calls.map(({ status }) => status)).toEqual([200, refusal.status, refusal.status, 200]);
  });

  it("succeeds without permission to list them", async () => {
    const { done } = install((_, call) => (call === 1 ? served : { status: 403, body: "{}" }));
    await done;
  });

  it("fails at once if their names are taken", async () => {
    const taken = condition("NamesAccepted", "False", '"gn" is already in use');
    const { done } = install(() => crd({ status: { conditions: [taken] } }));
    await expect(done).rejects.toThrow(CrdNotEstablishedError);
    await expect(done).rejects.toThrow(
      `${name}: expected its names to be accepted, found a conflict → rename it or remove the other definition: "gn" is already in use`,
    );
  });

  it("fails if a definition is being deleted", async () => {
    const going = { metadata: { name, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    const { done } = install(() => crd(going));
    await expect(done).rejects.toThrow("found it being deleted");
  });

  it("fails at its time limit, and names the definitions", async () => {
    const { done, clock } = install(() => crd({}), 2000);
    const outcome = expect(done).rejects.toThrow(DeadlineExceededError);
    await clock.advance(2000);
    await outcome;
    await expect(done).rejects.toThrow(`install ${name}`);
  });
});

describe("toYaml", () => {
  it("quotes strings that YAML 1.1 reads as booleans or numbers", async () => {
    const object = { y: "y", no: "no", on: ["off", "0o7", "1e3", "12:30:45", "~", ""], text: "a: b\n# c\n" };
    const [document] = parseAllDocuments(await toYaml(object), { version: "1.1" });
    expect(document?.toJS()).toEqual(object);
  });

  it("separates documents, and prints apiVersion and kind first", async () => {
    const text = await toYaml(crdOf(Gordon), crdOf(Memcached));
    expect(text.split("---\n")).toHaveLength(2);
    expect([...text.matchAll(/^(\w+):/gm)].map(([, key]) => key).slice(0, 4)).toEqual(["apiVersion", "kind", "metadata", "spec"]);
  });
});
