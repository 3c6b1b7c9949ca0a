import Cameras
import HomeTypes
import MediaRelay
import SCTP
import SDP
import Stations
import Transport

/// Decides what a viewer gets from a camera for its offer. It answers live views over the API and WHEP. `gatehouse sdp`
/// uses the same value, so the command prints what the gateway does.
public struct LiveViewNegotiation: Sendable {
    /// What was agreed on.
    public struct Agreement: Sendable {
        /// The answer and its meaning.
        public var session: NegotiatedSession
        /// Which parts of the offer are not used, and why the gateway does not transcode a track.
        var generalNotes: [SessionNote]
        /// The camera's tracks, and those that the gateway can make of them.
        var tracks: [StationTrack]
        /// All tracks that the viewer was offered.
        var offered: [OfferedTrack]

        /// Which parts of the offer are not used, and which of the camera's tracks the gateway transcodes.
        public var notes: [SessionNote] {
            generalNotes + session.media.compactMap { track(for: $0)?.transcodingNote(among: tracks) }
        }

        /// The track that an agreed media section sends; nil if it sends nothing.
        func track(for media: NegotiatedMedia) -> StationTrack? {
            media.direction.sends ? offered.first { $0.local.ssrc == media.ssrc }?.track : nil
        }
    }

    /// The camera's identifier.
    let camera: String
    /// The tracks that viewers can be given.
    let layout: TrackLayout
    /// Whether the camera has a speaker.
    let speaks: Bool
    /// Whether video that a viewer cannot play is transcoded to VP8.
    let transcodesVideo: Bool

    init(camera: String, layout: TrackLayout, speaks: Bool, transcodesVideo: Bool) {
        self.camera = camera
        self.layout = layout
        self.speaks = speaks
        self.transcodesVideo = transcodesVideo
    }

    /// Describes a camera.
    /// - Parameters:
    ///   - camera: its identifier, which appears in answers.
    ///   - tracks: what it sends.
    ///   - speaks: whether it has a speaker.
    ///   - transcodesVideo: whether video that a viewer cannot play is transcoded to VP8.
    public init(camera: String, tracks: [TrackDescription], speaks: Bool, transcodesVideo: Bool) {
        self.init(
            camera: camera,
            layout: TrackLayout(
                camera: camera, tracks: tracks, transcodesVideo: transcodesVideo ? .automatic : .never),
            speaks: speaks, transcodesVideo: transcodesVideo)
    }

    /// Answers an offer.
    /// - Parameters:
    ///   - local: the gateway's ICE credentials, certificate and candidates.
    ///   - hint: the size of picture that the viewer would like.
    ///   - random: the generator of the sources' numbers.
    public func answer(
        _ offer: SessionDescription, local: LocalTransportDescription, hint: QualityHint? = nil,
        random: inout RandomSource
    ) throws(OfferRefusal) -> Agreement {
        let offered = offeredTracks(hint, &random)
        let hasPicture = offered.contains { $0.track.description.kind == .video }
        // With nothing but B-frames, there is nothing that the answerer could use.
        let lacksPicture =
            offer.wantsVideo && !hasPicture && layout.tracks.contains { $0.description.kind == .video }
        let session: NegotiatedSession
        do throws(NegotiationError) {
            session = try LiveViewAnswerer(
                local: local, tracks: offered.map(\.local), dataChannels: Self.dataChannels
            ).answer(offer)
        } catch {
            switch error {
            case .codecMismatch:
                guard offer.media.contains(where: { $0.kind == .video && !$0.isRejected }) else {
                    throw OfferRefusal(.noCommonCodec(error), line: offer.lineOfMedia { $0.kind == .audio })
                }
                throw mismatch(offer)
            case .noUsableMedia where lacksPicture: throw mismatch(offer)
            case .invalidDescription, .unusableTransport, .noUsableMedia:
                throw OfferRefusal(invalid: error, in: offer)
            }
        }
        // A black picture with sound does not show what is wrong.
        if lacksPicture { throw mismatch(offer) }
        let hasOnlyData = session.dataChannels != nil && !offer.asksForMedia
        guard hasOnlyData || session.media.contains(where: \.direction.sends) else {
            throw nothingToSend(offer, session)
        }
        return Agreement(
            session: session,
            generalNotes: session.notes.map(SessionNote.offer) + layout.faults.map(SessionNote.camera),
            tracks: layout.tracks, offered: offered)
    }

    /// What the gateway's data channels accept.
    private static let dataChannels: LocalDataChannels = {
        let limits = SCTPEndpoint.Limits()
        return LocalDataChannels(
            port: SCTPEndpoint.usualPort, streams: limits.streams, maximumMessageSize: limits.messageBytes)
    }()

