import CLinuxUDP
public import Transport

/// What a ``ShardThread`` offers its handler. It must not leave the thread.
public final class ShardContext {
    /// The events that a descriptor is watched for, and those that were found.
    public struct Readiness: OptionSet, Hashable, Sendable {
        public let rawValue: UInt32

        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// Bytes can be read, or a connection accepted.
        public static let readable = Readiness(rawValue: 1)
        /// Bytes can be written.
        public static let writable = Readiness(rawValue: 2)
        /// The other side has closed, or the descriptor has an error. It is always reported.
        public static let closed = Readiness(rawValue: 4)
    }

    /// A watched descriptor.
    public struct Watch: Hashable, Sendable {
        let token: UInt64
        let descriptor: Int32
    }

    /// The port whose datagrams the handler gets.
    public let port: UDPPort
    /// The time at which the current call to the handler began.
    public internal(set) var now: Instant
    /// Memory for one super-buffer of datagrams, for `pollTransmit` and similar calls. Its content does not outlast a
    /// call.
    public let sendBuffer: UnsafeMutableRawBufferPointer

    private let epoll: Int32
    private var nextToken = ShardToken.firstWatch
    private var watches: [UInt64: (Readiness) -> Void] = [:]

    init(port: UDPPort, epoll: Int32, now: Instant) {
        self.port = port
        self.epoll = epoll
        self.now = now
        sendBuffer = .allocate(byteCount: 65_536, alignment: 64)
    }

    deinit {
        sendBuffer.deallocate()
    }

    /// Calls `handler` on this thread whenever `descriptor` is ready, until ``unwatch(_:)``.
    ///
    /// The descriptor should be non-blocking. It stays the caller's, and must be unwatched before it is closed. As long
    /// as it is ready, the handler is called again. So the handler must read, write or change its interest.
    public func watch(
        _ descriptor: Int32, for interest: Readiness, handler: @escaping (Readiness) -> Void
    ) throws(SystemCallError) -> Watch {
        // A token is never used twice, so an event that was found before an unwatch cannot reach another handler.
        let watch = Watch(token: nextToken, descriptor: descriptor)
        _ = try SystemCallError.check(
            linux_epoll_add(epoll, descriptor, interest.rawValue & 3, watch.token), "epoll_ctl",
            "cannot watch file descriptor \(descriptor)")
        nextToken += 1
        watches[watch.token] = handler
        return watch
    }

    /// Changes the interest of a watch.
    public func modify(_ watch: Watch, for interest: Readiness) throws(SystemCallError) {
        guard watches[watch.token] != nil else { return }
        _ = try SystemCallError.check(
            linux_epoll_modify(epoll, watch.descriptor, interest.rawValue & 3, watch.token), "epoll_ctl",
            "cannot change the watch of file descriptor \(watch.descriptor)")
    }

    /// Ends a watch. No call follows, even for events that were already found. A second call does nothing.
    public func unwatch(_ watch: Watch) {
        guard watches.removeValue(forKey: watch.token) != nil else { return }
        _ = linux_epoll_remove(epoll, watch.descriptor)
    }

    func dispatch(_ event: linux_event) {
        watches[event.token]?(Readiness(rawValue: event.bits))
    }

    /// Releases the handlers, which usually hold the object that holds this context.
    func removeWatches() {
        watches = [:]
    }
}

@available(*, unavailable)
extension ShardContext: Sendable {}

/// What an epoll event is about.
enum ShardToken {
    static let mailbox: UInt64 = 0
    static let ipv4: UInt64 = 4
    static let ipv6: UInt64 = 6
    static let firstWatch: UInt64 = 16
}
