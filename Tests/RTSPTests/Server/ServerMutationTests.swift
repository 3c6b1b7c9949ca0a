import Testing
import Transport

@testable import RTSP

@Suite("RTSP server: hostile clients")
struct ServerMutationTests {
    private static let corpus: [[UInt8]] =
        [RecordedClients.ffmpeg, RecordedClients.gstreamer, RecordedClients.live555].map { requests in
            Array(
                requests.joined().split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
                    .utf8)
                + [0x24, 1, 0, 8, 0x80, 201, 0, 1, 1, 2, 3, 4]
        }

    /// Changes, removes, repeats and inserts a few bytes.
    private static func mutate(_ bytes: [UInt8], _ random: inout RandomSource) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...8, using: &random) where !bytes.isEmpty {
            let at = Int.random(in: 0..<bytes.count, using: &random)
            switch random.next() % 5 {
            case 0: bytes[at] = UInt8(truncatingIfNeeded: random.next())
            case 1: bytes.removeSubrange(at..<min(bytes.count, at + Int(random.next() % 40)))
            case 2: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + Int(random.next() % 200))], at: at)
            case 3: bytes.insert(contentsOf: Array("\r\n$:;,=\"\\%".utf8).shuffled(using: &random), at: at)
            default: bytes[at] ^= 1 << (random.next() % 8)
            }
        }
        return bytes
    }

    @Test("mutated clients without a password get no further than the challenge")
    func withoutPassword() {
        var random = RandomSource.seeded(20)
        for round in 0..<3000 {
            let conversation = ServerConversation()
            let bytes = Self.mutate(Self.corpus[round % Self.corpus.count], &random)
            let output = conversation.feed(bytes)
            #expect(output.isEmpty || output.starts(with: "RTSP/1.0 ".utf8))
            #expect(conversation.events.allSatisfy { $0 == .refusedCredentials }, "round \(round)")
            #expect(!conversation.isAuthenticated)
            #expect(output.count < 128 * 1024)
        }
    }

    @Test("mutated publishers harm nothing, and announce nothing without a password")
    func publishers() {
        var random = RandomSource.seeded(22)
        for round in 0..<2000 {
            let conversation = ServerConversation { $0.takesPublishers = true }
            let isSignedIn = round % 2 == 0
            if isSignedIn {
                _ = conversation.signIn()
                conversation.announceBoth()
                if round % 4 == 0 { _ = conversation.request("RECORD", "rtsp://host:8554/drive") }
            }
            let bytes = Self.mutate(Self.publishers[round / 2 % Self.publishers.count], &random)
            let output = conversation.feed(bytes)
            #expect(output.isEmpty || output.starts(with: "RTSP/1.0 ".utf8))
            #expect(conversation.tracks.count <= RTSPServerSession.maximumTracks)
            #expect(output.count < 128 * 1024)
            if !isSignedIn { #expect(conversation.events.allSatisfy { $0 == .refusedCredentials }, "round \(round)") }
            for event in conversation.events {
                if case .announce(_, let description) = event {
                    // What is not UTF-8 takes up to three bytes.
                    #expect(description.utf8.count <= 3 * RTSPRequestStream.maximumDescriptionSize)
                }
            }
        }
    }

    private static let publishers: [[UInt8]] =
        [RecordedClients.publishingFFmpeg, RecordedClients.publishingGStreamer].map { requests in
            Array(
                requests.joined().split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
                    .utf8)
                + [0x24, 0, 0, 12, 0x80, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]
        }

    @Test("mutated clients that have signed in harm nothing")
    func withPassword() {
        var random = RandomSource.seeded(21)
        for round in 0..<1000 {
            let conversation = ServerConversation()
            conversation.setUpBoth()
            if round % 2 == 0 { _ = conversation.request("PLAY") }
            let identifier = conversation.identifier ?? ""
            let text = String(decoding: Self.corpus[round % Self.corpus.count], as: UTF8.self)
            let named = text.split(separator: "$", omittingEmptySubsequences: false).joined(separator: identifier)
            let output = conversation.feed(Self.mutate(Array(named.utf8), &random))
            #expect(output.isEmpty || output.starts(with: "RTSP/1.0 ".utf8))
            #expect(conversation.tracks.count <= RTSPServerSession.maximumTracks)
            for event in conversation.events {
                if case .received(_, _, let range) = event { #expect(range.count <= 65_535) }
            }
        }
    }
}
