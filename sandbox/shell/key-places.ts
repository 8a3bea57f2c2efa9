/** Where programs keep keys, relative to the home folder (SHL-01). A place that is not there hides nothing. */
export const KEY_PLACES = [
  '.ssh', '.aws', '.gnupg', '.cadre',
  '.azure', '.bash_history', '.cargo/credentials', '.cargo/credentials.toml', '.claude', '.claude.json', '.codex', '.config/cadre', '.config/gcloud',
  '.config/gh', '.config/git/credentials', '.config/hub', '.config/op', '.docker', '.gem/credentials', '.gemini', '.git-credentials', '.kube',
  '.local/share/keyrings', '.my.cnf', '.netrc', '.npmrc', '.password-store', '.pgpass', '.pypirc', '.terraform.d', '.vault-token', '.yarnrc.yml',
  '.zsh_history', 'Library/Keychains',
] as const

/** Keys of the machine: an agent of root could read them. */
export const MACHINE_KEYS = ['/etc/shadow', '/etc/gshadow', '/etc/shadow-', '/etc/gshadow-', '/etc/ssl/private'] as const

/** Where servers of this machine listen: whoever may write to a socket of docker or dbus is not confined. */
export const SOCKET_PLACES = ['/run', '/var/run', '/var/tmp'] as const
