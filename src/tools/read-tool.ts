import type { z } from 'zod'
import { defineTool } from './define-tool.ts'
import type { Tool } from './define-tool.ts'

/** True when neither type has a field, an optional field or a value that the other lacks: `Required` shows the fields that may be absent. */
type Same<A, B> = [A, Required<A>] extends [B, Required<B>] ? ([B, Required<B>] extends [A, Required<A>] ? true : false) : false

type Fits<Shape extends z.ZodRawShape, Input> = Same<z.output<z.ZodObject<Shape>>, Input> extends true
  ? unknown
  : { readonly 'this schema and the input of the tool’s function are not the same': Input }

/**
 * Makes a read tool, whose function in `reading/` takes `Input` and runs in the agent's thread. What the schema lets through and what the
 * function takes are one type, or it does not compile: `readTool<LsInput>()({ … })`.
 */
export const readTool = <Input>() => <Shape extends z.ZodRawShape>(definition: {
  readonly name: string
  readonly description: string
  readonly input: z.ZodObject<Shape> & Fits<Shape, Input>
}): Tool => defineTool<Shape>({ ...definition, effect: 'read' })
