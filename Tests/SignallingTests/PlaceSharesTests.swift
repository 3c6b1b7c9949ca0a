import Testing
import Transport

@testable import Signalling
@testable import Stations

@Suite struct PlaceSharesTests {
    @Test(arguments: [1, 2, 3, 4, 5, 31, 32, 64, 2_000])
    func onlyTheOwnerMayTakeAllPlaces(total: Int) {
        let shares = PlaceShares(total: total)
        // Guests arrive one after the other and take whatever is free.
        var holders: [String] = []
        for guest in 0..<8 {
            var own = 0
            while shares.refusal(of: "guest-\(guest)", holders: holders) == nil {
                holders.append("guest-\(guest)")
                own += 1
            }
            #expect(own <= shares.share)
        }
        #expect(holders.count == total - shares.reserve)
        var owned = 0
        while shares.refusal(of: PlaceShares.owner, holders: holders) == nil {
            holders.append(PlaceShares.owner)
            owned += 1
        }
        #expect(owned == shares.reserve && holders.count == total)
        // Alone the owner has every place.
        #expect(
            shares.refusal(of: PlaceShares.owner, holders: Array(repeating: PlaceShares.owner, count: total - 1)) == nil
        )
    }

    @Test func theReasonIsReported() {
        let shares = PlaceShares(total: 8)
        #expect(shares.refusal(of: "a", holders: ["a", "a"]) == .share(2))
        #expect(shares.refusal(of: "d", holders: ["a", "a", "b", "b", "c", "c"]) == .reserved(2))
        let all = ["a", "a", "b", "b", "c", "c", PlaceShares.owner, PlaceShares.owner]
        #expect(shares.refusal(of: "d", holders: all) == .full(8))
        #expect(shares.refusal(of: PlaceShares.owner, holders: all) == .full(8))
    }
}

@Suite struct EndedSessionsTests {
    private func at(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

    @Test func anEndIsRememberedForAWhile() {
        var ended = EndedSessions()
        ended.record("a", .liveView, deviceID: "door", principal: "owner", at: at(0))
        let entry = ended.entry("a", .liveView, at: at(3_599))
        #expect(entry?.deviceID == "door" && entry?.principal == "owner")
        #expect(ended.entry("a", .publisher, at: at(1)) == nil)
        #expect(ended.entry("b", .liveView, at: at(1)) == nil)
        #expect(ended.entry("a", .liveView, at: at(3_600)) == nil)
        // What is too old is forgotten when any view ends.
        ended.record("b", .clip, deviceID: "door", principal: "guest", at: at(4_000))
        #expect(ended.count == 1)
    }

    @Test func theMemoryIsBoundedAndAFloodPushesOutOnlyItsOwn() {
        var ended = EndedSessions()
        for number in 0..<100 {
            ended.record("owner-\(number)", .liveView, deviceID: "door", principal: "owner", at: at(0))
        }
        for number in 0..<20_000 {
            ended.record("flood-\(number)", .liveView, deviceID: "door", principal: "guest", at: at(1))
            #expect(ended.count <= EndedSessions.capacity)
        }
        #expect(ended.count == EndedSessions.capacity)
        for number in 0..<100 { #expect(ended.entry("owner-\(number)", .liveView, at: at(2)) != nil) }
        #expect(ended.entry("flood-0", .liveView, at: at(2)) == nil)
        #expect(ended.entry("flood-19999", .liveView, at: at(2)) != nil)
        // Many who end a few each are bounded as well.
        for number in 0..<10_000 {
            ended.record("x-\(number)", .clip, deviceID: "door", principal: "p-\(number % 50)", at: at(3))
        }
        #expect(ended.count == EndedSessions.capacity)
    }
}
