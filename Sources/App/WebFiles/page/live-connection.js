/**
 * Makes the connection of a live view, with what it says to the view while the view has no newer one. Nothing is negotiated yet.
 * @param {import("./live-session.js").LiveSession} live
 * @returns {{ pc: RTCPeerConnection, audio: RTCRtpTransceiver, video: RTCRtpTransceiver }}
 */
export function makeConnection(live) {
  const { generation } = live;
  const { signal } = live.listening = new AbortController();
  const pc = new RTCPeerConnection({ iceServers: live.gateway.iceServers ?? [], bundlePolicy: "max-bundle" });
  // Sound goes both ways from the start, so that talking needs no second negotiation and no permission yet.
  const audio = pc.addTransceiver("audio", { direction: live.device.canTalk ? "sendrecv" : "recvonly" });
  const video = pc.addTransceiver("video", { direction: "recvonly" });
  const stream = new MediaStream();
  pc.addEventListener("track", ({ track, receiver }) => {
    if (generation !== live.generation) return;
    // Live means now: the browser should hold back as little as the network allows.
    if ("playoutDelayHint" in receiver) Reflect.set(receiver, "playoutDelayHint", 0);
    stream.addTrack(track);
    live.video.srcObject = stream;
    live.play();
  }, { signal });
  pc.addEventListener("iceconnectionstatechange", () => {
    if (generation !== live.generation) return;
    if (["connected", "completed"].includes(pc.iceConnectionState)) live.step("path found");
    live.change(live.state);
  }, { signal });
  pc.addEventListener("connectionstatechange", () => live.pathLoss.connectionChanged(pc, generation), { signal });
  // After an ICE restart, the candidates are for another one.
  pc.addEventListener("icecandidate", ({ candidate }) => {
    if (live.pc === pc) live.trickle?.add(candidate);
  }, { signal });
  return { pc, audio, video };
}
