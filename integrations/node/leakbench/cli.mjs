#!/usr/bin/env node
// The bench itself.
import { spawnSync } from 'node:child_process';
import os from 'node:os';
import { binary } from './lab.mjs';

const { status, signal, error } = spawnSync(binary(), process.argv.slice(2), { stdio: 'inherit' });
if (error) throw error;
process.exit(signal ? 128 + os.constants.signals[signal] : status);
