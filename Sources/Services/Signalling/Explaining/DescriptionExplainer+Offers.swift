import Cameras
import SDP
import Stations
import Transport

extension DescriptionExplainer {
    // MARK: Publishers

    func explainPublisher(_ offer: SessionDescription) -> DescriptionExplanation {
        var lines = ["A publisher's WebRTC offer with \(Self.count(offer.media.count, "media section"))."]
        lines += offer.media.indices.map { Self.describe(offer, index: $0) }
        lines.append(Self.describe(offer.media.flatMap(\.candidates) + offer.candidates))
        let verdict = verdict(onPublisher: offer)
        lines += verdict.lines
        lines += verdict.notes.map { Self.capitalized($0.description) + "." }
        return DescriptionExplanation(role: .offer, endpoint: "whip", lines: lines, fault: verdict.fault)
    }

    /// What `/whip` does with an offer.
    struct PublisherVerdict {
        /// What it accepts, or that it refuses the offer.
        var lines: [String] = []
        /// What else is to be said of an offer that it accepts.
        var notes: [NegotiationNote] = []
        /// Why it refuses the offer; nil where it accepts it.
        var fault: SessionDescription.Problem?
    }

    func verdict(onPublisher offer: SessionDescription) -> PublisherVerdict {
        var verdict = PublisherVerdict()
        do throws(OfferRefusal) {
            let session = try PublisherNegotiation().answer(offer, local: Self.transport)
            verdict.lines = session.media.filter(\.direction.receives).map { media in
                "/whip accepts \(media.kind.name) as \(media.codec.summary) with payload type \(media.payloadType)."
            }
            verdict.notes = session.notes
        } catch {
            verdict.lines = ["/whip refuses it: \(error.reason.words)."]
            verdict.fault = Self.fault(error.reason.words, line: error.line, in: offer)
        }
        return verdict
    }

    // MARK: Viewers

    func explainViewer(_ offer: SessionDescription) -> DescriptionExplanation {
        var lines = ["A viewer's WebRTC offer with \(Self.count(offer.media.count, "media section"))."]
        lines += offer.media.indices.map { Self.describe(offer, index: $0) }
        lines.append(Self.describe(offer.media.flatMap(\.candidates) + offer.candidates))
        if let data = dataLine(offer) { lines.append(data) }
        if offer.offersDataChannels, !offer.asksForMedia { return explainDataAlone(offer, lines) }
        var refusals: [OfferRefusal] = []
        var tried: [String] = []
        var talks = false
        for kind in [MediaKind.video, .audio] where offer.media.contains(where: { $0.kind == kind }) {
            for example in ExampleTrack.all where example.kind == kind {
                let start = "A camera with \(example.title) \(kind == .video ? "video" : "sound"): "
                switch attempt(offer, kind, example.codec) {
                case .success(let found):
                    talks = talks || found.talks
                    tried.append(start + found.words + ".")
                case .failure(let refusal):
                    refusals.append(refusal)
                    tried.append(start + "does not play: \(Self.reason(refusal)).")
                }
            }
        }
        guard refusals.count == tried.count else {
            lines += tried
            lines.append(
                talks
                    ? "Talkback is possible: the viewer offers to send sound."
                    : "Talkback is not possible: the viewer does not offer to send sound in a codec that the gateway "
                        + "accepts.")
            return DescriptionExplanation(role: .offer, endpoint: "whep", lines: lines, fault: nil)
        }
        let refusal = refusals.first { !$0.isCodecMismatch } ?? refusals.first
        let reason: String
        if let refusal, !refusal.isCodecMismatch {
            reason = refusal.reason.words
        } else if refusal != nil {
            lines += tried
            reason = "no common codec: the viewer plays none that the gateway sends"
        } else {
            reason = "the offer has no m= line for audio or video"
        }
        lines.append("/whep refuses it: \(reason).")
        return DescriptionExplanation(
            role: .offer, endpoint: "whep", lines: lines,
            fault: Self.fault(reason, line: refusal?.line ?? offer.lineNumber(ofMediaAt: 0), in: offer))
    }

    /// What becomes of an offer's data channels; nil for one without.
    private func dataLine(_ offer: SessionDescription) -> String? {
        guard offer.media.contains(where: \.isDataChannel) else { return nil }
        return offer.offersDataChannels
            ? "Data channels are possible: they carry commands and the state of the camera and the session."
            : "Data channels are not possible: their m= line is disabled, or has no a=sctp-port."
    }

    /// An offer that asks for no media.
    private func explainDataAlone(_ offer: SessionDescription, _ lines: [String]) -> DescriptionExplanation {
        var lines = lines
        var fault: SessionDescription.Problem?
        var random = RandomSource.seeded(1)
        do throws(OfferRefusal) {
            _ = try LiveViewNegotiation(
                camera: "this camera", tracks: [], speaks: true, transcodesVideo: transcodesVideo
            ).answer(offer, local: Self.transport, random: &random)
            lines.append("/whep accepts it, without sound and pictures.")
        } catch {
            lines.append("/whep refuses it: \(error.reason.words).")
            fault = Self.fault(error.reason.words, line: error.line, in: offer)
        }
        return DescriptionExplanation(role: .offer, endpoint: "whep", lines: lines, fault: fault)
    }

    /// Answers the offer for a camera with one track and a speaker.
    private func attempt(
        _ offer: SessionDescription, _ kind: MediaKind, _ codec: MediaCodec
    ) -> Result<(words: String, talks: Bool), OfferRefusal> {
        do throws(OfferRefusal) {
            let agreement = try answer(offer, kind, codec, transcodesVideo)
            return .success((Self.words(agreement, kind), agreement.session.media.contains(where: \.talks)))
        } catch {
            guard kind == .video, !transcodesVideo, let made = try? answer(offer, kind, codec, true) else {
                return .failure(error)
            }
            return .success((Self.words(made, kind) + " with `transcodeVideo: auto`", false))
        }
    }

    private func answer(
        _ offer: SessionDescription, _ kind: MediaKind, _ codec: MediaCodec, _ transcodesVideo: Bool
    ) throws(OfferRefusal) -> LiveViewNegotiation.Agreement {
        let track = TrackDescription(kind: kind, codec: codec, payloadType: 96)
        var random = RandomSource.seeded(1)
        return try LiveViewNegotiation(
            camera: "this camera", tracks: [track], speaks: true, transcodesVideo: transcodesVideo
        ).answer(offer, local: Self.transport, random: &random)
    }

    private static func words(_ agreement: LiveViewNegotiation.Agreement, _ kind: MediaKind) -> String {
        guard let media = agreement.session.media.first(where: { $0.kind == kind && $0.direction.sends }) else {
            return "is left out"
        }
        let isMade = agreement.track(for: media)?.derivedFrom != nil
        var text = isMade ? "is transcoded to \(media.codec.summary) and plays" : "plays"
        text += " as payload type \(media.payloadType)"
        if let rtx = media.rtxPayloadType { text += ", retransmitted as \(rtx)" }
        if let note = agreement.session.note(ofMediaAt: media.index) { text += " (\(note.words))" }
        return text
    }

    /// The reason, without what earlier lines have said about every `m=` line.
    private static func reason(_ refusal: OfferRefusal) -> String {
        refusal.isCodecMismatch ? "the viewer cannot play this codec" : refusal.reason.words
    }
}

extension NegotiatedMedia {
    /// Whether the viewer may talk.
    fileprivate var talks: Bool { kind == .audio && direction.receives }
}
