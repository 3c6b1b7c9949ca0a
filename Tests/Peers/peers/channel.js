// A viewer with data channels inside a browser. Defines window.GatehouseChannels.
window.GatehouseChannels = class {
  constructor(token) {
    this.headers = { authorization: "Bearer " + token };
    this.messages = [];
    this.requests = new Map();
    this.closed = [];
  }

  // options: device; lines: for example ["audio", "data", "video"], in the order of the m-lines; labels of the channels;
  // channel: the channels' options; microphone: true to send one; configuration of the connection.
  async open({ device, lines = ["data"], labels = ["data"], channel = {}, microphone, configuration }) {
    this.device = device;
    this.pc = new RTCPeerConnection(configuration);
    for (const line of lines) {
      if (line === "data") {
        this.channels = labels.map((label) => this.add(label, channel));
      } else {
        const direction = microphone && line === "audio" ? "sendrecv" : "recvonly";
        const { sender } = this.pc.addTransceiver(line, { direction });
        if (direction === "sendrecv") {
          const media = await navigator.mediaDevices.getUserMedia({ audio: true });
          await sender.replaceTrack(media.getAudioTracks()[0]);
        }
      }
      // An m-line that has been described keeps its place. Otherwise browsers write the data channels last.
      await this.pc.setLocalDescription();
    }
    const kinds = [...this.pc.localDescription.sdp.matchAll(/^m=(\w+)/gm)].map(([, kind]) => kind);
    this.order = kinds.map((kind) => (kind === "application" ? "data" : kind));
    const response = await fetch("/whep/" + device, {
      method: "POST",
      headers: { ...this.headers, "content-type": "application/sdp" },
      body: this.pc.localDescription.sdp,
    });
    const answer = await response.text();
    if (response.status !== 201) throw new Error(`${response.status} ${answer}`);
    this.resource = response.headers.get("location");
    this.answer = answer;
    await this.pc.setRemoteDescription({ type: "answer", sdp: answer });
    await this.until(() => this.channels.every(({ readyState }) => readyState === "open"), "the channels are open");
    return this.kinds();
  }

  add(label, options) {
    const channel = this.pc.createDataChannel(label, options);
    channel.addEventListener("message", ({ data }) => {
      const message = JSON.parse(data);
      if ("id" in message) {
        this.requests.get(message.id)?.(message);
      } else {
        this.messages.push({ channel: label, ...message });
      }
    });
    channel.addEventListener("close", () => this.closed.push(label));
    return channel;
  }

  // Sends a request on a channel, and answers what comes back.
  request(method, params, index = 0) {
    const id = this.requests.size + 1;
    const answer = new Promise((resolve) => this.requests.set(id, resolve));
    this.channels[index].send(JSON.stringify({ id, method, params }));
    return answer;
  }

  // Sends a text as it is.
  say(text, index = 0) {
    const answer = new Promise((resolve) => this.requests.set(null, resolve));
    this.channels[index].send(text);
    return answer;
  }

  // The kinds of messages that have come, by channel.
  async kinds() {
    const come = () => this.channels.every(({ label }) => this.of(label).length >= 3);
    await this.until(come, "each channel has heard the state");
    return Object.fromEntries(this.channels.map(({ label }) => [label, this.of(label).sort()]));
  }

  of(label) {
    return [...new Set(this.messages.filter(({ channel }) => channel === label).map(({ type }) => type))];
  }

  // The newest message of a kind.
  newest(type) {
    return this.messages.findLast((message) => message.type === type);
  }

  // Waits for a message of a kind whose member has a value.
  async expect(type, member, value) {
    await this.until(() => this.newest(type)?.[member] === value, `${type}.${member} is ${value}`);
    return this.newest(type);
  }

  async until(isSo, what) {
    const began = performance.now();
    while (!isSo()) {
      if (performance.now() - began > 80000) {
        const states = this.channels.map(({ readyState }) => readyState);
        throw new Error(`not within 80 s: ${what}; ${states} ${JSON.stringify(this.messages)} ${this.pc.connectionState}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  // Closes one channel, and opens another one of the same name.
  async reopen(index = 0) {
    const { label } = this.channels[index];
    this.channels[index].close();
    await this.until(() => this.closed.includes(label), "the channel is closed");
    this.messages = this.messages.filter(({ channel }) => channel !== label);
    this.channels[index] = this.add(label, {});
    await this.until(() => this.channels[index].readyState === "open", "the channel is open again");
    return this.kinds();
  }

  async stop() {
    if (this.resource) await fetch(this.resource, { method: "DELETE", headers: this.headers });
    this.pc?.close();
    return 0;
  }
};
