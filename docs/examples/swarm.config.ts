import { defineConfig } from '@mound/swarm';

// Beside the code, or in the directory where `mound swarm run` is called.
export default defineConfig({
  endpoints: {
    far: { baseURL: 'https://api.example.com/v1', apiKeyEnv: 'EXAMPLE_API_KEY', concurrencyMax: 16 },
    near: { baseURL: 'http://127.0.0.1:8080/v1' },
  },
  models: {
    strong: { kind: 'endpoint', endpoint: 'far', model: 'large', contextTokens: 200_000, fallbacks: ['cheap'] },
    cheap: { kind: 'endpoint', endpoint: 'near', model: 'small' },
    agent: { kind: 'command', command: ['my-agent', '--task', '{brief}'], env: ['MY_AGENT_KEY'], seconds: 1800 },
  },
  roles: { planner: 'strong', worker: 'agent', merger: 'cheap' },
  prices: [{ model: 'small', from: '2026-01-01', input: 0.1, cached: 0.02, output: 0.4 }],
  budget: { usd: 25 },
  bounds: { agents: 32, minutes: 240 },
  topology: { kind: 'tree', depth: 2, fanOut: 200 },
  coordination: { 'field-guide': 'off' },
  check: 'npm test --silent',
  green: { command: 'npm run build --silent', everyCommits: 50, policy: 'revert' },
  score: 'node coverage.mjs',
  commands: { mode: 'sandbox', env: ['NODE_OPTIONS'], memoryMb: 2048 },
});