    /// Why nothing would flow to the viewer, although the offer was understood.
    private func nothingToSend(_ offer: SessionDescription, _ session: NegotiatedSession) -> OfferRefusal {
        let sections = offer.media.indices.filter { index in
            let section = offer.media[index]
            return !section.isRejected && (section.kind == .audio || section.kind == .video)
        }
        let unserved = sections.map { index -> UnservedMedia in
            if let note = session.note(ofMediaAt: index) { return .noted(note) }
            let media = NegotiationNote.Media(index: index, label: offer.label(ofMediaAt: index))
            return switch offer.direction(of: offer.media[index]) {
            case .sendonly: .onlySends(media)
            case .inactive: .inactive(media)
            case .recvonly, .sendrecv: .noPlayableCodec(media)
            }
        }
        let line = offer.lineOfMedia { _ in true }
        guard sections.contains(where: { offer.direction(of: offer.media[$0]).receives }) else {
            return OfferRefusal(.asksForNothing(camera: camera, media: unserved), line: line)
        }
        return OfferRefusal(.playsNothing(camera: camera, media: unserved, faults: layout.faults), line: line)
    }
}

extension LiveViewNegotiation {
    /// What a viewer can be given from a camera, the best of each kind first: tracks that are passed through before
    /// those that the gateway has to make, and the main stream before the smaller one, unless the viewer prefers a
    /// small picture.
    static func ranked(_ tracks: [StationTrack], hint: QualityHint?) -> [StationTrack] {
        let prefersSub = hint == .sd
        // Browsers stutter on B-frames, so they cannot play such a stream.
        let playable = tracks.filter { $0.derivedFrom != nil || !$0.description.reordersPictures }
        func rank(_ position: Int) -> (Int, Int, Int, Int) {
            let track = playable[position]
            let isDerived = track.derivedFrom == nil ? 0 : 1
            let isOtherStream = (track.description.stream == .sub) == prefersSub ? 0 : 1
            // Among sound that can be passed through, Opus is the best; otherwise the camera's own first choice.
            let codec = track.description.kind == .audio && !track.description.codec.isNamed("opus") ? 1 : 0
            return (isDerived, codec, isOtherStream, position)
        }
        return playable.indices.sorted { rank($0) < rank($1) }.map { playable[$0] }
    }

    /// The tracks in the form that the answerer expects.
    func offeredTracks(_ hint: QualityHint?, _ random: inout RandomSource) -> [OfferedTrack] {
        Self.ranked(layout.tracks, hint: hint).map { track in
            let kind = track.description.kind
            let talks = kind == .audio && speaks
            return OfferedTrack(
                track: track,
                local: LocalTrack(
                    kind: kind, codecs: [track.description.codec], receives: talks,
                    receiveCodecs: talks ? Self.talkbackCodecs : [],
                    ssrc: UInt32(truncatingIfNeeded: random.next()) | 1,
                    rtxSSRC: kind == .audio ? nil : UInt32(truncatingIfNeeded: random.next()) & ~1,
                    cname: camera, streamID: "\(camera)-\(kind.name)",
                    trackID: track.id.description, choice: kind.name))
        }
    }

    /// What the gateway can decode of a viewer's microphone, the best codec first.
    private static let talkbackCodecs: [MediaCodec] = [.opus, .pcmu, .pcma]

    /// Why a viewer can play no picture from a camera, and what would help.
    func mismatch(_ offer: SessionDescription) -> OfferRefusal {
        let own = layout.tracks.filter { $0.derivedFrom == nil && $0.description.kind == .video }
        var played: [MediaCodec] = []
        for payload in offer.media.filter({ $0.kind == .video }).flatMap(\.payloads) where !payload.codec.isAuxiliary {
            if !played.contains(where: { $0.summary == payload.codec.summary }) { played.append(payload.codec) }
        }
        var remedies: [VideoMismatch.Remedy] = []
        if !transcodesVideo {
            remedies.append(.allowTranscoding)
        } else if !played.contains(where: { $0.summary.lowercased() == "vp8" }) {
            remedies.append(.useViewerWithVP8)
        }
        if !own.contains(where: { $0.description.stream == .sub }) { remedies.append(.addSubstream) }
        remedies.append(.changeCodec)
        let mismatch = VideoMismatch(
            camera: camera, sent: own.map(\.description), played: played, remedies: remedies,
            faults: layout.faults)
        return OfferRefusal(.noPlayableVideo(mismatch), line: offer.lineOfMedia { $0.kind == .video })
    }
}

/// A track that a viewer is offered, and how it is named to the viewer.
struct OfferedTrack {
    var track: StationTrack
    var local: LocalTrack
}

extension StationTrack {
    /// What a person should know about a track that the gateway makes; nil for the camera's own.
    func transcodingNote(among tracks: [StationTrack]) -> SessionNote? {
        guard let origin = derivedFrom, let source = tracks.first(where: { $0.id == origin }) else { return nil }
        return .transcoded(
            description.kind, from: source.description.codec.name, hasBFrames: source.description.reordersPictures,
            to: description.codec.name)
    }
}
