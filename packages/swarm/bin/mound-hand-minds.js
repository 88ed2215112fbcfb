export { makeHand } from '../dist/config/hand-minds.js';
