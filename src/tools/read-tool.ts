import type { z } from 'zod'
import { defineTool } from './define-tool.ts'
import type { Tool } from './define-tool.ts'

/** True when two types are the same one: neither has a field, an optional field or a value that the other lacks. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false

type Fits<Shape extends z.ZodRawShape, Input> = Same<Readonly<z.output<z.ZodObject<Shape>>>, Input> extends true
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
