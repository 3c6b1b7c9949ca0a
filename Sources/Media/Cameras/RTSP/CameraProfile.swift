import DatagramPort
import RTSP
import Transport

/// What was learnt about one camera at earlier connections. The next connection begins with what works.
///
/// It holds no secret. ``fields`` and ``init(fields:)`` convert it to text and back, for storage.
public struct CameraProfile: Sendable, Hashable {
    /// The transport of the camera's packets.
    public enum Transport: String, Sendable, Hashable, CaseIterable {
        /// The connection of the requests.
        case tcp
        /// UDP, to a pair of ports for each track.
        case udp
        /// The connection of the requests, inside HTTP.
        case http
    }

    /// What became of asking for a back channel (`Require: www.onvif.org/ver20/backchannel`).
    public enum BackChannelSupport: String, Sendable, Hashable, CaseIterable {
        /// The camera describes a speaker.
        case described
        /// It answers, but describes no speaker.
        case absent
        /// It refuses the request, but describes itself without it.
        case refused
        /// It does not answer the request, or ends the connection. So it is not asked again.
        case breaksConnection = "breaks-connection"
    }

    /// A known deviation of the camera from the standards, which the gateway tolerates.
    public enum Quirk: String, Sendable, Hashable, CaseIterable, Comparable {
        /// A `Transport` answer without the port that packets come from.
        case missingServerPort = "missing-server-port"
        /// Packets that come from a port other than the one in the `Transport` answer.
        case wrongServerPort = "wrong-server-port"
        /// A `source` in the `Transport` answer that is not where packets come from.
        case wrongSource = "wrong-source"
        /// Interleaved channels other than the requested ones.
        case otherChannels = "other-channels"
        /// Channels of the connection in answer to a request for UDP.
        case connectionInsteadOfDatagrams = "connection-instead-of-datagrams"
        /// RTCP on the port or channel of RTP.
        case controlOnMediaPort = "control-on-media-port"
        /// Stray bytes between the packets.
        case garbageBetweenPackets = "garbage-between-packets"
        /// Packets with a payload type other than the session description's.
        case otherPayloadType = "other-payload-type"
        /// A sound track that goes silent while the picture continues.
        case soundStops = "sound-stops"
        /// No second session while one plays: a talk goes over the source's own session, which restarts for it.
        case oneSession = "one-session"
        /// It offers Digest, refuses it, and accepts Basic with the same credentials.
        case brokenDigest = "broken-digest"
        /// A clock that jumped or ran backwards.
        case clockLeaps = "clock-leaps"
        /// A clock that runs at a rate other than the session description's, so that times of arrival are used instead.
        case wrongClockRate = "wrong-clock-rate"

        public static func < (left: Quirk, right: Quirk) -> Bool { left.rawValue < right.rawValue }
    }

    /// The transport that carried packets the last time; nil while none has come.
    public var transport: Transport?
    /// The keep-alive that the camera accepts.
    public var keepAlive: RTSPKeepAlive?
    /// The kinds of keep-alive that ended sessions, or did not keep them alive.
    public var avoidedKeepAlives: Set<RTSPKeepAlive> = []
    /// What became of asking for a back channel.
    public var backChannel: BackChannelSupport?
    /// How the camera asks for credentials, for example `Digest MD5`.
    public var authentication: String?
    /// Whether the camera has accepted credentials by Digest. From then on the password itself is not sent.
    public var takesDigest = false
    /// The SHA-256 fingerprint of the camera's certificate in hexadecimal with colons, where it uses TLS.
    public var certificateFingerprint: String?
    /// The camera's known deviations from the standards.
    public var quirks: Set<Quirk> = []

    /// Nothing is known.
    public init() {}
}

extension CameraProfile {
    /// The profile as names and values, the same for the same profile. Unknown values are left out.
    public var fields: [String: String] {
        var fields: [String: String] = [:]
        fields["transport"] = transport?.rawValue
        fields["keepAlive"] = keepAlive?.rawValue
        fields["avoidedKeepAlives"] = Self.list(avoidedKeepAlives.map(\.rawValue))
        fields["backChannel"] = backChannel?.rawValue
        fields["authentication"] = authentication
        fields["takesDigest"] = takesDigest ? "yes" : nil
        fields["certificateFingerprint"] = certificateFingerprint
        fields["quirks"] = Self.list(quirks.map(\.rawValue))
        return fields
    }

    /// Reads what ``fields`` wrote. Unknown names are ignored, so an older gateway can read a newer one's profile.
    public init(fields: [String: String]) {
        // Profiles of earlier versions call the transport `carriage`.
        transport = (fields["transport"] ?? fields["carriage"]).flatMap { Transport(rawValue: $0) }
        keepAlive = fields["keepAlive"].flatMap { RTSPKeepAlive(rawValue: $0) }
        avoidedKeepAlives = Set(Self.words(fields["avoidedKeepAlives"]).compactMap { RTSPKeepAlive(rawValue: $0) })
        backChannel = fields["backChannel"].flatMap { BackChannelSupport(rawValue: $0) }
        authentication = fields["authentication"]
        // Profiles of earlier versions name only the scheme.
        takesDigest = fields["takesDigest"] == "yes" || authentication?.hasPrefix("Digest") == true
        certificateFingerprint = fields["certificateFingerprint"]
        quirks = Set(Self.words(fields["quirks"]).compactMap { Quirk(rawValue: $0) })
    }

