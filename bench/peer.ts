import type { Command } from './measure.ts'
import type { Project } from './bench.ts'
import type { Dialect } from '../src/cli/bench/fan-out-script.ts'

export type PeerKind = 'library' | 'CLI'

/** Another harness, measured with the same fan-out: a file in bench/peers and a line in bench/peers.ts. Never a dependency. */
export type Peer = {
  readonly name: string
  readonly kind: PeerKind
  /** What npm installs, the harness itself first. */
  readonly packages: readonly string[]
  readonly dialect: Dialect
  /** How it is started; `folder` is where it was installed. Caps of its own are raised as far as they go. */
  command(at: { readonly folder: string; readonly url: string; readonly project: Project; readonly home: string; readonly children: number }): Command
}

/** One that cannot run this fan-out, and why. */
export type AbsentPeer = { readonly name: string; readonly kind: PeerKind; readonly why: string }
