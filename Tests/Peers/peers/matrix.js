// Makes offers of many shapes, has the gateway answer them, and applies the answers. Defines window.GatehouseMatrix.
window.GatehouseMatrix = class {
  constructor(token) {
    this.headers = { authorization: "Bearer " + token };
  }

  get hasH264() {
    return RTCRtpReceiver.getCapabilities("video").codecs.some(({ mimeType }) => mimeType === "video/H264");
  }

  // A case is a shape's lines, policy and data, a camera, and whether to wait for a picture. A few run at a time.
  async run(cases, parallel = 4) {
    const outcomes = new Array(cases.length);
    let next = 0;
    const work = async () => {
      while (next < cases.length) {
        const index = next++;
        outcomes[index] = await this.one(cases[index]);
      }
    };
    await Promise.all(Array.from({ length: parallel }, work));
    return outcomes;
  }

  async one({ lines, policy, data, camera, sample }) {
    const outcome = { status: 0, text: "", applied: false, answer: "", frames: 0 };
    const pc = new RTCPeerConnection({ bundlePolicy: policy });
    let resource;
    try {
      if (data === "first") pc.createDataChannel("first");
      for (const { kind, direction, codec } of lines) {
        const transceiver = pc.addTransceiver(kind, { direction });
        const fitting = RTCRtpReceiver.getCapabilities(kind).codecs.filter(
          ({ mimeType }) => mimeType.toLowerCase() === `${kind}/${codec}`.toLowerCase());
        if (codec && fitting.length) transceiver.setCodecPreferences(fitting);
      }
      if (data === "last") pc.createDataChannel("last");
      await pc.setLocalDescription();
      const response = await fetch("/whep/" + camera, {
        method: "POST",
        headers: { ...this.headers, "content-type": "application/sdp" },
        body: pc.localDescription.sdp,
      });
      outcome.status = response.status;
      const text = await response.text();
      if (response.status !== 201) {
        outcome.text = text;
        return outcome;
      }
      resource = response.headers.get("location");
      try {
        await pc.setRemoteDescription({ type: "answer", sdp: text });
        outcome.applied = true;
      } catch (error) {
        outcome.text = String(error);
        outcome.answer = text;
        return outcome;
      }
      if (sample) outcome.frames = await this.frames(pc);
    } catch (error) {
      outcome.text = String(error);
    } finally {
      pc.close();
      if (resource) await fetch(resource, { method: "DELETE", headers: this.headers });
    }
    return outcome;
  }

  // How many pictures have been decoded, once one has.
  async frames(pc, within = 15000) {
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
