import Cameras
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
        /// In words, which parts of the offer are not used, and why the gateway does not transcode a track.
        var generalNotes: [String]
        /// The camera's tracks, and those that the gateway can make of them.
        var tracks: [StationTrack]
        /// All tracks that the viewer was offered.
        var offered: [OfferedTrack]

        /// In words, which parts of the offer are not used, and which of the camera's tracks the gateway transcodes.
        public var notes: [String] {
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
            session: session, generalNotes: session.notes + layout.notes, tracks: layout.tracks, offered: offered)
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
        let reasons = sections.map { index in
            let label = offer.label(ofMediaAt: index)
            if let note = session.notes.first(where: { $0.hasPrefix(label + ": ") }) { return note }
            return switch offer.direction(of: offer.media[index]) {
            case .sendonly: "\(label) only sends (a=sendonly)"
            case .inactive: "\(label) is disabled (a=inactive)"
            case .recvonly, .sendrecv: "\(label): the viewer plays none of the camera's codecs"
            }
        }
        let line = offer.lineOfMedia { _ in true }
        guard sections.contains(where: { offer.direction(of: offer.media[$0]).receives }) else {
            return OfferRefusal(.asksForNothing(camera: camera, notes: reasons), line: line)
        }
        return OfferRefusal(.playsNothing(camera: camera, notes: reasons + layout.notes), line: line)
    }
}

extension StationTrack {
    /// What a person should know about a track that the gateway makes; nil for the camera's own.
    func transcodingNote(among tracks: [StationTrack]) -> String? {
        guard let origin = derivedFrom, let source = tracks.first(where: { $0.id == origin }) else { return nil }
        let name = source.description.codec.name
        let reason = source.description.reordersPictures ? "\(name) with B-frames" : name
        return "\(description.kind.name): \(reason) is transcoded to \(description.codec.name)"
    }
}
