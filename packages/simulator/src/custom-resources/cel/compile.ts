// From the text of a rule to something that can be asked.
import type { Environment } from "@marcbachmann/cel-js";
import type { StructuralSchema } from "../structural-schema.ts";
import { unknownFields } from "./field-check.ts";

export interface Program {
  /** Whether it speaks of what was before: a transition rule. */
  readonly usesOldSelf: boolean;
  /** @throws EvaluationFailure */
  run(variables: { readonly self: unknown; readonly oldSelf?: unknown }): unknown;
}

/** A rule that could not be judged, with the reason in the words of cel-go. */
export class EvaluationFailure extends Error {
  readonly code = "CEL_EVALUATION_FAILED";
  override readonly name = "EvaluationFailure";
  readonly isOverload: boolean;
  constructor(message: string, isOverload: boolean) {
    super(message);
    this.isOverload = isOverload;
  }
}

/** A rule that is not CEL, or uses what we do not have. */
export class CompilationFailure extends Error {
  readonly code = "CEL_COMPILATION_FAILED";
  override readonly name = "CompilationFailure";
  /** It may be CEL that the real one understands. */
  readonly isMissingFunction: boolean;
  constructor(message: string, isMissingFunction: boolean) {
    super(message);
    this.isMissingFunction = isMissingFunction;
  }
}

/** What the errors of the library have. */
interface CelError extends Error {
  readonly code: string;
  readonly summary: string;
}

/** What `self` is in a rule. */
export interface Typing {
  readonly schema: StructuralSchema;
  /** Whether it is the object itself. */
  readonly isRoot: boolean;
}

/** @throws CompilationFailure */
export function compile(source: string, environment: Environment, { schema, isRoot }: Typing): Program {
  const text = withOurFunctions(source);
  const { valid, error } = environment.check(text);
  if (!valid) {
    const { code, summary } = error as unknown as CelError;
    throw new CompilationFailure(summary, code === "no_matching_overload");
  }
  const missing = unknownFields(environment.parse(source).ast, schema, isRoot);
  if (missing !== undefined) throw new CompilationFailure(missing, false);
  const program = environment.parse(text);
  return {
    usesOldSelf: outsideQuotes(source).some((part) => /(?<![\w.])oldSelf\b/.test(part)),
    run: (variables) => {
      try {
        return program(variables as never);
      } catch (error) {
        throw inGoWords(error as CelError);
      }
    },
  };
}

const literal = /[rbRB]{0,2}(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')/g;

function outsideQuotes(source: string): readonly string[] {
  return source.split(literal);
}

/** The library's own `matches` and `duration` are JavaScript's, not Go's, and cannot be replaced: ours have other names. */
function withOurFunctions(source: string): string {
  const quoted = source.match(literal) ?? [];
  const renamed = outsideQuotes(source).map((part) =>
    part.replace(/\bmatches(?=\s*\()/g, "goMatches").replace(/(?<![\w.])duration(?=\s*\()/g, "goDuration"),
  );
  return renamed.map((part, at) => part + (quoted[at] ?? "")).join("");
}

function inGoWords({ code, summary, message }: CelError): EvaluationFailure {
  const text = summary ?? message;
  if (code === "no_such_key") return new EvaluationFailure(text.replace(/^No such key: /, "no such key: "), false);
  if (code === "no_such_overload" || code === "no_matching_overload" || code === "invalid_logical_operand")
    return new EvaluationFailure("no such overload", true);
  const index = /index (-?\d+)/.exec(text)?.[1];
  if (code === "index_out_of_bounds") return new EvaluationFailure(`index out of bounds: ${index}`, false);
  return new EvaluationFailure(text, false);
}
