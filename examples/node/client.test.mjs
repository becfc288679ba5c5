// A client of the official TypeScript SDK on the bench, inside of its tests: node --test --import leakbench/register.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';
import { leakfree } from 'leakbench';
import { call, fixed, leaking } from './client.mjs';

const quick = { settle: 1.5, confirm: 0.5 };

test('storm, leaking', leakfree(lab => lab.storm(leaking), quick));

test('storm, fixed', leakfree(lab => lab.storm(fixed)));

test('cron, fixed', leakfree(lab => lab.play('cron', fixed, call)));

test(
    'flat',
    leakfree(async (lab, t) => {
        const argv = await lab.server({ ignore: 'eof' }); // the SDK ends it by a signal
        const first = await fixed(argv);
        const second = await fixed(argv);
        await lab.flat(2);
        await first.close();
        await lab.flat(1);
        t.diagnostic('one is left');
        await second.close();
    })
);

test('flat, leaking', leakfree(async lab => void (await fixed(await lab.server())), quick));

test('a child stays', async () => {
    const child = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] }); // it ends with this process
    child.unref();
    child.stdin.unref();
    await once(child, 'spawn');
});

test('a child goes', async () => {
    const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    await once(child, 'exit');
});
