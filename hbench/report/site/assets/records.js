// Loads the record chunks that records.py writes: gzipped JSON, each file once.
(() => {
  "use strict";
  const loaded = new Map();

  const read = async (path) => {
    const response = await fetch(`records/${path}`);
    if (!response.ok) throw new Error(`${path}: the server answers ${response.status}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    // Some servers say that the file is encoded, and the browser has unpacked it already.
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return JSON.parse(new TextDecoder().decode(bytes));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(unpacked).json();
  };

  const load = (path) => {
    if (!loaded.has(path)) {
      const reading = read(path);
      // What failed may be tried again.
      reading.catch(() => loaded.delete(path));
      loaded.set(path, reading);
    }
    return loaded.get(path);
  };

  const catalogue = () => load("catalogue.json.gz");
  const index = (folder) => load(`${folder}/index.json.gz`);
  const prompt = async (folder, about, set, place) => {
    const chunk = await load(`${folder}/prompts-${set}-${Math.floor(place / about.chunk)}.json.gz`);
    const record = chunk.records[place % about.chunk];
    return { ...record, messages: record.messages.map(([role, text]) => ({ role, text: chunk.texts[text] })) };
  };
  const answer = async (folder, about, model, place) => {
    const chunk = await load(`${folder}/answers-${model.file}-${Math.floor(place / about.chunk)}.json.gz`);
    return chunk[place % about.chunk];
  };

  globalThis.hbenchRecords = { catalogue, index, prompt, answer };
})();
