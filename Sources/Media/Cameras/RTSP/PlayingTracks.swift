import RTSP
import SDP
import Transport

/// What carries a track's packets.
enum TrackCarrier {
    case channels(media: UInt8, control: UInt8)
    case datagrams(DatagramPair)
}

/// The tracks of a session while their transport is agreed on.
struct TrackAgreement {
    /// What the camera has described. Each SETUP is for one of its tracks.
    var camera: CameraDescription
    /// The requested channels; empty for the usual ones.
    let channels: [UInt8]
    /// The ports for each track, where UDP is requested.
    var pairs: [DatagramPair] = []
    /// What the camera has agreed to. Tracks are numbered as they are announced: those that it refused do not count.
    var agreed: [(track: Int, carrier: TrackCarrier)] = []

    /// The tracks that the camera has agreed to send.
    var tracks: [CameraDescription.Track] { agreed.map { camera.tracks[$0.track] } }

    /// The channels to ask for, the last one for a speaker; empty for the usual ones. A camera that names no control
    /// for several tracks can distinguish them only by their position in the session description.
    static func channels(of camera: CameraDescription) -> [UInt8] {
        guard camera.hasSharedControl else { return [] }
        let positions = camera.tracks.map { UInt8(clamping: $0.mediaIndex * 2) }
        return positions + [(positions.max() ?? 0) &+ 2]
    }
}

/// The tracks of a session that plays. It stays on the source's thread, where each packet changes it in place.
final class PlayingTracks {
    /// What an interleaved channel carries.
    enum Channel {
        case none
        case media(track: Int)
        case control(track: Int)
    }

    struct TrackState {
        let carrier: TrackCarrier
        /// The payload type of the camera's description.
        let describedPayloadType: UInt8
        var lastPacket: Instant?
        var lastKeyFrameRequest: Instant?
        /// The session description or the stream has stated the profile of H.264 or H.265.
        var hasProfile: Bool
        /// A sender report that has come in the coalesced read that goes on.
        var heldReport: HeldReport?
        /// The track has been silent for a while, though the first track flows.
        var isSilent = false
    }

    private(set) var channels = [Channel](repeating: .none, count: 256)
    /// Several tracks share one channel.
    private(set) var sharesChannels = false
    var tracks: [TrackState]
    /// The ports of the tracks that come over UDP. The others' ports are closed: nothing would read them, and a datagram
    /// that waits there would keep the thread awake forever.
    let pairs: [DatagramPair]
    /// The transport of the first track.
    let transport: CameraProfile.Transport
    /// When the camera agreed to play.
    let since: Instant
    /// When the first packet of the first track came.
    var flowingSince: Instant?
    var nextReport: Instant
    /// Memory for the largest possible datagram, where datagrams come.
    let datagram: DatagramBuffer?

    init(
        _ agreement: TrackAgreement, requested transport: CameraProfile.Transport, nextReport: Instant, at now: Instant
    ) {
        let described = agreement.tracks.map(\.description)
        tracks = zip(agreement.agreed, described).map { agreed, description in
            TrackState(
                carrier: agreed.carrier, describedPayloadType: description.payloadType,
                hasProfile: description.codec.statesProfile)
        }
        pairs = agreement.agreed.compactMap { if case .datagrams(let pair) = $0.carrier { pair } else { nil } }
        self.transport =
            if transport == .udp, case .channels? = agreement.agreed.first?.carrier { .tcp } else { transport }
        since = now
        self.nextReport = nextReport
        datagram = pairs.isEmpty ? nil : DatagramBuffer()
        for (index, track) in agreement.agreed.enumerated() {
            guard case .channels(let media, let control) = track.carrier else { continue }
            // A camera that names the same channels for every track sends them all there. Their payload types
            // distinguish them.
            if case .media = channels[Int(media)] {
                sharesChannels = true
                continue
            }
            channels[Int(media)] = .media(track: index)
            if control != media { channels[Int(control)] = .control(track: index) }
        }
        // Such a camera may use the channels in an order other than the requested one.
        let payloadTypes = described.map(\.payloadType)
        if !agreement.channels.isEmpty, Set(payloadTypes).count == payloadTypes.count { sharesChannels = true }
    }
}

extension MediaCodec {
    /// Whether the parameters state the profile, where the codec has one.
    fileprivate var statesProfile: Bool {
        switch name.lowercased() {
        case "h264": formatParameters["profile-level-id"] != nil
        case "h265": formatParameters["profile-id"] != nil
        default: true
        }
    }
}

/// Memory for the largest possible datagram.
final class DatagramBuffer {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)

    deinit { bytes.deallocate() }
}
