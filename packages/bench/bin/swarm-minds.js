export { makeHand } from '../dist/suites/swarm/minds.js';
