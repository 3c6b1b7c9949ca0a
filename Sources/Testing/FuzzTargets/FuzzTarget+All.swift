extension FuzzTarget {
    /// Every target of the floors that need no packages, in the order of the floors.
    public static let all: [FuzzTarget] = [
        sdp, negotiation, trickle, stun, reflexiveAddresses, turn, multicastDNS, portMapping, framedStream, rtp, rtcp,
        frames, av1, sound, reordering,
        rtspStream, rtspClient, rtspTunnel, rtspHeaders, rtspServer, httpAnswer, httpPictures, streams, rtmpServer,
        soap, onvifEvents,
        ice, srtp, dtls, sctp, camera, speech,
        pictures, wav, mp4, recordingFiles, uploads, uploadEndpoint, mqtt, automations, runs,
    ]
}
