// The engine in WebAssembly stands in the place of the server: what the page asks by fetch, it answers.
const engine = new Promise((ready, failed) => {
  globalThis.triageReady = ready;
  const download = globalThis.fetch.bind(globalThis), go = new Go();
  (async () => {
    const packed = await download("triage.wasm.gz");
    if (!packed.ok) throw new Error("triage.wasm.gz cannot be loaded: " + packed.status);
    const program = new Response(packed.body.pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": "application/wasm" } });
    const { instance } = await WebAssembly.instantiateStreaming(program, go.importObject);
    go.run(instance);
  })().catch(failed);
});

globalThis.fetch = async (address, { body }) => {
  await engine;
  const log = new Uint8Array(await new Response(body).arrayBuffer());
  const [page, problem] = triageAnswer(address, log);
  return { ok: !problem, text: async () => problem || page, headers: new Headers() };
};
