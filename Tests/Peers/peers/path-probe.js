// Measures inside the gateway's page how a view starts and by which path. It runs after page-probe.js and before the page's own
// scripts, and defines globalThis.pathProbe. All times are milliseconds by performance.now(), which starts at the navigation.
globalThis.pathProbe = (() => {
  const connections = [];
  let transport = null;
  let decoded = null;

  // The time of the first picture that leaves the decoder. Statistics are up to 50 ms old, and a video shows a picture only with
  // the next refresh of the screen.
  async function watch(track) {
    const reader = new MediaStreamTrackProcessor({ track }).readable.getReader();
    const { value } = await reader.read();
    if (!value) return;
    decoded ??= performance.now();
    value.close();
    await reader.cancel();
  }

  const isOther = (line) => line.startsWith("a=candidate:") && line.split(" ")[2] !== transport;

  const Connection = globalThis.RTCPeerConnection;
  globalThis.RTCPeerConnection = class extends Connection {
    constructor(...given) {
      super(...given);
      connections.push(this);
      this.addEventListener("track", ({ track }) => { if (track.kind === "video") watch(track); });
    }

    setRemoteDescription({ type, sdp }) {
      const lines = sdp.split("\r\n").filter((line) => transport === null || !isOther(line));
      return super.setRemoteDescription({ type, sdp: lines.join("\r\n") });
    }
  };

  // The candidate pair that a connection uses.
  async function pairOf(connection) {
    const report = await connection.getStats();
    const ice = [...report.values()].find(({ type, selectedCandidatePairId }) => type === "transport" && selectedCandidatePairId);
    const pair = ice && report.get(ice.selectedCandidatePairId);
    const [local, remote] = [report.get(pair?.localCandidateId), report.get(pair?.remoteCandidateId)];
    if (!local || !remote) return null;
    return {
      local: local.candidateType, relay: local.relayProtocol ?? "", remote: remote.candidateType,
      protocol: remote.protocol, port: remote.port,
    };
  }

  const probe = {};

  /** From now on, the page gets only the gateway's candidates with this transport. */
  probe.keepOnly = (name) => { transport = name; };

  /**
   * How the first view started, as soon as its picture is shown: when it was asked for, answered, decoded and shown, the
   * candidate pair, and the number of connections. If no picture comes in this time: the state of each connection.
   */
  probe.start = async (patience) => {
    const end = performance.now() + patience;
    while (performance.now() < end) {
      const [shown] = globalThis.pageProbe.pictures("video").flat();
      const request = performance.getEntriesByType("resource").find(({ name }) => name.endsWith("/commands/startLiveView"));
      if (shown !== undefined && decoded !== null && request) {
        const pair = await pairOf(connections.at(-1));
        return {
          asked: request.startTime, answered: request.responseEnd, decoded, shown, pair, connections: connections.length,
        };
      }
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
    return { states: connections.map(({ iceConnectionState, connectionState }) => `${iceConnectionState}, ${connectionState}`) };
  };

  return probe;
})();
