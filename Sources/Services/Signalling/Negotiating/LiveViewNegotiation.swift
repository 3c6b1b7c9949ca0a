import Cameras
import SDP
import Transport

/// Decides what a viewer gets of a camera for its offer. Live views by the API and by WHEP are answered here, and
/// `gatehouse sdp` asks the same value, so that what the command prints is what the gateway does.
public struct LiveViewNegotiation: Sendable {
    /// What was agreed on.
    public struct Agreement: Sendable {
        /// The answer with what it means.
        public var session: NegotiatedSession
        /// In words, what of the offer is not used, and what the gateway makes of the camera's tracks.
        public var notes: [String]
        /// All tracks that the viewer was offered.
        var offered: [OfferedTrack]

        /// The track that an agreed media description sends; nil for one that sends nothing.
        func track(for media: NegotiatedMedia) -> StationTrack? {
            media.direction.sends ? offered.first { $0.local.ssrc == media.ssrc }?.track : nil
        }
    }

    /// The camera's identifier.
    let camera: String
    /// What viewers can be given.
    let layout: TrackLayout
    /// Whether the camera has a speaker.
    let speaks: Bool
    /// Whether VP8 is made of video that a viewer cannot play.
    let transcodesVideo: Bool

    init(camera: String, layout: TrackLayout, speaks: Bool, transcodesVideo: Bool) {
        self.camera = camera
        self.layout = layout
        self.speaks = speaks
        self.transcodesVideo = transcodesVideo
    }

    /// Describes a camera.
    /// - Parameters:
    ///   - camera: its identifier, which stands in answers.
    ///   - tracks: what it sends.
    ///   - speaks: whether it has a speaker.
    ///   - transcodesVideo: whether VP8 is made of video that a viewer cannot play.
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
    ///   - random: where the sources' numbers come from.
    public func answer(
        _ offer: SessionDescription, local: LocalTransportDescription, hint: QualityHint? = nil,
        random: inout RandomSource
    ) throws(OfferRefusal) -> Agreement {
        let offered = offeredTracks(hint, &random)
        let hasPicture = offered.contains { $0.track.description.kind == .video }
        // With B-frames alone there is nothing that the answerer could use.
        let lacksPicture =
            offer.wantsVideo && !hasPicture && layout.tracks.contains { $0.description.kind == .video }
        let session: NegotiatedSession
        do throws(NegotiationError) {
            session = try LiveViewAnswerer(local: local, tracks: offered.map(\.local)).answer(offer)
        } catch {
            switch error {
            case .codecMismatch(let reason):
                guard offer.media.contains(where: { $0.kind == .video && !$0.isRejected }) else {
                    throw OfferRefusal(.codecMismatch(reason), reason, line: offer.lineOfMedia { $0.kind == .audio })
                }
                throw mismatch(offer)
            case .noUsableMedia where lacksPicture: throw mismatch(offer)
            case .invalidDescription, .unusableTransport, .noUsableMedia:
                throw OfferRefusal(invalid: error, in: offer)
            }
        }
        // A black picture with sound tells nobody what is wrong.
        if lacksPicture { throw mismatch(offer) }
        guard session.media.contains(where: \.direction.sends) else { throw nothingToSend(offer, session) }
        var agreement = Agreement(session: session, notes: [], offered: offered)
        agreement.notes = session.notes + layout.notes + madeNotes(agreement)
        return agreement
    }

    /// Why nothing would flow to the viewer, though the offer was understood.
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
            case .inactive: "\(label) is switched off (a=inactive)"
            case .recvonly, .sendrecv: "\(label): the viewer takes none of the camera's codecs"
            }
        }
        guard sections.contains(where: { offer.direction(of: offer.media[$0]).receives }) else {
            let reason =
                "the offer asks for neither picture nor sound of \(camera): " + reasons.joined(separator: "; ")
                + "; a viewer offers a=recvonly or a=sendrecv"
            return OfferRefusal(.invalidOffer(reason), reason, line: offer.lineOfMedia { _ in true })
        }
        let reason =
            "nothing of \(camera) can be played by this viewer: "
            + (reasons + layout.notes).joined(separator: "; ")
        return OfferRefusal(.codecMismatch(reason), reason, line: offer.lineOfMedia { _ in true })
    }

    /// What a person should know of the tracks that the gateway makes.
    private func madeNotes(_ agreement: Agreement) -> [String] {
        agreement.session.media.compactMap { media in
            guard let track = agreement.track(for: media), let origin = track.derivedFrom,
                let source = layout.tracks.first(where: { $0.id == origin })
            else { return nil }
            let name = source.description.codec.name
            let reason = source.description.reordersPictures ? "\(name) with B-frames" : name
            return "\(track.description.kind.name): \(reason) is made \(track.description.codec.name)"
        }
    }
}
