import Testing
import Transport

@testable import Signalling
@testable import Stations

@Suite struct SessionLedgerTests {
    private func seconds(_ count: Int64) -> Instant { Instant(nanoseconds: count * 1_000_000_000) }

    private func ledger(_ change: (inout SessionLimits) -> Void = { _ in }) -> SessionLedger {
        var limits = SessionLimits()
        change(&limits)
        return SessionLedger(limits: limits)
    }

    @Test func aLeaseEndsWhenItIsNotExtended() throws {
        var ledger = ledger()
        _ = try start(&ledger, "a")
        #expect(ledger.nextExpiry == seconds(300))
        #expect(ledger.expire(at: seconds(299)).isEmpty)
        #expect(ledger.expire(at: seconds(300)).map(\.sessionID) == ["a"])
        #expect(ledger.leases.isEmpty)
        #expect(ledger.expire(at: seconds(301)).isEmpty)
    }

    @Test func extendingTwiceIsTheSameAsOnce() throws {
        var ledger = ledger()
        _ = try start(&ledger, "a")
        #expect(try ledger.extend("a", of: "owner", bySeconds: nil, at: seconds(270)) == 300)
        #expect(try ledger.extend("a", of: "owner", bySeconds: nil, at: seconds(270)) == 300)
        #expect(ledger.nextExpiry == seconds(570))
    }

    @Test func anExtensionNeverShortensTheLease() throws {
        var ledger = ledger()
        _ = try start(&ledger, "a")
        #expect(try ledger.extend("a", of: "owner", bySeconds: 900, at: seconds(10)) == 900)
        // What is granted covers at least a client's repeating timer, and what was granted before stays.
        #expect(try ledger.extend("a", of: "owner", bySeconds: 20, at: seconds(20)) == 890)
        #expect(ledger.nextExpiry == seconds(910))
    }

    @Test func theLimitEndsEvenAnExtendedLease() throws {
        var ledger = ledger { $0.maximumDurationSeconds = 1_000 }
        _ = try start(&ledger, "a")
        #expect(try ledger.extend("a", of: "owner", bySeconds: nil, at: seconds(290)) == 300)
        #expect(try ledger.extend("a", of: "owner", bySeconds: nil, at: seconds(580)) == 300)
        #expect(try ledger.extend("a", of: "owner", bySeconds: nil, at: seconds(870)) == 130)
        #expect(ledger.expire(at: seconds(999)).isEmpty)
        #expect(ledger.expire(at: seconds(1_000)).count == 1)
    }

    @Test func thirtyMinutesOfExtensionsKeepALeaseAlive() throws {
        var ledger = ledger()
        _ = try start(&ledger, "a")
        for minute in Int64(1)...30 {
            #expect(ledger.expire(at: seconds(minute * 60)).isEmpty)
            _ = try ledger.extend("a", of: "owner", bySeconds: nil, at: seconds(minute * 60))
        }
        #expect(ledger.nextExpiry == seconds(2_100))
    }

    @Test func anotherPrincipalsSessionIsAsUnknownAsNone() throws {
        var ledger = ledger()
        _ = try start(&ledger, "a")
        #expect(throws: SignallingError.unknownSession) {
            try ledger.extend("a", of: "guest", bySeconds: nil, at: seconds(1))
        }
        #expect(throws: SignallingError.unknownSession) {
            try ledger.extend("b", of: "owner", bySeconds: nil, at: seconds(1))
        }
    }

    @discardableResult private func start(
        _ ledger: inout SessionLedger, _ id: String, _ device: String = "door", _ principal: String = "owner"
    ) throws -> SessionLedger.Lease {
        let place = try ledger.reserve(deviceID: device, principal: principal)
        return ledger.start(place, sessionID: id, at: seconds(0))
    }

    @Test func limitsHoldPerCameraPerPrincipalAndInAll() throws {
        var ledger = ledger {
            $0.perCamera = 2
            $0.perPrincipal = 3
            $0.total = 4
        }
        try start(&ledger, "1")
        try start(&ledger, "2")
        #expect(throws: SignallingError.limitReached(.camera("door", views: 2, .full(2)))) {
            try start(&ledger, "x", "door", "guest")
        }
        try start(&ledger, "3", "yard")
        #expect(throws: SignallingError.limitReached(.principal("owner", views: 3))) {
            try start(&ledger, "x", "hall")
        }
        try start(&ledger, "4", "yard", "guest")
        #expect(throws: SignallingError.self) { try start(&ledger, "x", "hall", "visitor") }
        _ = ledger.end("1")
        try start(&ledger, "5", "door", "visitor")
    }

    @Test func startsInProgressCountAndReturnTheirPlace() throws {
        var ledger = ledger { $0.perCamera = 2 }
        let first = try ledger.reserve(deviceID: "door", principal: "owner")
        let second = try ledger.reserve(deviceID: "door", principal: "owner")
        #expect(throws: SignallingError.self) { try ledger.reserve(deviceID: "door", principal: "owner") }
        ledger.cancel(first)
        ledger.cancel(first)
        _ = ledger.start(second, sessionID: "a", at: seconds(0))
        // What has become a session is not given back by the end of its start.
        ledger.cancel(second)
        try start(&ledger, "b")
        #expect(throws: SignallingError.self) { try start(&ledger, "c") }
    }

    @Test func everyPrincipalHasAShareOfACameraAndTheOwnerAReserve() throws {
        var ledger = ledger { $0.perCamera = 32 }
        // Four guests together: none gets more than its share, and all of them leave the owner's reserve.
        var admitted: [String: Int] = [:]
        for guest in ["a", "b", "c", "d"] {
            for number in 0..<40 where (try? start(&ledger, "\(guest)\(number)", "door", guest)) != nil {
                admitted[guest, default: 0] += 1
            }
        }
        #expect(admitted == ["a": 8, "b": 8, "c": 8])
        for number in 0..<8 { try start(&ledger, "owner\(number)") }
        #expect(throws: SignallingError.self) { try start(&ledger, "x") }
        // Other cameras are not concerned.
        try start(&ledger, "y", "yard", "d")
    }
}
