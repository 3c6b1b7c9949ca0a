import SDP
import Testing

@Suite struct RecordedOfferTests {
    @Test(arguments: Samples.paths(in: "offers"))
    func isWrittenAsItWasRead(path: String) throws {
        let text = try Samples.text(path)
        let description = try SessionDescription(parsing: text)
        #expect(description.encoded() == text)
        #expect(description.problems == [])
        #expect(!description.media.isEmpty)
    }

    @Test(arguments: Samples.paths(in: "offers"))
    func answerMirrorsTheOffer(path: String) throws {
        let offer = try SessionDescription(parsing: Samples.text(path))
        guard offer.media.contains(where: { $0.kind == .video || $0.kind == .audio }) else { return }
        guard let session = try? Gateway.answerer().answer(offer) else {
            // Only who has nothing to receive gets no answer.
            #expect(offer.media.allSatisfy { !offer.direction(of: $0).receives || $0.kind == .application }, "\(path)")
            return
        }
        let answer = try SessionDescription(parsing: session.answer.encoded())
        #expect(answer.problems == [])
        #expect(answer.media.map(\.kind) == offer.media.map(\.kind))
        #expect(answer.media.map(\.mid) == offer.media.map(\.mid))
        #expect(session.localSetup == .passive)
        let used = answer.media.filter { !$0.isRejected }
        #expect(answer.bundleGroups.first.map(Set.init) == Set(used.compactMap(\.mid)))
        for (asked, given) in zip(offer.media, answer.media) where !given.isRejected {
            #expect(Set(given.payloadTypes).isSubset(of: asked.payloadTypes))
            let offered = Set(asked.headerExtensions.map { "\($0.id) \($0.uri)" })
            #expect(Set(given.headerExtensions.map { "\($0.id) \($0.uri)" }).isSubset(of: offered))
            #expect(given.payloads.count == given.formats.count)
        }
    }
}
