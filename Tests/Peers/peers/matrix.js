// Makes offers of many shapes, has the gateway answer them, and applies the answers. Defines window.GatehouseMatrix.
window.GatehouseMatrix = class {
  constructor(token) {
    this.headers = { authorization: "Bearer " + token };
  }

  // The names of what this browser can receive.
  get codecs() {
    const all = ["audio", "video"].flatMap((kind) => RTCRtpReceiver.getCapabilities(kind).codecs);
    return [...new Set(all.map(({ mimeType }) => mimeType.split("/")[1]))];
  }

  // A case is a shape's lines, policy and data, and the cameras that it meets, each with whether to wait for a picture.
  // A few run at a time.
  async run(cases, parallel = 4) {
    const outcomes = new Array(cases.length);
    let next = 0;
    const work = async () => {
      while (next < cases.length) {
        const index = next++;
        outcomes[index] = await this.meet(cases[index]);
      }
    };
    await Promise.all(Array.from({ length: parallel }, work));
    return outcomes;
  }

  // Offers a shape to cameras. Making a connection costs more than asking the gateway, so all cameras are asked with the
  // offer of one. Each answer is applied by a connection whose offer is the same but for its keys; answers that differ
  // only in keys, addresses and names are applied once. A camera whose picture is waited for gets an offer of its own.
  async meet({ cameras, ...shape }) {
    const applied = new Map();
    const outcomes = [];
    let shared = null;
    try {
      for (const [camera, sample] of cameras) {
        const outcome = { status: 0, text: "", applied: false, answer: "", frames: 0, applied_before: false };
        outcomes.push(outcome);
        let pc = null;
        let resource = null;
        try {
          if (!shared) shared = await this.offer(shape);
          if (sample) pc = await this.offer(shape);
          const asking = pc ?? shared;
          const response = await fetch("/whep/" + camera, {
            method: "POST",
            headers: { ...this.headers, "content-type": "application/sdp" },
            body: asking.localDescription.sdp,
          });
          outcome.status = response.status;
          outcome.text = await response.text();
          if (response.status !== 201) continue;
          resource = response.headers.get("location");
          const key = decided(outcome.text);
          if (!sample && applied.has(key)) {
            Object.assign(outcome, applied.get(key), { applied_before: true });
            continue;
          }
          pc ??= await this.offer(shape);
          if (decided(pc.localDescription.sdp) !== decided(shared.localDescription.sdp)) {
            throw new Error("the same shape led to another offer");
          }
          try {
            await pc.setRemoteDescription({ type: "answer", sdp: outcome.text });
            outcome.applied = true;
            outcome.text = "";
          } catch (error) {
            outcome.answer = outcome.text;
            outcome.text = String(error);
          }
          applied.set(key, { applied: outcome.applied, text: outcome.text, answer: outcome.answer });
          if (sample && outcome.applied) outcome.frames = await this.frames(pc);
        } catch (error) {
          outcome.text = String(error);
        } finally {
          pc?.close();
          if (resource) await fetch(resource, { method: "DELETE", headers: this.headers });
        }
      }
    } finally {
      shared?.close();
    }
    return outcomes;
  }

  // A connection that has made its offer.
  async offer({ lines, policy, data }) {
    const pc = new RTCPeerConnection({ bundlePolicy: policy });
    if (data === "first") pc.createDataChannel("first");
    for (const { kind, direction, codec } of lines) {
      const transceiver = pc.addTransceiver(kind, { direction });
      const fitting = RTCRtpReceiver.getCapabilities(kind).codecs.filter(
        ({ mimeType }) => mimeType.toLowerCase() === `${kind}/${codec}`.toLowerCase());
      if (codec && fitting.length) transceiver.setCodecPreferences(fitting);
    }
    if (data === "last") pc.createDataChannel("last");
    await pc.setLocalDescription();
    return pc;
  }

  // How many pictures have been decoded, once one has.
  async frames(pc, within = 60000) {
    const end = performance.now() + within;
    while (performance.now() < end) {
      let frames = 0;
      (await pc.getStats()).forEach((entry) => {
        if (entry.type === "inbound-rtp" && entry.kind === "video") frames += entry.framesDecoded ?? 0;
      });
      if (frames > 0) return frames;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    return 0;
  }
};

// What a description says apart from keys, addresses and names.
function decided(sdp) {
  const own = /^(o=|c=|a=(candidate|end-of-candidates|ice-|fingerprint|ssrc|msid|cname|rtcp:))/;
  return sdp.split("\r\n").filter((line) => !own.test(line))
    .map((line) => line.replace(/^(m=\S+) [1-9]\d*/, "$1 9")).join("\n");
}
