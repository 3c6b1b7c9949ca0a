// A viewer inside a browser: plays one camera and tells what has arrived. Defines window.GatehouseViewer.
window.GatehouseViewer = class {
  // patience: how many seconds the first picture may take.
  constructor(token, patience) {
    this.headers = { authorization: "Bearer " + token };
    this.patience = patience;
  }

  // options: device; codec, for example "H264", to ask for that one alone; sound, the same for audio; microphone: true to send one; configuration
  // of the connection, for example { bundlePolicy: "max-bundle" }; soundOnly: true to wait for no picture; gathered: true for an offer that names
  // all candidates, where otherwise it names none.
  async prepare({ device, codec, sound, microphone, configuration, gathered }) {
    this.device = device;
    this.pc = new RTCPeerConnection(configuration);
    const audio = this.pc.addTransceiver("audio", { direction: microphone ? "sendrecv" : "recvonly" });
    const video = this.pc.addTransceiver("video", { direction: "recvonly" });
    if (codec) {
      const all = RTCRtpReceiver.getCapabilities("video").codecs;
      video.setCodecPreferences(all.filter(({ mimeType }) => [`video/${codec}`, "video/rtx"].includes(mimeType)));
    }
    if (sound) {
      const all = RTCRtpReceiver.getCapabilities("audio").codecs;
      audio.setCodecPreferences(all.filter(({ mimeType }) => mimeType === `audio/${sound}`));
    }
    if (microphone) {
      // As it is heard: a tone is what a noise suppressor takes away.
      const media = await navigator.mediaDevices.getUserMedia({
        audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
      });
      await audio.sender.replaceTrack(media.getAudioTracks()[0]);
    }
    this.show();
    await this.pc.setLocalDescription();
    if (!gathered) return;
    while (this.pc.iceGatheringState !== "complete") {
      await new Promise((resolve) => this.pc.addEventListener("icegatheringstatechange", resolve, { once: true }));
    }
  }

  // Shows the tracks that arrive.
  show() {
    this.video = document.createElement("video");
    this.video.autoplay = this.video.playsInline = true;
    this.video.srcObject = new MediaStream();
    document.body.append(this.video);
    this.pc.ontrack = ({ track }) => {
      this.video.srcObject.addTrack(track);
      this.video.play().catch(() => {});
    };
    this.firstFrame = new Promise((resolve) => this.video.requestVideoFrameCallback(resolve));
  }

  // Plays by WHEP. Returns the milliseconds from the POST to the first picture, shown and decoded.
  async playWHEP(options) {
    await this.prepare(options);
    const began = performance.now();
    const response = await fetch("/whep/" + options.device, {
      method: "POST",
      headers: { ...this.headers, "content-type": "application/sdp" },
      body: this.pc.localDescription.sdp,
    });
    const answer = await response.text();
    if (response.status !== 201) throw new Error(`${response.status} ${answer}`);
    this.resource = response.headers.get("location");
    this.tag = response.headers.get("etag");
    const answered = performance.now();
    await this.pc.setRemoteDescription({ type: "answer", sdp: withCandidates(answer, options) });
    if (options.soundOnly) return {};
    return this.watch(began, answered);
  }

  // Plays from a server other than the gateway, which makes the offer (tools/offering_server.py).
  async playOffered({ path }) {
    this.pc = new RTCPeerConnection();
    this.show();
    const began = performance.now();
    const response = await fetch(path, { method: "POST" });
    const offer = await response.text();
    if (response.status !== 201) throw new Error(`${response.status} ${offer}`);
    this.resource = response.headers.get("location");
    await this.pc.setRemoteDescription({ type: "offer", sdp: offer });
    await this.pc.setLocalDescription();
    const { ok, status } = await fetch(this.resource, { method: "PATCH", body: this.pc.localDescription.sdp });
    if (!ok) throw new Error(`the answer: ${status}`);
    return this.watch(began, performance.now());
  }

  // Plays by the trait's commands, as an app does.
  async playByTrait(options) {
    await this.prepare(options);
    const began = performance.now();
    const started = await this.command("startLiveView", { offerSdp: this.pc.localDescription.sdp });
    this.session = started.mediaSessionId;
    const answered = performance.now();
    await this.pc.setRemoteDescription({ type: "answer", sdp: started.answerSdp });
    return this.watch(began, answered);
  }

  async watch(began, answered) {
    let isOver = false;
    let limit;
    const timeout = new Promise((resolve) => { limit = setTimeout(() => resolve(null), this.patience * 1000); });
    const decoded = async () => {
      for (;;) {
        const { framesDecoded } = await this.stats();
        if (framesDecoded > 0 || isOver) return performance.now() - began;
        await new Promise((resolve) => setTimeout(resolve, 4));
      }
    };
    const shown = this.firstFrame.then(() => performance.now() - began);
    const times = await Promise.race([Promise.all([decoded(), shown]), timeout]);
    isOver = true;
    clearTimeout(limit);
    if (times === null) throw new Error(`no picture within ${this.patience} s: ${await this.progress()}`);
    const [decodedAfter, shownAfter] = times;
    // Statistics are slow to come: what is shown was decoded.
    return { answered: answered - began, decoded: Math.min(decodedAfter, shownAfter), shown: shownAfter };
  }

  // How far the connection has come, for the message of one that brings no picture.
  async progress() {
    const { iceConnectionState, connectionState, iceGatheringState } = this.pc;
    const report = await this.pc.getStats();
    const end = (id) => {
      const { protocol, address, port } = report.get(id) ?? {};
      return `${protocol} ${address}:${port}`;
    };
    const pairs = [...report.values()].filter(({ type }) => type === "candidate-pair")
      .map((pair) => `${end(pair.localCandidateId)} to ${end(pair.remoteCandidateId)} ${pair.state} ${pair.nominated ? "nominated" : ""}`);
    const { framesDecoded, bytesReceived } = await this.stats();
    return `ICE ${iceConnectionState}, connection ${connectionState}, gathering ${iceGatheringState}, ${bytesReceived} bytes, `
      + `${framesDecoded} pictures decoded, video ${this.video.readyState}; ${pairs.join("; ")}`;
  }

  async command(name, parameters = { mediaSessionId: this.session }) {
    const response = await fetch(`/v1/devices/${this.device}/traits/WebRtcLiveView/commands/${name}`, {
      method: "POST",
      headers: { ...this.headers, "content-type": "application/json" },
      body: JSON.stringify(parameters),
    });
    const body = await response.text();
    if (!response.ok) throw new Error(`${name}: ${response.status} ${body}`);
    return JSON.parse(body || "{}");
  }

  async stats() {
    const result = {
      framesDecoded: 0, packetsLost: 0, totalAudioEnergy: 0, totalSamplesReceived: 0, keyFramesDecoded: 0,
      concealedSamples: 0, bytesReceived: 0, codec: "", width: 0, freezeCount: 0, totalFreezesDuration: 0, totalInterFrameDelay: 0,
      timestamp: 0,
    };
    const report = await this.pc.getStats();
    report.forEach((entry) => {
      if (entry.type === "inbound-rtp" && entry.kind === "video") {
        result.framesDecoded = entry.framesDecoded ?? 0;
        result.keyFramesDecoded = entry.keyFramesDecoded ?? 0;
        result.freezeCount = entry.freezeCount ?? 0;
        result.totalFreezesDuration = entry.totalFreezesDuration ?? 0;
        result.totalInterFrameDelay = entry.totalInterFrameDelay ?? 0;
        result.timestamp = entry.timestamp;
        result.packetsLost += entry.packetsLost ?? 0;
        result.bytesReceived += entry.bytesReceived ?? 0;
        result.width = entry.frameWidth ?? 0;
        result.codec = report.get(entry.codecId)?.mimeType ?? "";
      } else if (entry.type === "inbound-rtp" && entry.kind === "audio") {
        result.totalAudioEnergy = entry.totalAudioEnergy ?? 0;
        result.totalSamplesReceived = entry.totalSamplesReceived ?? 0;
        result.concealedSamples = entry.concealedSamples ?? 0;
        result.packetsLost += entry.packetsLost ?? 0;
        result.bytesReceived += entry.bytesReceived ?? 0;
      }
    });
    return { ...result, ...this.path(report) };
  }

  // The path in use: the player's own address and port, the gateway's address, and the protocol. Several pairs may be
  // nominated, so the transport says which one it uses; Firefox marks the pair itself.
  path(report) {
    const entries = [...report.values()];
    const transport = entries.find(({ type, selectedCandidatePairId }) => type === "transport" && selectedCandidatePairId);
    const pair = transport
      ? report.get(transport.selectedCandidatePairId)
      : entries.find(({ type, selected }) => type === "candidate-pair" && selected);
    const [local, remote] = [report.get(pair?.localCandidateId), report.get(pair?.remoteCandidateId)];
    return {
      address: local?.address ?? "", port: local?.port ?? 0, gatewayAddress: remote?.address ?? "",
      protocol: remote?.protocol ?? "",
    };
  }

  // Restarts ICE the way WHEP has it: PATCH with the new credentials, the gateway's own in the answer.
  async restartICE() {
    this.pc.restartIce();
    await this.pc.setLocalDescription();
    const value = (sdp, name) => sdp.match(new RegExp(`^a=${name}:(.*)$`, "m"))[1].trim();
    const offer = this.pc.localDescription.sdp;
    const response = await fetch(this.resource, {
      method: "PATCH",
      headers: { ...this.headers, "content-type": "application/trickle-ice-sdpfrag", "if-match": "*" },
      body: ["ice-ufrag", "ice-pwd"].map((name) => `a=${name}:${value(offer, name)}\r\n`).join(""),
    });
    const fragment = await response.text();
    if (response.status !== 200) throw new Error(`restart: ${response.status} ${fragment}`);
    const before = this.tag;
    this.tag = response.headers.get("etag");
    // The first section carries the transport, and the candidates with it.
    const candidates = fragment.match(/^a=candidate:.*$/gm).map((line) => line.trim() + "\r\n").join("");
    let isFirst = true;
    const answer = this.pc.remoteDescription.sdp
      .replace(/^a=candidate:.*\r\n/gm, "")
      .replace(/^a=ice-ufrag:.*\r\n/gm, () => {
        const line = `a=ice-ufrag:${value(fragment, "ice-ufrag")}\r\n`;
        const lines = isFirst ? line + candidates : line;
        isFirst = false;
        return lines;
      })
      .replace(/^a=ice-pwd:.*$/gm, "a=ice-pwd:" + value(fragment, "ice-pwd"));
    await this.pc.setRemoteDescription({ type: "answer", sdp: answer });
    return { before, after: this.tag, hosts: [...fragment.matchAll(/^a=candidate:\S+ 1 udp \d+ (\S+) /gim)].map(([, host]) => host) };
  }

  get connectionState() {
    return this.pc.iceConnectionState;
  }

  async stop() {
    this.pc?.getSenders().forEach(({ track }) => track?.stop());
    this.pc?.close();
    this.video?.remove();
    if (this.resource) await fetch(this.resource, { method: "DELETE", headers: this.headers });
    else if (this.session) await this.command("stopLiveView").catch(() => {});
  }
};

// The answer with the candidates of one transport only (`transport`), with another one in place of all (`only`), or with one more (`also`).
function withCandidates(answer, { transport, only, also }) {
  let found = answer;
  if (only) {
    // The first section carries the transport.
    found = found.replace(/^a=candidate:.*\r\n/gm, "").replace(/^a=ice-ufrag:.*\r\n/m, (line) => `${line}a=candidate:${only}\r\n`);
  }
  if (transport) {
    found = found.replace(/^a=candidate:\S+ \d+ (\S+) .*\r\n/gm, (line, name) => (name === transport ? line : ""));
    if (!found.includes("a=candidate:")) throw new Error(`no candidate has the transport ${transport}`);
  }
  return also ? found.replace(/^a=candidate:.*\r\n/m, (line) => `${line}a=candidate:${also}\r\n`) : found;
}
