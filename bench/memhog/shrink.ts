// Thirty simulated days of thirteen shapes of usage with spec.shrink and without, decided by the real code
// (operators/memhog/src/decide/days.fixture.ts). Reserved is the memory request and used is usage, both added up over all days, the
// first day included, in which nothing can be lowered yet.
import { liveDays, shapes } from "@memhog/memhog-operator/testing";
import type { Figure } from "../report.ts";

const days = 30;

export function measureShrink(): readonly Figure[] {
  console.error(`spec.shrink, ${days} simulated days of ${shapes.length} shapes`);
  const lives = shapes.map((shape) => ({
    shape,
    without: liveDays(shape, days, false),
    with: liveDays(shape, days, true),
  }));
  const ratios = lives.map(({ shape, without, with: lowered }) => ({
    name: `reserved ÷ used, ${shape.name}`,
    unit: "×",
    ours: lowered.reserved / lowered.used,
    peers: { without: without.reserved / without.used },
    ...(shape.steady && { goal: "≤ 1.3", holds: lowered.reserved / lowered.used <= 1.3 }),
  }));
  const total = (of: "reserved" | "used" | "kills", which: "with" | "without") =>
    lives.reduce((sum, life) => sum + life[which][of], 0);
  const ratio = (which: "with" | "without") => total("reserved", which) / total("used", which);
  return [
    ...ratios,
    {
      name: "reserved ÷ used, all shapes together",
      unit: "×",
      ours: ratio("with"),
      peers: { without: ratio("without") },
      goal: "≤ 1.3",
      holds: ratio("with") <= 1.3,
    },
    {
      name: "GiB-hours reserved",
      unit: "GiB·h",
      ours: total("reserved", "with"),
      peers: { without: total("reserved", "without") },
    },
    {
      name: "OOM kills with spec.shrink",
      unit: "kills",
      ours: total("kills", "with"),
      peers: { without: total("kills", "without") },
      goal: "≤ without",
      holds: total("kills", "with") <= total("kills", "without"),
    },
  ];
}
