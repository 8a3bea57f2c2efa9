/**
 * Makes it impossible to leave something in this thread for the next agent by accident (SHL-08): from here on a new global, a new property of
 * a built-in prototype or a change of the environment throws. Called once, after everything is imported.
 */
export function sealGlobals(): void {
  process.env = Object.freeze({})
  for (const shared of [Object.prototype, Array.prototype, Function.prototype, String.prototype, Promise.prototype, Map.prototype, Set.prototype]) {
    Object.preventExtensions(shared)
  }
  Object.preventExtensions(globalThis)
}
