import DTLS
import DatagramPort
import ICE
import PeerConnection
import SDP
import Transport

/// A live view that this side offers. Its socket is open and its offer is written, but the answer has not arrived yet.
public struct OfferedView: Sendable {
    /// What to ask for.
    public struct Wishes: Sendable {
        /// Whether to offer a microphone.
        public var talks = false
        /// The video codecs, the most preferred first.
        public var videoCodecs: [MediaCodec] = LiveViewOfferer.videoCodecs
        /// The audio codecs, the most preferred first.
        public var audioCodecs: [MediaCodec] = LiveViewOfferer.audioCodecs
        /// The feedback to offer.
        public var feedback: FeedbackMessages = .all
        /// Whether only addresses of this machine are offered.
        public var isLocal = false
        /// The STUN servers to ask for the addresses at which they see the socket. These addresses are also offered.
        /// The offer waits for the servers for at most a second, and asks at most 8.
        public var stunServers: [TransportAddress] = []

        /// Sound and picture.
        public init() {}
    }

    /// The offer to post.
    public let offerSdp: String
    let port: UDPPort
    let identity: DTLSIdentity
    let offerer: LiveViewOfferer
    let credentials: ICECredentials
    let addresses: ICEAddresses
    let ssrc: UInt32

    /// Opens a socket and writes the offer.
    public init(wishes: Wishes, identity: DTLSIdentity) throws {
        var random = RandomSource.system
        let port = try UDPPort(wishes.isLocal ? .loopback() : UDPPort.Configuration())
        credentials = ICECredentials(using: &random)
        var filter = HostAddressFilter()
        filter.includesLoopback = true
        let hosts = hostAddresses(filter).map { $0.address.withPort(port.localPort) }
            .filter { !wishes.isLocal || $0.isLoopback }
            .sorted { $0.isLoopback && !$1.isLoopback }
        addresses = ICEAddresses(
            hosts: hosts, reflexive: try port.reflexiveAddresses(by: wishes.stunServers, within: .seconds(1)))
        ssrc = UInt32(truncatingIfNeeded: random.next())
        var offerer = LiveViewOfferer(
            viewing: LocalTransportDescription(
                credentials: credentials, identity: identity, addresses: addresses),
            talks: wishes.talks, videoCodecs: wishes.videoCodecs, audioCodecs: wishes.audioCodecs,
            sessionID: random.next() >> 2, ssrc: ssrc, cname: random.iceCharacters(16))
        offerer.feedback = wishes.feedback
        self.port = port
        self.identity = identity
        self.offerer = offerer
        offerSdp = offerer.offer().encoded()
    }

    /// What offer and answer agree on.
    func accept(answerSdp: String) throws -> NegotiatedSession {
        try offerer.accept(answer: try SessionDescription(parsing: answerSdp))
    }

    func peerConfiguration(_ negotiated: NegotiatedSession) -> PeerConnectionConfiguration {
        var configuration = PeerConnectionConfiguration(
            negotiated, as: .offerer, credentials: credentials, addresses: addresses, identity: identity)
        configuration.reach = .everything
        configuration.timing = .persistent
        return configuration
    }
}
