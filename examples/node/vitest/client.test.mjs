// The same with Vitest: vitest run vitest
import { expect, test } from 'vitest';
import { LeakError, leakfree } from 'leakbench';
import { call, fixed, leaking } from '../client.mjs';

const limit = 120_000;

test('storm, leaking', leakfree(lab => lab.storm(leaking), { settle: 1.5, confirm: 0.5 }), limit);

test('storm, fixed', leakfree(lab => lab.storm(fixed)), limit);

test('cron, fixed', leakfree(lab => lab.play('cron', fixed, call)), limit);

test(
    'a leak is an error with a page',
    leakfree(async lab => {
        await fixed(await lab.server());
        const leak = await lab.flat(0).catch(e => e);
        expect(leak).toBeInstanceOf(LeakError);
        expect(leak.message).toContain('L1');
        expect(leak.page).toContain('report.html');
    }, { settle: 1.5, confirm: 0.5 }),
    limit
);
