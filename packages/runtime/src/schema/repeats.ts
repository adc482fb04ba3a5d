// How often a pattern repeats something at most. Go's engine copies what is repeated and refuses more than 1000 copies, also where
// they come from repeats within repeats: (a{100}){11}.

/** One thing after another, as far as repeats are concerned. */
const token = /\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?::|<\w+>|P<\w+>))?|\)|\{(\d+)(,(\d*))?\}|[\s\S]/g;

/** The most copies of anything in the pattern; `*` and `+` need none. */
export function mostRepeats(source: string): number {
  // For every group that is open: the most copies in it so far. The innermost is last.
  const open = [1];
  // Copies within what a repeat that comes next would repeat.
  let last = 1;
  for (const [text, least, range, most] of source.matchAll(token)) {
    if (text.startsWith("(")) {
      open.push(1);
      last = 1;
    } else if (text === ")") {
      last = open.pop() ?? 1;
      note(open, last);
    } else if (least !== undefined) {
      const times = Number(range === undefined || most === "" ? least : most);
      last *= Math.max(times, 1);
      note(open, last);
    } else if (!"*+?".includes(text)) last = 1;
  }
  return Math.max(...open, last);
}

function note(open: number[], copies: number): void {
  open[open.length - 1] = Math.max(open.at(-1) ?? 1, copies);
}
