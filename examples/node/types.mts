// A client in TypeScript: tsc --noEmit --strict --module nodenext types.mts.
import { Lab, leakfree, type LeakError } from 'leakbench';
import { run, type Client, type Options, type Server } from 'leakbench/driver';

class Connection implements Client {
    async call(tool: string, args: Record<string, unknown>, options: Options): Promise<string> {
        return options.signal?.aborted ? '' : `${tool} ${Object.keys(args).length}`;
    }
    async close(): Promise<void> {}
}

export const driver = () => run({ host: 'mine', version: '1', connect: async (_: Server) => new Connection() });

export const test = leakfree(async (lab: Lab, context: { name: string }) => {
    const argv: string[] = await lab.server({ ignore: 'eof' }, 'on=initialize,do=reject');
    await lab.play('cron', async () => new Connection(), (client, tool, args) => client.call(tool, args, {}));
    await lab.storm(async () => new Connection(), { call: (client, tool, args, options) => client.call(tool, args, options) });
    await lab.flat(argv.length - context.name.length).catch((e: LeakError) => e.page?.length);
    // @ts-expect-error: a number of servers is no text
    await lab.flat('1');
});
