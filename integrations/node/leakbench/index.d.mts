/** What a fake server does wrong: an action and its moment, or "on=call,do=hang,tool=echo". */
export type Fault = string | Record<string, string>;

export interface CallOptions {
    /** Aborted where the bench cancels. */
    signal?: AbortSignal;
    /** In ms. */
    timeout?: number;
}

export interface Closable {
    close(): unknown;
}

export type Open<C extends Closable> = (argv: string[], options: CallOptions) => Promise<C>;
export type Call<C> = (client: C, tool: string, args: Record<string, unknown>, options: CallOptions) => Promise<string>;

export interface PlayOptions<C> {
    /** Calls a tool and returns the text of its result. Without it, client.callTool({ name, arguments }) is called. */
    call?: Call<C>;
}

export interface LabOptions {
    name?: string;
    /** Seconds in which a server that should be gone may still be there: 15. */
    settle?: number;
    /** Seconds for which a survivor is watched after that: 1. */
    confirm?: number;
    /** Fail after 2 s for a server that nobody has told to end; so does LEAKBENCH_FAST=1. */
    fast?: boolean;
    /** Folder for runs and their pages. */
    out?: string;
}

/** The servers of one test. */
export class Lab {
    constructor(options?: LabOptions);
    /** The command line of a new fake MCP server. */
    server(...faults: Fault[]): Promise<string[]>;
    /** Throws unless of each server exactly the newest n launches are alive. */
    flat(n: number): Promise<void>;
    /** Throws if a server is still alive. */
    close(): Promise<void>;
    /** Plays a reconnect storm. */
    storm<C extends Closable>(open: Open<C>, options?: PlayOptions<C>): Promise<void>;
    /** Plays a scenario. */
    play<C extends Closable>(scenario: string, open: Open<C>, options?: PlayOptions<C> | Call<C>): Promise<void>;
}

/** What the bench has found. The message is the report. */
export class LeakError extends Error {
    outcome: 'leak' | 'inconclusive';
    page?: string;
}

/** A test with a lab of its own, none of whose servers may be alive at its end. */
export function leakfree<A extends unknown[]>(test: (lab: Lab, ...given: A) => unknown, options?: LabOptions): (...given: A) => Promise<void>;

/** The path of the leakbench program. */
export function binary(): string;

export interface Process {
    pid: number;
    start: number;
}

/** A leakbench process that watches this one. */
export class Bench {
    constructor(out?: string);
    children(settle?: number, known?: Process[], mark?: string): Promise<{ left: Process[]; text: string }>;
}

/** The bench of this process. */
export function bench(): Bench;
