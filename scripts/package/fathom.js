#!/usr/bin/env node
// Starts the program of this machine's package: npm installs the matching one of the optional dependencies.
'use strict';

const { spawn } = require('node:child_process');
const { constants } = require('node:os');

// Alpine and similar systems have another C library.
const withoutGlibc = () => process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
let program;
try {
  program = require.resolve(`fathom-lab-${process.platform}-${process.arch}/bin/fathom`);
} catch {
  const machine = `${process.platform} on ${process.arch}${withoutGlibc() ? ' without glibc' : ''}`;
  console.error(`error: this package is for Linux with glibc on x64 and arm64. This is ${machine}, or npm skipped the optional dependencies`);
  process.exit(4);
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
// The terminal sends SIGINT to both processes.
process.on('SIGINT', () => {});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  const why = withoutGlibc() ? 'it needs glibc, which this system lacks' : error.message;
  console.error(`error: ${program} can't be started: ${why}`);
  process.exit(4);
});
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
