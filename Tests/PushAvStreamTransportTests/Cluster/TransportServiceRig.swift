import HomeTypes
import Testing
import Transport

@testable import PushAvStreamTransport

/// Clocks that a test sets, a recorder that only remembers, and a storage that can fail.
final class TransportServiceRig: ConnectionStorage, RecordingDriving {
    struct State {
        var kept: [String: ConnectionTable] = [:]
        var fails = false
        var log: [String] = []
        var changes: [TransportChange] = []
        var now = Instant.zero + .seconds(1_000)
        var wall = Fixture.now
        var timers: [(at: Instant, body: @Sendable () -> Void)] = []
        /// Whether recordings begin only when the test says so.
        var delaysBegins = false
        var begins: [@Sendable () -> Void] = []
        var saves = 0
        var orders: [RecordingOrder] = []
    }

    let state = Locked(State())

    func load() -> [String: ConnectionTable] { state.withLock { $0.kept } }

    func save(_ table: ConnectionTable, of device: String) throws(RecordingFault) {
        state.withLock { $0.saves += 1 }
        guard !state.withLock({ $0.fails }) else { throw .storage(path: "shared.sqlite", .database("full")) }
        state.withLock { $0.kept[device] = table }
    }

    func remove(_ device: String) { state.withLock { $0.kept[device] = nil } }

    private func record(_ text: String) { state.withLock { $0.log.append(text) } }

    func begin(_ order: RecordingOrder, began: @escaping @Sendable () -> Void) {
        record("begin \(order.device) \(order.connection.id) number \(order.number) \(order.trigger.reason)")
        let delays = state.withLock { state in
            state.orders.append(order)
            if state.delaysBegins { state.begins.append(began) }
            return state.delaysBegins
        }
        if !delays { began() }
    }

    func add(_ trigger: RecordingSession.Trigger, to connection: UInt16, of device: String) {
        record("add \(device) \(connection)")
    }

    func end(_ connection: UInt16, of device: String, reason: RecordingEnd.Reason) {
        record("end \(device) \(connection) \(reason)")
    }

    func setPreRoll(_ preRoll: Duration?, of connection: UInt16, of device: String) {
        record("pre-roll \(device) \(connection) \(preRoll.map { "\($0.components.seconds)" } ?? "none")")
    }

    /// What was noted since the last call.
    var log: [String] {
        state.withLock { state in
            defer { state.log = [] }
            return state.log
        }
    }

    func service() throws -> TransportService {
        var clocks = TransportService.Clocks()
        clocks.now = { self.state.withLock { $0.now } }
        clocks.wall = { self.state.withLock { $0.wall } }
        clocks.after = { _, time, body in
            self.state.withLock { $0.timers.append(($0.now + time, body)) }
        }
        let service = try TransportService(storage: self, recorder: self, clocks: clocks)
        service.observe { change in self.state.withLock { $0.changes.append(change) } }
        return service
    }

    /// Lets time pass, and calls what was set for it.
    func pass(_ seconds: Int) {
        for _ in 0..<seconds {
            let due = state.withLock { state in
                state.now = state.now + .seconds(1)
                state.wall += 1_000
                let due = state.timers.filter { $0.at <= state.now }
                state.timers.removeAll { $0.at <= state.now }
                return due
            }
            for timer in due { timer.body() }
        }
    }
}

extension TransportService {
    /// Returns when what was handed to the service's queue has been done.
    func settle() { setEndpoints([1]) }
}

extension TriggerMachine.Input {
    static func motion(_ event: String) -> Self {
        .motion(MotionSignal(), RecordingTrigger(kind: .motion, words: "motion", events: [event]))
    }
}
