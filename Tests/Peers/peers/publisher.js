// A publisher inside a browser: sends its fake camera and microphone by WHIP. Defines window.GatehousePublisher.
window.GatehousePublisher = class {
  constructor(token) {
    this.headers = { authorization: "Bearer " + token };
  }

  // options: device; codec, for example "H264", to offer that one alone; silent: true for a picture without sound, with
  // an audio line that sends nothing before it; configuration of the connection.
  async publish({ device, codec, silent, configuration }) {
    this.pc = new RTCPeerConnection(configuration);
    const media = await navigator.mediaDevices.getUserMedia({ audio: !silent, video: { width: 640, height: 480 } });
    if (silent) this.pc.addTransceiver("audio", { direction: "recvonly" });
    for (const track of media.getTracks()) {
      const transceiver = this.pc.addTransceiver(track, { direction: "sendonly", streams: [media] });
      if (track.kind !== "video") continue;
      const all = RTCRtpSender.getCapabilities("video").codecs;
      transceiver.setCodecPreferences(
        all.filter(({ mimeType }) => [`video/${codec}`, "video/rtx"].includes(mimeType)));
    }
    await this.pc.setLocalDescription();
    const response = await fetch("/whip/" + device, {
      method: "POST",
      headers: { ...this.headers, "content-type": "application/sdp" },
      body: this.pc.localDescription.sdp,
    });
    const answer = await response.text();
    if (response.status !== 201) throw new Error(`${response.status} ${answer}`);
    this.resource = response.headers.get("location");
    this.tag = response.headers.get("etag");
    await this.pc.setRemoteDescription({ type: "answer", sdp: answer });
    return this.resource;
  }

  // Restarts ICE (RFC 9725, section 4.3): PATCH with the new credentials, the gateway's own in the answer.
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
    const answer = this.pc.remoteDescription.sdp
      .replace(/^a=ice-ufrag:.*$/gm, "a=ice-ufrag:" + value(fragment, "ice-ufrag"))
      .replace(/^a=ice-pwd:.*$/gm, "a=ice-pwd:" + value(fragment, "ice-pwd"));
    await this.pc.setRemoteDescription({ type: "answer", sdp: answer });
    return { before, after: this.tag };
  }

  async stats() {
    const result = { framesEncoded: 0, packetsSent: 0, pliCount: 0, nackCount: 0, estimate: 0, roundTripTime: -1 };
    (await this.pc.getStats()).forEach((entry) => {
      if (entry.type === "outbound-rtp" && entry.kind === "video") {
        result.framesEncoded = entry.framesEncoded ?? 0;
        result.packetsSent = entry.packetsSent ?? 0;
        result.pliCount = entry.pliCount ?? 0;
        result.nackCount = entry.nackCount ?? 0;
      } else if (entry.type === "remote-inbound-rtp" && entry.kind === "video") {
        result.roundTripTime = entry.roundTripTime ?? -1;
      } else if (entry.type === "candidate-pair" && entry.nominated) {
        result.estimate = entry.availableOutgoingBitrate ?? 0;
      }
    });
    return result;
  }

  // Goes as a page does that is closed: without a word over HTTP.
  vanish() {
    this.pc?.getSenders().forEach(({ track }) => track?.stop());
    this.pc?.close();
  }

  async stop() {
    if (this.resource) await fetch(this.resource, { method: "DELETE", headers: this.headers });
    this.vanish();
  }
};
