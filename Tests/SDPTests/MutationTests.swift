import SDP
import Testing
import Transport

/// Seeded damage to the samples: whatever comes, it is read or refused, never more.
@Suite struct MutationTests {
    static let paths = ["offers", "answers", "cameras", "fragments"].flatMap(Samples.paths)

    private func mutate(_ bytes: inout [UInt8], _ random: inout RandomSource) {
        let interesting: [UInt8] = Array("\r\n=: /,;0129aAmvo-\u{0}".utf8) + [0xFF, 0x80, 0x7F]
        for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
            let position = Int.random(in: bytes.indices, using: &random)
            let length = min(Int.random(in: 1...40, using: &random), bytes.count - position)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[position] = interesting[Int.random(in: interesting.indices, using: &random)]
            case 2: bytes.removeSubrange(position..<position + length)
            case 3: bytes.insert(contentsOf: bytes[position..<position + length], at: position)
            case 4: bytes.insert(contentsOf: "99999999999999999999".utf8, at: position)
            default: bytes.removeLast(length)
            }
        }
    }

    @Test func damagedDescriptionsNeverTrap() throws {
        var random = RandomSource.seeded(2026)
        var answered = 0
        var refused = 0
        for path in Self.paths {
            let original = try Array(Samples.text(path).utf8)
            for round in 0..<12 {
                var bytes = original
                mutate(&bytes, &random)
                let text = String(decoding: bytes, as: UTF8.self)
                guard let description = try? SessionDescription(parsing: text) else {
                    refused += 1
                    continue
                }
                checkText(description)
                // Answering costs more than reading in a debug build: every sixth one is enough.
                guard round % 6 == 0 else { continue }
                checkUse(description)
                _ = try? TrickleFragment(parsing: text).encoded()
                if let session = try? Gateway.answerer().answer(description) {
                    answered += 1
                    let again = try SessionDescription(parsing: session.answer.encoded())
                    #expect(again.media.count == description.media.count)
                }
            }
        }
        #expect(answered > 40)
        #expect(refused < 250)
    }

    /// What holds of every description that was read at all.
    private func checkText(_ description: SessionDescription) {
        let written = description.encoded()
        let again = try? SessionDescription(parsing: written)
        #expect(again?.encoded() == written)
        #expect(again?.media.count == description.media.count)
    }

    private func checkUse(_ description: SessionDescription) {
        for payload in description.media.indices.flatMap(description.payloads(ofMediaAt:)) {
            #expect(payload.payloadType <= 127)
        }
        _ = description.cameraTracks
        _ = SessionDescriptionDocument(description)
        let offerer = LiveViewOfferer(viewing: Gateway.transport, talks: true, sessionID: 1, ssrc: 1, cname: "c")
        _ = try? offerer.accept(answer: description)
    }

    @Test func randomTextIsRefusedOrKept() {
        var random = RandomSource.seeded(99)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            _ = try? SessionDescription(parsing: text)
            _ = ICECandidate(parsing: text)
            _ = H264Profile(profileLevelID: text)
            _ = Fingerprint(parsing: text)
            _ = FormatParameters(parsing: text).parameterSets
        }
    }

    @Test func hostileSizesStayCheap() throws {
        // As many lines as are accepted, all in one media section.
        var lines = ["v=0", "m=video 9 UDP/TLS/RTP/SAVPF " + (0...127).map(String.init).joined(separator: " ")]
        for index in 0..<4000 { lines.append("a=fmtp:\(index % 128) x=\(index)") }
        let description = try SessionDescription(parsing: lines.joined(separator: "\n"))
        #expect(description.media[0].payloads.count <= 128)
        #expect(throws: NegotiationError.self) { try Gateway.answerer().answer(description) }
    }

    @Test func hostileGroupStaysCheap() throws {
        var lines = ["v=0", "a=group:BUNDLE " + (0..<30_000).map { "\($0)" }.joined(separator: " ")]
        for index in 0..<64 { lines += ["m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:\(index)", "a=rtpmap:96 H264/90000"] }
        let description = try SessionDescription(parsing: lines.joined(separator: "\n"))
        #expect(throws: NegotiationError.self) { try Gateway.answerer().answer(description) }
        #expect(description.cameraTracks.count == 64)
    }
}
