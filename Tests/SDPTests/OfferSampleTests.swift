import SDP
import Testing

@Suite struct OfferSampleTests {
    struct Offer: Decodable {
        var problems: [Expectation.Problem]
        var media: [Expectation.Section]?
        var bundle: [String]?
        var remote: Expectation.Remote?
        var answers: [Expectation.Answer]
    }

    @Test(arguments: Samples.paths(in: "offers"))
    func offerIsUnderstood(path: String) throws {
        let expected: Offer = try Expectation.read(path)
        let text = try Samples.text(path)
        let offer = try SessionDescription(parsing: text)
        #expect(offer.encoded() == text)
        expect(offer.problems, are: expected.problems, path)
        if let bundle = expected.bundle { #expect(offer.bundleGroups == [bundle]) }
        for (section, expected) in zip(offer.media, expected.media ?? []) {
            #expect(section.kind.name == expected.kind)
            #expect(section.mid == expected.mid)
            #expect(section.port == expected.port)
            #expect(section.formats.count == expected.formats)
            #expect(offer.direction(of: section).rawValue == expected.direction)
            #expect(section.candidates.count == expected.candidates)
        }
        if let media = expected.media { #expect(offer.media.count == media.count) }
    }

    @Test(arguments: Samples.paths(in: "offers"))
    func offerIsAnswered(path: String) throws {
        let expected: Offer = try Expectation.read(path)
        let offer = try SessionDescription(parsing: Samples.text(path))
        for (index, answer) in expected.answers.enumerated() {
            try check(answer, of: offer, remote: expected.remote, "\(path), answer \(index)")
        }
    }

    private func check(
        _ expected: Expectation.Answer, of offer: SessionDescription, remote: Expectation.Remote?, _ path: String
    ) throws {
        let tracks = expected.camera.map(codec).map { codec in
            codec.isNamed("VP8") || codec.isNamed("H264")
                ? Gateway.video(codec) : Gateway.audio(codec, talkback: expected.talkback)
        }
        let session: NegotiatedSession
        do {
            session = try Gateway.answerer(tracks).answer(offer)
        } catch {
            let name = Mirror(reflecting: error).children.first?.label
            #expect(name == expected.error, "\(path): \(error)")
            for word in expected.says ?? [] { #expect(error.description.contains(word), "\(path): \(error)") }
            return
        }
        #expect(expected.error == nil, "\(path): \(session.answer.encoded())")
        let wanted = expected.media ?? []
        let used = wanted.enumerated().compactMap { index, used in used.map { (index, $0) } }
        #expect(session.media.map(\.index) == used.map(\.0), "\(path): \(session.notes)")
        for (media, (_, expected)) in zip(session.media, used) {
            #expect(media.payloadType == expected.payloadType, "\(path)")
            #expect(media.codec.mapping == expected.codec, "\(path)")
            #expect(media.direction.rawValue == expected.direction, "\(path)")
            #expect(media.rtxPayloadType == expected.rtx, "\(path)")
            #expect((media.rtxSSRC != nil) == (expected.rtx != nil), "\(path)")
            if let feedback = expected.feedback { #expect(names(media.feedback) == Set(feedback), "\(path)") }
            if let extensions = expected.extensions { #expect(names(media.headerExtensions) == extensions, "\(path)") }
            #expect(media.receivePayloadTypes.isEmpty == !media.direction.receives, "\(path)")
        }
        #expect(session.localSetup.rawValue == expected.localSetup ?? "passive", "\(path)")
        let text = session.notes.map(\.description).joined(separator: "\n")
        for note in expected.notes ?? [] { #expect(text.contains(note), "\(path): \(text)") }
        if let remote {
            #expect(session.remote.usernameFragment == remote.usernameFragment, "\(path)")
            #expect(session.remote.candidates.count == remote.candidates, "\(path)")
            #expect(session.remote.supportsTrickle == remote.trickle, "\(path)")
            #expect(session.remote.isComplete == remote.complete, "\(path)")
            #expect(session.remote.isLite == remote.lite, "\(path)")
            #expect(session.remote.fingerprints.map(\.algorithm) == remote.fingerprints, "\(path)")
        }
        try checkAnswerText(session, expected, offer: offer, path)
    }

    /// What the answer's text says must be what the session says.
    private func checkAnswerText(
        _ session: NegotiatedSession, _ expected: Expectation.Answer, offer: SessionDescription, _ path: String
    ) throws {
        let answer = try SessionDescription(parsing: session.answer.encoded())
        #expect(answer.problems == [], "\(path)")
        #expect(answer.media.map(\.kind) == offer.media.map(\.kind), "\(path)")
        #expect(answer.media.map(\.mid) == offer.media.map(\.mid), "\(path)")
        #expect(answer.bundleGroups == (expected.bundle.map { [$0] } ?? []), "\(path)")
        let used = session.media.map(\.index)
        for index in answer.media.indices where !used.contains(index) {
            checkUnused(answer.media[index], asked: offer.media[index], session, path)
        }
        #expect(answer.media.map(\.transportProtocol) == offer.media.map(\.transportProtocol), "\(path)")
        if let protocols = expected.protocols { #expect(answer.media.map(\.transportProtocol) == protocols) }
        var withCandidates = answer.media.indices.count { !used.contains($0) && !answer.media[$0].candidates.isEmpty }
        for media in session.media {
            let section = answer.media[media.index]
            let asked = offer.media[media.index]
            #expect(section.payloadTypes.first == media.payloadType, "\(path)")
            #expect(Set(section.payloadTypes).isSubset(of: asked.payloadTypes), "\(path)")
            #expect(section.payloads.count == section.formats.count, "\(path)")
            #expect(section.iceUsernameFragment == "gate" && section.fingerprints == [Gateway.fingerprint], "\(path)")
            #expect(section.setup == session.localSetup, "\(path)")
            #expect(section.hasRTCPMux && section.hasReducedSizeRTCP == asked.hasReducedSizeRTCP, "\(path)")
            #expect(answer.direction(of: section) == media.direction, "\(path)")
            let offered = Set(asked.headerExtensions.map { "\($0.id) \($0.uri)" })
            #expect(Set(section.headerExtensions.map { "\($0.id) \($0.uri)" }).isSubset(of: offered), "\(path)")
            #expect(section.headerExtensions.count == names(media.headerExtensions).count, "\(path)")
            if !section.candidates.isEmpty { withCandidates += 1 }
            if media.direction.sends {
                #expect(section.sources == [media.ssrc] + (media.rtxSSRC.map { [$0] } ?? []), "\(path)")
                #expect(section.retransmissionSources[media.ssrc] == media.rtxSSRC, "\(path)")
                #expect(section.mediaStreams.count == 1, "\(path)")
            }
        }
        #expect(withCandidates == 1, "\(path)")
        let streams = session.media.filter(\.direction.sends).compactMap {
            answer.media[$0.index].mediaStreams.first?.streamID
        }
        #expect(Set(streams).count == streams.count, "each kind is a stream of its own: \(path)")
    }

    /// A media description without a track is rejected, or stays in the BUNDLE group with all that its transport needs.
    private func checkUnused(
        _ section: MediaDescription, asked: MediaDescription, _ session: NegotiatedSession, _ path: String
    ) {
        let isBundled = session.answer.bundleGroups.contains { $0.contains(section.mid ?? "") }
        #expect(isBundled != section.isRejected, "\(path)")
        guard isBundled else { return }
        #expect(section.iceUsernameFragment == "gate" && section.fingerprints == [Gateway.fingerprint], "\(path)")
        #expect(section.setup == session.localSetup && section.sources.isEmpty, "\(path)")
        #expect(section.formats.count == 1 && asked.formats.contains(section.formats[0]), "\(path)")
        guard section.isRTP else { return }
        #expect(section.ownDirection == .inactive && section.hasRTCPMux && section.payloads.count == 1, "\(path)")
    }
}
