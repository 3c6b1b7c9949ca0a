import DatagramPort
public import Transport

/// What is known of the gateway's name in the local network, and what has happened.
public struct MulticastDNSState: Hashable, Sendable {
    /// The name that is announced or probed for, for example `gatehouse.local`; nil where none is wanted.
    public var name: String?
    /// Whether the name is the gateway's.
    public var isAnnounced = false
    /// Whether another host has the configured name, so that the gateway has another one.
    public var isRenamed = false
    /// The interfaces that are used.
    public var interfaces: [String] = []
    /// Why an interface is not used; nil if all are.
    public var failure: String?
    /// Queries for the name that were answered.
    public var answeredQueries = 0
    /// Names of candidates that somebody has answered for.
    public var resolvedNames = 0
    /// Names of candidates that nobody has answered for.
    public var unknownNames = 0
    /// Names of candidates that were not asked for: not of the form that browsers use, or too many at a time.
    public var refusedNames = 0
    /// Messages that could not be read.
    public var unreadableMessages = 0

    /// Nothing has happened yet.
    public init() {}
}

/// Multicast DNS on a thread of its own: announces the gateway's name, and looks up the names of viewers' candidates.
public final class MulticastDNSService: Sendable {
    private let thread: ShardThread<MulticastDNSDriver>
    private let known: Locked<MulticastDNSState>

    /// Starts the thread.
    /// - Parameters:
    ///   - name: the name to announce, without `.local`; nil to announce none.
    ///   - changed: called on the thread after each change of ``state``. It must not wait.
    /// - Throws: `SystemCallError` when the thread cannot be started.
    public init(
        name: String?, changed: @escaping @Sendable (MulticastDNSState) -> Void = { _ in }
    ) throws(SystemCallError) {
        let known = Locked(MulticastDNSState())
        self.known = known
        var settings = UDPPort.Configuration.loopback()
        // The thread needs a port, but everything goes over sockets of its own.
        (settings.receiveBufferSize, settings.sendBufferSize) = (4096, 4096)
        thread = try ShardThread(name: "mdns", port: UDPPort(settings)) { context in
            MulticastDNSDriver(context: context, name: name) { state in
                let isNew = known.withLock { previous in
                    defer { previous = state }
                    return previous != state
                }
                if isNew { changed(state) }
            }
        }
    }

    /// What is known now. Reading it waits for nobody.
    public var state: MulticastDNSState { known.withLock { $0 } }

    /// Looks up the name of a candidate. `found` is called once, on the thread of multicast DNS, with an address with port 0, or
    /// with nil if there is none. It must not wait.
    public func resolve(_ name: String, _ found: @escaping @Sendable (TransportAddress?) -> Void) {
        if !thread.post({ driver, now in driver.resolve(name, at: now, found) }) { found(nil) }
    }

    /// Says goodbye, and ends the thread.
    public func stop() {
        thread.stop()
        thread.join()
    }
}
