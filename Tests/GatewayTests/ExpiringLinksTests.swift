import HomeTypes
import Signalling
import Testing
import Transport

@testable import Gateway

/// How long the addresses of pictures and recordings open something. They end by the monotonic clock, which nobody sets.
@Suite struct ExpiringLinksTests {
    private let start = Instant.zero + .seconds(1_000)

    @Test func `a picture of an event opens with its own token for half a minute`() {
        let pictures = EventPictures()
        let (id, token) = pictures.add([1], of: "door", for: "owner", at: start)
        let (other, otherToken) = pictures.add([2], of: "yard", for: "owner", at: start)
        let last = start + .milliseconds(29_999)
        #expect(pictures.picture(id, token: token, at: last)?.jpeg == [1])
        #expect(pictures.picture(other, token: otherToken, at: last)?.device == "yard")
        #expect(pictures.picture(id, token: otherToken, at: last) == nil)
        #expect(pictures.picture(id, token: "", at: last) == nil)
        #expect(pictures.picture(id, token: token, at: start + .seconds(30)) == nil)
    }

    @Test func `the oldest picture gives way to one too many`() {
        let pictures = EventPictures(capacity: 2)
        let added = (0..<3).map {
            pictures.add([UInt8($0)], of: "door", for: "owner", at: start + .seconds($0))
        }
        let kept = added.map { pictures.picture($0.id, token: $0.token, at: start + .seconds(3))?.jpeg }
        #expect(kept == [nil, [1], [2]])
    }

    @Test func `somebody who asks for many pictures displaces their own, and nobody else's`() {
        let pictures = EventPictures(capacity: 4)
        let owners = pictures.add([1], of: "door", for: "owner", at: start)
        let guests = (0..<20).map { pictures.add([UInt8($0)], of: "door", for: "guest", at: start + .seconds($0)) }
        let now = start + .seconds(20)
        #expect(pictures.picture(owners.id, token: owners.token, at: now)?.jpeg == [1])
        let kept = guests.compactMap { pictures.picture($0.id, token: $0.token, at: now)?.jpeg }
        #expect(kept == [[17], [18], [19]])
        // Another one gets a place of those who have more.
        let others = pictures.add([2], of: "door", for: "other", at: now)
        #expect(pictures.picture(others.id, token: others.token, at: now)?.jpeg == [2])
        #expect(pictures.picture(owners.id, token: owners.token, at: now) != nil)
        #expect(pictures.picture(guests[17].id, token: guests[17].token, at: now) == nil)
    }

    @Test func `a link to a recording opens for six hours, and as long as its principal may see the device`() throws {
        let links = RecordingLinks()
        func make(_ device: String, _ principal: String) throws -> String {
            try links.make(device: device, range: 0..<1_000_000, principal: principal, now: start)
        }
        let (door, yard, owners) = try (make("door", "guest"), make("yard", "guest"), make("door", "owner"))
        let last = start + .seconds(6 * 3_600 - 1)
        #expect(links.link(door, now: last)?.device == "door")
        #expect(links.link(door, now: start + .seconds(6 * 3_600)) == nil)
        links.end(of: "guest") { $0 == "yard" }
        #expect(links.link(door, now: last) == nil)
        #expect(links.link(yard, now: last)?.principal == "guest" && links.link(owners, now: last)?.device == "door")
    }

    @Test func `the oldest link of a principal gives way to one too many, and no other principal's does`() throws {
        let links = RecordingLinks()
        func make(_ principal: String, after seconds: Int) throws -> String {
            try links.make(
                device: "door", range: 0..<1_000_000, principal: principal, now: start + .seconds(seconds))
        }
        let owners = try make("owner", after: 0)
        let made = try (1...RecordingLinks.shares.share + 1).map { try make("guest", after: $0) }
        let now = start + .seconds(1_000)
        let opens = made.map { links.link($0, now: now) != nil }
        #expect(opens == [false] + Array(repeating: true, count: RecordingLinks.shares.share))
        #expect(links.link(owners, now: now) != nil)
    }
}
