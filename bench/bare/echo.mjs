// A warm thread: says that it has started, then answers every message with what came.
import { parentPort } from 'node:worker_threads'

parentPort.on('message', (message) => parentPort.postMessage(message))
parentPort.postMessage('ready')
