import Testing
import Transport

@testable import Signalling

@Suite struct SessionLedgerTests {
    private func seconds(_ count: Int64) -> Instant { Instant(nanoseconds: count * 1_000_000_000) }

    private func ledger(_ change: (inout SessionLimits) -> Void = { _ in }) -> SessionLedger {
        var limits = SessionLimits()
        change(&limits)
        return SessionLedger(limits: limits)
    }

    @Test func aLeaseEndsWhenItIsNotExtended() {
        var ledger = ledger()
        _ = ledger.start(sessionID: "a", deviceID: "door", principal: "owner", at: seconds(0))
        #expect(ledger.nextExpiry == seconds(300))
        #expect(ledger.expire(at: seconds(299)).isEmpty)
        #expect(ledger.expire(at: seconds(300)).map(\.sessionID) == ["a"])
        #expect(ledger.leases.isEmpty)
        #expect(ledger.expire(at: seconds(301)).isEmpty)
    }

    @Test func extendingTwiceIsExtendingOnce() throws {
        var ledger = ledger()
        _ = ledger.start(sessionID: "a", deviceID: "door", principal: "owner", at: seconds(0))
        #expect(try ledger.extend("a", of: "owner", bySeconds: nil, at: seconds(270)) == 300)
        #expect(try ledger.extend("a", of: "owner", bySeconds: nil, at: seconds(270)) == 300)
        #expect(ledger.nextExpiry == seconds(570))
    }

    @Test func anExtensionNeverShortensTheLease() throws {
        var ledger = ledger()
        _ = ledger.start(sessionID: "a", deviceID: "door", principal: "owner", at: seconds(0))
        #expect(try ledger.extend("a", of: "owner", bySeconds: 900, at: seconds(10)) == 900)
        // What is granted covers at least a client's repeating timer, and what was granted before stays.
        #expect(try ledger.extend("a", of: "owner", bySeconds: 20, at: seconds(20)) == 890)
        #expect(ledger.nextExpiry == seconds(910))
    }

    @Test func theCapEndsEvenAnExtendedLease() throws {
        var ledger = ledger { $0.maximumDurationSeconds = 1_000 }
        _ = ledger.start(sessionID: "a", deviceID: "door", principal: "owner", at: seconds(0))
        #expect(try ledger.extend("a", of: "owner", bySeconds: nil, at: seconds(290)) == 300)
        #expect(try ledger.extend("a", of: "owner", bySeconds: nil, at: seconds(580)) == 300)
        #expect(try ledger.extend("a", of: "owner", bySeconds: nil, at: seconds(870)) == 130)
        #expect(ledger.expire(at: seconds(999)).isEmpty)
        #expect(ledger.expire(at: seconds(1_000)).count == 1)
    }

    @Test func thirtyMinutesOfExtensionsKeepALeaseAlive() throws {
        var ledger = ledger()
        _ = ledger.start(sessionID: "a", deviceID: "door", principal: "owner", at: seconds(0))
        for minute in Int64(1)...30 {
            #expect(ledger.expire(at: seconds(minute * 60)).isEmpty)
            _ = try ledger.extend("a", of: "owner", bySeconds: nil, at: seconds(minute * 60))
        }
        #expect(ledger.nextExpiry == seconds(2_100))
    }

    @Test func aForeignSessionIsAsUnknownAsNone() {
        var ledger = ledger()
        _ = ledger.start(sessionID: "a", deviceID: "door", principal: "owner", at: seconds(0))
        #expect(throws: SignallingError.unknownSession) {
            try ledger.extend("a", of: "guest", bySeconds: nil, at: seconds(1))
        }
        #expect(throws: SignallingError.unknownSession) {
            try ledger.extend("b", of: "owner", bySeconds: nil, at: seconds(1))
        }
    }

    @Test func limitsHoldPerCameraPerPrincipalAndInAll() throws {
        var ledger = ledger {
            $0.perCamera = 2
            $0.perPrincipal = 3
            $0.total = 4
        }
        func start(_ id: String, _ device: String, _ principal: String) throws {
            try ledger.admit(deviceID: device, principal: principal)
            _ = ledger.start(sessionID: id, deviceID: device, principal: principal, at: seconds(0))
        }
        try start("1", "door", "owner")
        try start("2", "door", "owner")
        #expect(throws: SignallingError.self) { try start("x", "door", "guest") }
        try start("3", "yard", "owner")
        #expect(throws: SignallingError.self) { try start("x", "yard", "owner") }
        try start("4", "yard", "guest")
        #expect(throws: SignallingError.self) { try start("x", "hall", "guest") }
        _ = ledger.end("1")
        try start("5", "door", "guest")
    }
}
