import { serveFakeProvider } from './fake-provider.ts'
import { anthropic } from './wire.ts'

serveFakeProvider([anthropic])
