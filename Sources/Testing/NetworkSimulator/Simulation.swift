import Transport

/// A protocol machine on a simulated host.
///
/// It is a class because it contains machines that cannot be copied, and because a test inspects it while the
/// simulation holds it.
public protocol SimulatedEndpoint: AnyObject {
    /// The addresses at which it receives; they may change while the simulation runs.
    var addresses: [TransportAddress] { get }
    /// Handles a datagram that arrived at one of ``addresses``.
    func receive(_ datagram: SimulatedDatagram)
    /// When to call ``handleDeadline(at:)``; nil for never.
    var nextDeadline: Instant? { get }
    /// Handles the deadline.
    func handleDeadline(at now: Instant)
    /// Writes what to send next; nil if there is nothing. One call may return several datagrams of one size.
    func pollTransmit(
        into buffer: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> (transmit: Transmit, source: TransportAddress)?
}

/// Drives endpoints over a ``SimulatedNetwork`` in virtual time. It always moves on to the earliest of all deadlines,
/// so half an hour takes milliseconds.
public final class Simulation {
    /// What connects the endpoints.
    public var network: SimulatedNetwork
    /// The virtual time.
    public private(set) var now: Instant
    /// The endpoints; more may be added at any time.
    public var endpoints: [any SimulatedEndpoint]
    /// Called with every datagram as it arrives.
    public var observer: ((SimulatedDatagram) -> Void)?
    /// Why the simulation gave up: an endpoint asked for the same deadline again and again.
    public private(set) var stall: String?

    /// How often in a row an endpoint may ask for a deadline that is not in the future.
    private static let patience = 1000

    /// Makes a simulation that begins at `start`.
    public init(
        network: SimulatedNetwork, endpoints: [any SimulatedEndpoint] = [],
        start: Instant = Instant(nanoseconds: 1_000_000_000)
    ) {
        self.network = network
        self.endpoints = endpoints
        now = start
    }

    /// Runs for `duration`, or until `isDone` holds; returns whether it did. Stops at a stall, see ``stall``.
    @discardableResult
    public func run(for duration: Duration, until isDone: () -> Bool = { false }) -> Bool {
        let end = now + duration
        var stepsWithoutProgress = 0
        drain()
        while !isDone() {
            guard let next = nextDeadline, next <= end else {
                now = end
                return isDone()
            }
            stepsWithoutProgress = next > now ? 0 : stepsWithoutProgress + 1
            guard stepsWithoutProgress < Self.patience else {
                stall = "no progress at \(now.nanoseconds) ns: an endpoint's deadline stays in the past"
                return false
            }
            now = max(now, next)
            step()
        }
        return true
    }

    private var nextDeadline: Instant? {
        var next = network.nextDeadline
        for endpoint in endpoints {
            guard let deadline = endpoint.nextDeadline else { continue }
            next = min(next ?? deadline, deadline)
        }
        return next
    }

    private func step() {
        for datagram in network.deliver(until: now) {
            observer?(datagram)
            for endpoint in endpoints where endpoint.addresses.contains(datagram.destination) {
                endpoint.receive(datagram)
                drain(endpoint)
            }
        }
        for endpoint in endpoints {
            if let deadline = endpoint.nextDeadline, deadline <= now { endpoint.handleDeadline(at: now) }
        }
        drain()
    }

    private func drain() {
        for endpoint in endpoints { drain(endpoint) }
    }

    private func drain(_ endpoint: any SimulatedEndpoint) {
        withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
            for _ in 0..<Self.patience {
                guard let (transmit, source) = endpoint.pollTransmit(into: buffer, at: now) else { return }
                var offset = 0
                while offset < transmit.byteCount {
                    let end = min(offset + max(transmit.segmentSize, 1), transmit.byteCount)
                    network.send(
                        UnsafeRawBufferPointer(rebasing: buffer[offset..<end]), from: source,
                        to: transmit.destination, at: now)
                    offset = end
                }
            }
            stall = "an endpoint never stops sending at \(now.nanoseconds) ns"
        }
    }
}
