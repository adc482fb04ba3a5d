import { get, request } from "node:http";
import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import { aPlan, aVerdict } from "../model/plan.fixture.ts";
import { anAction, anApp, aRecord, now } from "../model/seen.fixture.ts";
import { History } from "./history.ts";
import { pageState } from "./page-state.ts";
import { servePage } from "./serve-page.ts";

const metrics = { available: true, freshForMs: 60_000 };

describe("what the page remembers", () => {
  it("a point per evaluation: of the container that uses the largest share of its limit", () => {
    const history = new History();
    const hot = aVerdict({ container: "hot", inputs: { ...aVerdict().inputs, usage: mib(200) } });
    history.note(anApp(), aPlan({ verdicts: [aVerdict(), hot] }));
    history.note(anApp({ nowMs: now + 5_000 }), aPlan({ verdicts: [] }));
    expect(history.apps().map(({ points }) => points)).toEqual([
      [
        [now, mib(200), mib(384), mib(288)],
        [now + 5_000, null, null, null],
      ],
    ]);
  });

  it("is bounded, whatever happens", () => {
    const history = new History();
    for (let at = 0; at < 5_000; at += 1) history.note(anApp({ nowMs: now + at }), aPlan());
    expect(history.apps()[0]?.points.length).toBe(480);
    for (let app = 0; app < 2_000; app += 1) {
      const named = anApp({ app: { kind: "Deployment", namespace: "demo", name: `app-${app}` } });
      for (let at = 0; at < 200; at += 1) history.note({ ...named, nowMs: now + at }, aPlan());
    }
    const points = history.apps().reduce((sum, app) => sum + app.points.length, 0);
    expect(points).toBeLessThan(500_000);
  });

  it("forgets an app that is gone", () => {
    const history = new History();
    history.note(anApp(), aPlan());
    history.forget(anApp().app);
    expect(history.apps()).toEqual([]);
  });
});

it("the page is told only the points it does not have yet, and every action in words", () => {
  const history = new History();
  history.note(anApp({ nowMs: now }), aPlan({ record: aRecord({ actions: [anAction()] }) }));
  history.note(anApp({ nowMs: now + 5_000 }), aPlan({ record: aRecord({ actions: [anAction()] }) }));
  const { apps } = pageState({ nowMs: now + 6_000, metrics, apps: history.apps(), monitors: [] }, now);
  expect(apps[0]?.points.map(([at]) => at)).toEqual([now + 5_000]);
  expect(apps[0]?.actions[0]?.text).toBe("ThresholdCrossed: memhog 384Mi → 768Mi (InPlace, Applied)");
});

describe("the page, served", () => {
  const ask = (port: number, path: string) =>
    new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; body: string }>((done, fail) => {
      get({ port, path, host: "127.0.0.1" }, async (answer) => {
        const body = (await answer.toArray()).join("");
        done({ status: answer.statusCode, headers: answer.headers, body });
      }).on("error", fail);
    });

  it("is three files and one question, and needs nothing from elsewhere", async () => {
    const state = () => pageState({ nowMs: now, metrics, apps: [], monitors: [] }, 0);
    await using page = await servePage({ host: "127.0.0.1", port: 0, state });
    for (const path of ["/", "/page.css", "/page.js"]) {
      const { status, body, headers } = await ask(page.port, path);
      expect(status).toBe(200);
      expect(headers["content-security-policy"]).toContain("default-src 'self'");
      expect(body.replaceAll(/http:\/\/www\.w3\.org\/\S+/g, "")).not.toMatch(/https?:\/\//);
    }
    expect(JSON.parse((await ask(page.port, "/api/state?since=0")).body).apps).toEqual([]);
    expect((await ask(page.port, "/../package.json")).status).toBe(404);
  });

  it("cannot change anything", async () => {
    const state = () => pageState({ nowMs: now, metrics, apps: [], monitors: [] }, 0);
    await using page = await servePage({ host: "127.0.0.1", port: 0, state });
    const status = await new Promise((done, fail) => {
      request({ port: page.port, method: "POST", host: "127.0.0.1", path: "/api/state" }, (answer) =>
        done(answer.resume().statusCode),
      )
        .on("error", fail)
        .end();
    });
    expect(status).toBe(405);
  });
});
