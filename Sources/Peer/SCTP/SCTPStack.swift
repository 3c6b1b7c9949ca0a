import CUSRSCTP
import Transport

/// libusrsctp, as far as it is shared by all endpoints of the process.
///
/// It deviates from the rule that a state machine gets its time and its random numbers from its caller (docs/architecture.md):
/// - Its state is global, so all calls go through one lock. One thread makes them all (module `DataChannels`), so nobody
///   waits for it.
/// - Its timers run when ``SCTPEndpoint/advance(by:)`` says so. But it reads the wall clock to measure round trips and to see
///   how old a packet is, so a test with lost packets takes real time.
/// - It takes its random numbers from the system.
/// - It starts one thread ("SCTP iterator"), which waits for changes of addresses and does nothing else.
enum SCTPStack {
    /// All calls into the library, one at a time.
    private static let turn = Locked(false)

    /// The packets that the library wants to send, by line. It has a lock of its own, because the library hands packets out
    /// in the middle of a call.
    private static let outboxes = Locked(Outboxes())

    private struct Outboxes {
        var packets: [UInt: [[UInt8]]] = [:]
        /// The lines that have packets.
        var waiting: Set<UInt> = []
    }

    /// Runs `body` while no other thread uses the library. Starts the library if necessary.
    static func run<Value>(_ body: () -> Value) -> Value {
        turn.withLock { isRunning in
            if !isRunning {
                isRunning = true
                gatehouse_sctp_start { line, packet, length in SCTPStack.take(line, packet, length) }
            }
            return Carried(value: body())
        }.value
    }

    /// Begins to collect what is sent on a line.
    static func open(_ line: UInt) {
        outboxes.withLock { $0.packets[line] = [] }
    }

    /// What goes out on a line is dropped from now on.
    static func close(_ line: UInt) {
        outboxes.withLock { all in
            all.packets[line] = nil
            all.waiting.remove(line)
        }
    }

    /// The lines with packets to send.
    static var waitingLines: Set<UInt> { outboxes.withLock { $0.waiting } }

    /// Takes the packets of a line.
    static func takePackets(of line: UInt) -> [[UInt8]] {
        outboxes.withLock { all in
            guard all.waiting.remove(line) != nil, let packets = all.packets[line] else { return [] }
            all.packets[line] = []
            return packets
        }
    }

    private static func take(_ line: UInt, _ packet: UnsafeRawPointer?, _ length: Int) {
        guard let packet else { return }
        let bytes = Array(UnsafeRawBufferPointer(start: packet, count: length))
        outboxes.withLock { all in
            guard all.packets[line] != nil else { return }
            all.packets[line]?.append(bytes)
            all.waiting.insert(line)
        }
    }
}

/// Carries a value out of a lock.
private struct Carried<Value>: @unchecked Sendable {
    // Proof for @unchecked: the value is made and taken on one thread, in one call of `SCTPStack.run`.
    let value: Value
}