    private static func list(_ words: [String]) -> String? {
        words.isEmpty ? nil : words.sorted().joined(separator: " ")
    }

    private static func words(_ text: String?) -> [String] {
        (text ?? "").split(separator: " ").map(String.init)
    }
}

/// What a source has found out about its camera, readable from other threads.
///
/// It is separate from the source, so that the source's thread never holds the source itself: the source's end would
/// wait for the thread.
final class SourceFindings: Sendable {
    struct State {
        var notes: [CameraNote] = []
        /// Which parts of the camera's address are not followed, and why.
        var addressNotes: [CameraNote] = []
        var profile: CameraProfile
        var backChannel: BackChannelDescription?
        var transport = RTSPTransportInUse()
        var silentTracks: Set<Int> = []
        var lastSurrender: SourceState?
        var inquiry: BackChannelInquiry
    }

    /// When the camera is tried again. It outlives the source's thread.
    let circuit = Locked(CircuitBreaker())
    private let state: Locked<State>
    private let sharedLogins = Locked(Locked(LoginLedger()))
    private let profileChanged: (@Sendable (CameraProfile) -> Void)?

    init(profile: CameraProfile, profileChanged: (@Sendable (CameraProfile) -> Void)?) {
        state = Locked(State(profile: profile, inquiry: BackChannelInquiry(at: MonotonicClock.now)))
        self.profileChanged = profileChanged
        if profile.takesDigest { logins.withLock { $0.takesDigest = true } }
    }

    var notes: [CameraNote] {
        state.withLock { state in
            let notes = state.addressNotes + state.notes
            guard let earlier = state.transport.earlierCertificateFingerprint else { return notes }
            return [CameraNote.certificateChanged(earlierFingerprint: earlier)] + notes
        }
    }
    var profile: CameraProfile { state.withLock { $0.profile } }
    var backChannel: BackChannelDescription? { state.withLock { $0.backChannel } }
    var transport: RTSPTransportInUse { state.withLock { $0.transport } }

    /// The state that was reported when the circuit last opened.
    var lastSurrender: SourceState? { state.withLock { $0.lastSurrender } }
    func surrender(_ told: SourceState) { state.withLock { $0.lastSurrender = told } }

    /// The outcome of logins with the camera's credentials. Sources with the same credentials share it.
    var logins: Locked<LoginLedger> { sharedLogins.withLock { $0 } }
    func share(_ logins: Locked<LoginLedger>) { sharedLogins.withLock { $0 = logins } }

    /// Records that the camera has accepted credentials by Digest.
    func recordDigest() {
        learn { $0.takesDigest = true }
        logins.withLock { $0.takesDigest = true }
    }

    /// Whether the password itself must not be sent to the camera (Basic) at an address with this scheme, because it
    /// has accepted Digest before. With TLS the holder of the certificate can read the password, so a certificate that
    /// has changed since is treated as none.
    func refusesBasic(isSecure: Bool) -> Bool {
        let takesDigest = profile.takesDigest || logins.withLock { $0.takesDigest }
        return takesDigest && !(isSecure && transport.earlierCertificateFingerprint == nil)
    }

    var silentTracks: Set<Int> { state.withLock { $0.silentTracks } }

    func setSilent(_ track: Int, _ isSilent: Bool) {
        state.withLock { state in
            if isSilent { state.silentTracks.insert(track) } else { state.silentTracks.remove(track) }
        }
    }

    /// Whether to ask the camera for its back channel.
    func mayAskForBackChannel(at now: Instant) -> Bool {
        state.withLock { $0.inquiry.mayAsk($0.profile.backChannel, at: now) }
    }

    /// Records the outcome of asking for the back channel; `judge` returns what to learn from it, if anything.
    func inquire(
        _ judge: (inout BackChannelInquiry, CameraProfile.BackChannelSupport?) -> CameraProfile.BackChannelSupport?
    ) {
        let verdict = state.withLock { judge(&$0.inquiry, $0.profile.backChannel) }
        if let verdict { learn { $0.backChannel = verdict } }
    }

    func recordAddress(_ note: CameraNote) { state.withLock { $0.addressNotes.append(note) } }
    func record(_ notes: [CameraNote]) { state.withLock { $0.notes = notes } }
    func set(_ backChannel: BackChannelDescription?) { state.withLock { $0.backChannel = backChannel } }
    func use(_ change: @Sendable (inout RTSPTransportInUse) -> Void) { state.withLock { change(&$0.transport) } }

    /// Changes the profile, and notifies the owner where that made a difference.
    func learn(_ change: @Sendable (inout CameraProfile) -> Void) {
        let changed = state.withLock { state -> CameraProfile? in
            let before = state.profile
            change(&state.profile)
            return state.profile == before ? nil : state.profile
        }
        if let changed { profileChanged?(changed) }
    }
}

/// How a running source reaches its camera.
public struct RTSPTransportInUse: Sendable, Hashable {
    /// The transport of the packets; nil before the camera plays.
    public var kind: CameraProfile.Transport?
    /// Whether the connection goes through TLS.
    public var isSecure = false
    /// The keep-alive in use; nil before the camera plays.
    public var keepAlive: RTSPKeepAlive?
    /// The earlier fingerprint, where the camera's certificate has changed.
    public var earlierCertificateFingerprint: String?

    /// Nothing yet.
    public init() {}
}
