/** The fake provider as the bench starts it: all wires that Cadre, the bare script and the peers speak. */
import { serveFakeProvider } from '../src/cli/bench/fake-provider.ts'
import { chatWire } from './chat-wire.ts'
import { anthropic } from '../src/cli/bench/wire.ts'

serveFakeProvider([anthropic, chatWire])
