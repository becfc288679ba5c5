export interface Server {
    name: string;
    command: string;
    args: string[];
}

export interface Options {
    signal?: AbortSignal;
    /** In ms. */
    timeout?: number;
}

export interface Client {
    call(tool: string, args: Record<string, unknown>, options: Options): Promise<string>;
    /** The names of what the server offers; asked for only where the host has lists: true. */
    list?(what: 'tools' | 'resources' | 'prompts', options: Options): Promise<string[]>;
    close(): unknown;
}

export interface Host {
    host: string;
    version: string;
    connect(server: Server, options: Options): Promise<Client>;
    /** Ends at a stop what all clients share, when they are closed. */
    endHost?(): unknown;
    /** What the host is: findings then say whose duty it is. */
    kind?: 'library' | 'application' | 'gateway';
    /** What the host declares of itself; times as '2.5s'. */
    profile?: {
        settle?: string;
        confirm?: string;
        stop?: string;
        ladder?: string;
        scale?: string;
        resident?: number;
        spare?: number;
        idle?: string;
        renewal?: string;
        servers?: 'per-request';
        reconnects?: 'itself';
    };
    /** Operations that the host does not have, and why. */
    notApplicable?: Record<string, string>;
    /** The clients have list. */
    lists?: boolean;
}

/** Runs a driver on stdin and stdout. */
export function run(host: Host): Promise<void>;

/** What a call throws that there is no way to make: the bench leaves it out, and a run without a finding is inconclusive. */
export class NotPlayed extends Error {}

/** The text of a tool's result; a tool that failed is an error. */
export function textOf(result: { content: unknown[]; isError?: boolean }): string;

/** For a client that takes neither a signal nor a time limit: gives the promise up when the bench does, and ends what has begun. */
export function limited<T>(promise: Promise<T>, options?: Options, end?: () => unknown): Promise<T>;

/** Serves the requests of the bench; write takes each answer as an object. */
export class Driver {
    constructor(connect: Host['connect'], write: (line: object) => unknown);
    hello(host: string, version: string, notApplicable?: Record<string, string>): unknown;
    serve(request: object): Promise<void>;
}
