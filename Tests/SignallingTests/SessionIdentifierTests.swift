import MediaRelay
import Testing
import Transport

@testable import Signalling

@Suite struct SessionIdentifierTests {
    @Test func `an identifier says its version, the gateway and the shard, and nobody can guess the rest`() {
        var random = RandomSource.seeded(1)
        let gateway = "0123456789abcdef"
        let ids = (0..<4).map { SessionIdentifier.make(gateway: gateway, shard: $0 * 5, using: &random) }
        for (index, id) in ids.enumerated() {
            #expect(id.utf8.count == SessionIdentifier.length)
            #expect(id.hasPrefix("1" + gateway + ["00", "05", "0a", "0f"][index]))
            #expect(id.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
            #expect(!id.hasSuffix(ids[(index + 1) % 4].suffix(32)))
            // What logs and lists show is a part of the random digits, so it tells sessions apart.
            #expect(id.dropFirst(19).hasPrefix(SessionIdentifier.brief(id)) && SessionIdentifier.brief(id).count == 8)
        }
    }

    @Test(arguments: [nil, "", "short"]) func `a gateway without an identifier still has sessions`(gateway: String?) {
        var random = RandomSource.seeded(2)
        let id = SessionIdentifier.make(gateway: gateway, shard: 1, using: &random)
        #expect(id.hasPrefix("1000000000000000001") && id.utf8.count == SessionIdentifier.length)
    }

    @Test func `a session's identifier names the gateway and the shard where it lives`() async throws {
        let world = try await ServiceWorld()
        let text = try ServiceWorld.text("offers/chromium-recvonly-av.offer.sdp")
        // The relay has two shards. A session gets its camera's home shard until that has 16 sessions.
        var ids = [try await world.start(text).mediaSessionId]
        let home = world.relay.place(for: "door").shard
        var places: [RelayPlacement] = []
        repeat { places.append(world.relay.place(for: "door")) } while places.count < 100 && places.last?.shard == home
        _ = places.popLast()
        ids.append(try await world.start(text).mediaSessionId)
        #expect(ids.map { $0.dropFirst(17).prefix(2) } == ["0\(home)", "0\(1 - home)"])
        withExtendedLifetime(places) {}
        #expect(ids.allSatisfy { $0.hasPrefix("1" + SessionIdentifier.unknownGateway) })
    }
}
