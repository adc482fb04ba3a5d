// Polls the state every few seconds and redraws the page. No framework and no build step: the browser runs this file as it is.
const points = new Map(); // app → [[time, usage, limit, threshold], …], oldest first
const kept = 400;
let state = { apps: [], monitors: [] };
let since = 0;

const element = (name, attributes = {}, ...children) => {
  const node = document.createElementNS(
    name === "svg" || svgNames.has(name) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml",
    name,
  );
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};
const svgNames = new Set(["path", "line", "circle", "text", "title", "g"]);
const byId = (id) => document.getElementById(id);

function readable(bytes) {
  if (bytes === undefined || bytes === null) return "–";
  const mib = bytes / 2 ** 20;
  return mib >= 10240 ? `${(mib / 1024).toFixed(1)} GiB` : `${mib >= 100 ? Math.round(mib) : mib.toFixed(1)} MiB`;
}

/** Plots usage as an area, the limit as steps, the threshold as a dashed line, and each action as a vertical line. */
function plot(series, actions) {
  const width = 400;
  const height = 140;
  const [left, right, top, bottom] = [4, 4, 14, 16];
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img" });
  if (series.length === 0) {
    svg.append(element("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "no samples yet"));
    return svg;
  }
  const first = series[0][0];
  const last = Math.max(series.at(-1)[0], first + 60_000);
  const most = Math.max(...series.map(([, usage, limit]) => Math.max(usage ?? 0, limit ?? 0))) * 1.08;
  const x = (time) => left + ((time - first) / (last - first)) * (width - left - right);
  const y = (bytes) => height - bottom - (bytes / most) * (height - top - bottom);
  const used = series.filter(([, usage]) => usage !== null);
  const line = used.map(([time, usage]) => `${x(time).toFixed(1)},${y(usage).toFixed(1)}`).join("L");
  const steps = (index) =>
    series
      .filter((point) => point[index] !== null)
      .map((point, at, all) =>
        at === 0
          ? `M${x(point[0]).toFixed(1)},${y(point[index]).toFixed(1)}`
          : `H${x(point[0]).toFixed(1)}${all[at - 1][index] === point[index] ? "" : `V${y(point[index]).toFixed(1)}`}`,
      )
      .join("");
  if (used.length > 0) {
    svg.append(
      element("path", {
        class: "area",
        d: `M${x(used[0][0]).toFixed(1)},${y(0)}L${line}L${x(used.at(-1)[0]).toFixed(1)},${y(0)}Z`,
      }),
    );
    svg.append(element("path", { class: "usage", d: `M${line}`, "vector-effect": "non-scaling-stroke" }));
  }
  svg.append(element("path", { class: "threshold", d: steps(3), "vector-effect": "non-scaling-stroke" }));
  svg.append(element("path", { class: "limit", d: steps(2), "vector-effect": "non-scaling-stroke" }));
  for (const action of actions.filter(({ at }) => at >= first && at <= last)) {
    const bad = action.outcome === "Applied" ? "" : " bad";
    const at = x(action.at);
    const title = element("title", {}, `${new Date(action.at).toLocaleTimeString()} ${action.text}`);
    svg.append(
      element(
        "g",
        {},
        title,
        element("line", { class: `action${bad}`, x1: at, x2: at, y1: top - 6, y2: height - bottom }),
        element("circle", { class: `action-dot${bad}`, cx: at, cy: top - 6, r: 4 }),
      ),
    );
  }
  svg.append(element("text", { x: left, y: height - 3 }, new Date(first).toLocaleTimeString()));
  svg.append(element("text", { x: width - right, y: height - 3, "text-anchor": "end" }, new Date(last).toLocaleTimeString()));
  svg.append(element("title", {}, "Memory usage, limit and threshold over time"));
  return svg;
}

function card(app) {
  const { namespace, name, phase, reason, message, usage, limit, pods, monitor, container, actions, oomKills } = app;
  const share = usage && limit ? ` · ${Math.round((usage / limit) * 100)} %` : "";
  const list = actions
    .slice(-8)
    .reverse()
    .map(({ at, text }) => element("li", {}, `${new Date(at).toLocaleTimeString()} ${text}`));
  return element(
    "article",
    { class: app.failing ? "app failing" : "app", "data-app": app.key },
    element("h3", {}, element("span", {}, name), element("i", { class: `badge ${phase}` }, phase)),
    element(
      "p",
      { class: "where" },
      `${namespace} · ${pods} ${pods === 1 ? "pod" : "pods"}${container ? ` · container ${container}` : ""} · ${monitor ?? "no AppMonitor"}`,
    ),
    element(
      "div",
      { class: "numbers" },
      element("span", {}, element("b", {}, readable(usage)), ` of ${readable(limit)}${share}`),
      ...(oomKills > 0 ? [element("span", { class: "kills" }, `${oomKills} OOM ${oomKills === 1 ? "kill" : "kills"}`)] : []),
    ),
    plot(points.get(app.key) ?? [], actions),
    element("p", { class: "why" }, element("b", {}, reason), `: ${message}`),
    ...(list.length === 0
      ? []
      : [
          element(
            "details",
            {},
            element("summary", {}, `last ${list.length} ${list.length === 1 ? "action" : "actions"}`),
            element("ul", {}, ...list),
          ),
        ]),
  );
}

/** Apps that keep being OOM-killed come first in every order. */
const failingFirst = (a, b) => Number(b.failing) - Number(a.failing);
const orders = {
  pressure: (a, b) => (b.usage ?? 0) / (b.limit || 1) - (a.usage ?? 0) / (a.limit || 1),
  recent: (a, b) => (b.actions.at(-1)?.at ?? 0) - (a.actions.at(-1)?.at ?? 0),
  name: (a, b) => a.key.localeCompare(b.key),
};

function draw() {
  const wanted = byId("filter").value.trim().toLowerCase();
  const shown = state.apps
    .filter((app) => `${app.key} ${app.reason} ${app.phase}`.toLowerCase().includes(wanted))
    .sort((a, b) => failingFirst(a, b) || orders[byId("order").value](a, b) || orders.name(a, b));
  const open = new Set([...document.querySelectorAll("details[open]")].map((each) => each.closest(".app").dataset.app));
  byId("apps").replaceChildren(...shown.map(card));
  for (const each of document.querySelectorAll(".app"))
    if (open.has(each.dataset.app)) each.querySelector("details")?.setAttribute("open", "");
  byId("none").hidden = state.apps.length > 0;
  byId("monitor-rows").replaceChildren(...state.monitors.map(monitorRow));
  const raises = state.monitors.reduce((sum, { raises }) => sum + raises, 0);
  const stopped = state.apps.filter(({ phase }) => phase === "Stopped").length;
  const failing = state.apps.filter((app) => app.failing).length;
  const isBad = state.metrics?.available === false || state.unseenPods > 0 || failing > 0;
  byId("summary").className = isBad ? "bad" : "";
  byId("summary").textContent = [
    `${state.apps.length} apps`,
    `${raises} raises`,
    ...(failing > 0 ? [`${failing} out of memory`] : []),
    ...(stopped > 0 ? [`${stopped} stopped`] : []),
    prometheusText(state),
    `as of ${new Date(state.now).toLocaleTimeString()}`,
  ].join(" · ");
}

function prometheusText({ metrics, unseenPods = 0 }) {
  if (metrics?.available === false) return `Prometheus: ${metrics.problem}`;
  return unseenPods > 0 ? `Prometheus has no samples of ${unseenPods} pods` : "Prometheus available";
}

function monitorRow({ namespace, name, threshold, multiplier, strategy, pods, raises, oomKills, conditions }) {
  const bad = conditions.some(
    ({ type, status }) => (type === "Ready" && status !== "True") || (type === "Degraded" && status === "True"),
  );
  const words = conditions.map(({ type, status, reason }) => `${type}=${status} (${reason})`).join(", ") || "–";
  const cells = [namespace, name, `${threshold} %`, `× ${multiplier}`, strategy, pods, raises, oomKills].map((cell) =>
    element("td", {}, String(cell)),
  );
  return element("tr", {}, ...cells, element("td", bad ? { class: "bad" } : {}, words));
}

async function refresh() {
  try {
    const answer = await fetch(`api/state?since=${since}`);
    if (!answer.ok) throw new Error(`the operator returned HTTP ${answer.status}`);
    state = await answer.json();
    for (const { key, points: fresh } of state.apps) points.set(key, [...(points.get(key) ?? []), ...fresh].slice(-kept));
    const present = new Set(state.apps.map(({ key }) => key));
    for (const key of points.keys()) if (!present.has(key)) points.delete(key);
    since = state.now;
    draw();
  } catch (error) {
    byId("summary").className = "bad";
    byId("summary").textContent = `The operator does not respond: ${error.message}`;
  }
  setTimeout(refresh, document.hidden ? 15_000 : 3_000);
}

byId("filter").addEventListener("input", draw);
byId("order").addEventListener("change", draw);
refresh();
