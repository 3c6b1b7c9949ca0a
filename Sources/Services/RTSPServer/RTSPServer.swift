public import DatagramPort
public import MediaRelay
import RTP
import RTSP
import Stations
import Transport

/// Serves each camera on `rtsp://host:port/{device}`, so that other programs share the gateway's one connection to it.
///
/// Packets are read from the relay's rings and copied once, into the data for the reader's socket. All work is done on
/// a separate thread, so even the slowest reader does not delay a live view.
public final class RTSPServer: Sendable {
    private let shard: ShardThread<RTSPServerShard>
    /// The TCP port.
    public let port: UInt16
    /// The UDP ports that media is sent from; nil if they could not be opened, and `udpFailure` says why.
    public let datagramPorts: (rtp: UInt16, rtcp: UInt16)?
    /// Why media is sent only over TCP; nil if it is not.
    public let udpFailure: SystemCallError?

    /// Starts to listen. No camera is served before ``setCameras(_:)``.
    ///
    /// - Parameters:
    ///   - connections: The connections of all listeners, among which this server's are counted.
    ///   - report: Reports what happens with readers. Called on the server's thread; must not wait.
    /// - Throws: When the TCP port cannot be opened. Without the UDP ports the server works over TCP.
    public init(
        _ configuration: RTSPServerConfiguration, relay: MediaRelay, random: RandomSource = .system,
        connections: ConnectionLedger = ConnectionLedger(),
        report: @escaping @Sendable (RTSPServerNews) -> Void = { _ in }
    ) throws(SystemCallError) {
        let (listeners, port) = try Self.listen(configuration.addresses)
        var failure: SystemCallError?
        var ports: DatagramPorts?
        do throws(SystemCallError) {
            ports = try DatagramPorts(
                addresses: configuration.addresses, port: configuration.addresses.first?.port ?? 0,
                takesMedia: configuration.publishing != nil)
        } catch {
            failure = error
        }
        var limits = configuration
        limits.session.serverPorts = ports.map { ($0.rtp.localPort, $0.rtcp.localPort) }
        limits.session.takesPublishers = configuration.publishing != nil
        // The thread needs a port to wait on. Without the pair, it gets one that nobody knows.
        let waiting = if let ports { ports.rtcp } else { try UDPPort(.loopback()) }
        let inbox = TapQueue(limits: RTSPServerShard.inboxLimits)
        let giveWay = GiveWay()
        let revoking = RevokedConnections()
        let arriving = ArrivingFootage()
        let publishing = PublisherPost()
        let clock = WallClockReading(instant: MonotonicClock.now, unixNanoseconds: WallClock.now)
        let served = ports
        let settled = limits
        shard = try ShardThread(name: "rtsp-server", port: waiting) { context in
            RTSPServerShard(
                context: context, limits: settled, relay: relay, ports: served, inbox: inbox,
                listeners: listeners, ledger: connections, giveWay: giveWay, revoking: revoking,
                arrivingFootage: arriving, publisherPost: publishing, clock: clock, random: random, report: report)
        }
        self.port = port
        datagramPorts = limits.session.serverPorts
        udpFailure = failure
        giveWay.setAction { [weak shard] id in
            shard?.post { handler, now in handler.giveWay(id, at: now) }
        }
        revoking.setPost { [weak shard] id, camera, refusal, done in
            shard?.post { handler, now in
                handler.revoke(id, of: camera, because: refusal, at: now)
                done()
            } ?? false
        }
        arriving.setPost { [weak shard] work in shard?.post { handler, now in work(handler, now) } }
        publishing.setPost { [weak shard] work in shard?.post { handler, now in work(handler, now) } ?? false }
        inbox.setWake { [weak shard] in shard?.post { handler, now in handler.handleInbox(at: now) } }
    }

    /// Opens one listener for each address, all on one port.
    private static func listen(
        _ addresses: [TransportAddress]
    ) throws(SystemCallError) -> (listeners: [TCPListener], port: UInt16) {
        var listeners: [TCPListener] = []
        var port = addresses.first?.port ?? 0
        for address in addresses {
            do throws(SystemCallError) {
                // All readers of all cameras come back at once after a restart.
                let listener = try TCPListener(on: address.withPort(port), backlog: 128)
                port = listener.localAddress?.port ?? port
                listeners.append(listener)
            } catch {
                // A host without IPv6 is served over IPv4.
                guard address.family == .ipv6, !listeners.isEmpty, error.isMissingFamily else {
                    var failure = error
                    failure.purpose += " for RTSP (choose another rtsp.port, or stop the program that uses this one)"
                    throw failure
                }
            }
        }
        return (listeners, port)
    }

    /// Serves these cameras from now on, and ends the readers of all others.
    public func setCameras(_ cameras: [ServedCamera]) {
        shard.post { handler, now in handler.setCameras(cameras, at: now) }
    }

    /// Ends the readers of a principal whose camera it may no longer watch.
    public func endReaders(of principal: String, unless mayWatch: @escaping @Sendable (_ camera: String) -> Bool) {
        shard.post { handler, now in handler.endReaders(of: principal, unless: mayWatch, at: now) }
    }

    /// Whether a path names recorded footage, and not what a camera shows now.
    public static func isFootage(_ path: String) -> Bool { path.hasPrefix(FootagePresentation.prefix) }

    /// Serves recorded footage from here from now on, at `rtsp://host:port/recordings/{device}`.
    public func setFootage(_ source: FootageSource) {
        shard.post { handler, _ in handler.footage = source }
    }

    /// What the server has done.
    public func counters() async -> RTSPServerCounters {
        await withCheckedContinuation { continuation in
            let posted = shard.post { handler, _ in continuation.resume(returning: handler.readCounters()) }
            if !posted { continuation.resume(returning: RTSPServerCounters()) }
        }
    }

    /// The connection that reports about datagrams at each place, for tests.
    func reporters() async -> [TransportAddress: UInt64] {
        await withCheckedContinuation { continuation in
            let posted = shard.post { handler, _ in continuation.resume(returning: handler.reporters) }
            if !posted { continuation.resume(returning: [:]) }
        }
    }

    /// The processor time that the server's thread has used.
    public var processorTime: Duration { shard.counters.processorTime }

    /// Says goodbye to every reader and ends the thread; returns when it has ended.
    public func stop() {
        shard.stop()
        shard.join()
    }
}

/// Ends a connection from another thread, because a connection of another listener replaces it.
final class GiveWay: Sendable {
    private let action = Locked<(@Sendable (UInt64) -> Void)?>(nil)

    func setAction(_ action: @escaping @Sendable (UInt64) -> Void) {
        self.action.withLock { $0 = action }
    }

    func end(_ id: UInt64) {
        action.withLock { $0 }?(id)
    }
}

/// Ends connections from other threads, because their permits were revoked.
final class RevokedConnections: Sendable {
    typealias Post = @Sendable (UInt64, String, OutputRefusal, _ done: @escaping @Sendable () -> Void) -> Bool

    private let post = Locked<Post?>(nil)

    func setPost(_ post: @escaping Post) {
        self.post.withLock { $0 = post }
    }

    /// Ends a connection if it has the camera. `done` is called once, when nothing more leaves to it.
    func end(
        _ id: UInt64, of camera: String, because refusal: OutputRefusal, done: @escaping @Sendable () -> Void
    ) {
        let isPosted = post.withLock { $0 }?(id, camera, refusal, done) ?? false
        if !isPosted { done() }
    }
}
