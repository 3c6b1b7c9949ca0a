import Foundation
import ICE
import MediaRelay
import PeerConnection
import SDP
import StationFakes
import Testing
import Transport

@testable import Signalling

/// A lite viewer sends no checks, so it is given up as soon as none of its candidates is left. A name is not nothing: it has to be
/// looked up first.
@Suite(.ownThread) struct NamedCandidateTests {
    private static let names = ["0b6f1c2e-8a37-4f0d-9a51-3c2d1e0f9a8b.local", "second.local"]
    private static let noCandidates = [SessionEnd.relay(.connectionFailed(.noPath(.noCandidates)))]

    /// An offer of a lite viewer.
    /// - Parameter candidates: the lines of its first section, in place of those that were recorded.
    private static func offer(_ candidates: [String]) throws -> String {
        let text = try ServiceWorld.text("offers/chromium-recvonly-av.offer.sdp")
        var hasCandidates = false
        let lines = text.components(separatedBy: "\r\n").flatMap { line -> [String] in
            if line.hasPrefix("t=") { return [line, "a=ice-lite"] }
            if line.hasPrefix("a=ice-ufrag"), !hasCandidates {
                hasCandidates = true
                return [line] + candidates
            }
            return line.hasPrefix("a=candidate") ? [] : [line]
        }
        return lines.joined(separator: "\r\n")
    }

    private static func line(_ name: String) -> String { "a=candidate:1 1 udp 2122194687 \(name) 56004 typ host" }

    private func answer(_ index: Int, _ address: String?, in world: ServiceWorld) throws {
        let answer = world.lookUpAnswers.withLock { $0[index] }
        answer(try address.map { try #require(TransportAddress($0, port: 0)) })
    }

    @Test func `a lite viewer whose candidates are names is not given up before they are looked up`() async throws {
        let world = try await ServiceWorld()
        _ = try await world.start(Self.offer(Self.names.map(Self.line) + ["a=end-of-candidates"]))
        #expect(world.lookedUp.withLock { $0 } == Self.names)
        #expect(await world.viewerCount() == 1 && world.announcements.ends.isEmpty)
        try answer(0, nil, in: world)
        #expect(await world.viewerCount() == 1 && world.announcements.ends.isEmpty)
        try answer(1, "192.0.2.7", in: world)
        #expect(await world.viewerCount() == 1 && world.announcements.ends.isEmpty, "its address is checked")
    }

    @Test func `a lite viewer is given up once nobody has answered for any of its names`() async throws {
        let world = try await ServiceWorld()
        _ = try await world.start(Self.offer(Self.names.map(Self.line) + ["a=end-of-candidates"]))
        try answer(1, nil, in: world)
        #expect(await world.viewerCount() == 1 && world.announcements.ends.isEmpty)
        try answer(0, nil, in: world)
        #expect(await eventually { !world.announcements.ends.isEmpty })
        #expect(world.announcements.ends == Self.noCandidates)
    }

    @Test func `the same holds for names that are trickled`() async throws {
        let world = try await ServiceWorld()
        let text = try Self.offer([])
        let session = try await world.start(text)
        let offer = try SessionDescription(parsing: text)
        let named = ICECandidate(foundation: "1", priority: 7, host: Self.names[0], port: 50_000)
        let username = try #require(offer.media.compactMap(\.iceUsernameFragment).first)
        let password = try #require(offer.media.compactMap(\.icePassword).first)
        let fragment = TrickleFragment(
            usernameFragment: username, password: password, isComplete: true,
            sections: [.init(mid: "0", candidates: [named], isComplete: true)])
        let result = try await world.service.trickle(
            fragment.encoded(), SessionReference(session.mediaSessionId, principal: "owner"))
        #expect(result == .added)
        #expect(await world.viewerCount() == 1 && world.announcements.ends.isEmpty)
        try answer(0, nil, in: world)
        #expect(await eventually { !world.announcements.ends.isEmpty })
        #expect(world.announcements.ends == Self.noCandidates)
    }

    @Test func `a look-up from before a restart of ICE does not end the candidates that follow`() {
        let end = CandidateEnd()
        end.beginLookUp()
        let isComplete = end.endCandidates()
        end.cancel()
        let isLast = end.endLookUp()
        #expect(!isComplete && !isLast)
    }
}
