// node --test --import leakbench/register fails each test that leaves a process. Tests of one file that run at the same time
// (concurrency) can't be told apart by this: use leakfree, whose labs are.
import { afterEach, beforeEach } from 'node:test';
import { LeakError, bench } from './lab.mjs';

// Only the process of a test file has tests: the runner, and what the tests launch, have not.
const isTestFile = process.env.NODE_TEST_CONTEXT !== undefined && !process.execArgv.includes('--test');
const mark = 'LEAKBENCH_TESTS';
const settle = Number(process.env.LEAKBENCH_SETTLE ?? 5);

if (isTestFile) {
    process.env[mark] = `${process.pid}.${Math.random().toString(36).slice(2)}`;
    let known = [];
    beforeEach(async () => {
        known = (await bench().children()).left;
    });
    afterEach(async () => {
        const { text } = await bench().children(settle, known, `${mark}=${process.env[mark]}`);
        if (text) throw new LeakError(`leakbench: ${text}`);
    });
}
