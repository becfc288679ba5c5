export { Bench, Lab, LeakError, bench, binary, leakfree } from './lab.mjs';
