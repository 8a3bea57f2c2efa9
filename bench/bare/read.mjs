// A warm thread: says that it has started, then reads each file it is told and answers with its text.
import { readFileSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'

parentPort.on('message', (file) => parentPort.postMessage(readFileSync(file, 'utf8')))
parentPort.postMessage('ready')
