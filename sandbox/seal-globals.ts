/**
 * Keeps an agent from leaving something in this thread for the next one by accident (SHL-08): from here on a change of the environment or a new
 * property of a built-in prototype throws, and the function it gives removes every global that was not there. Called once, after all imports.
 */
export function sealGlobals(): () => void {
  process.env = Object.freeze({})
  for (const shared of [Object.prototype, Array.prototype, Function.prototype, String.prototype, Promise.prototype, Map.prototype, Set.prototype]) {
    Object.preventExtensions(shared)
  }
  const own = new Set(Reflect.ownKeys(globalThis))
  return () => {
    for (const key of Reflect.ownKeys(globalThis)) if (!own.has(key)) Reflect.deleteProperty(globalThis, key)
  }
}
