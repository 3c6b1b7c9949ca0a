import DatagramPort
import Signalling
import Transport

/// Takes what encoders and cameras publish by RTMP, at `rtmp://host:port/{camera}?token=…`.
///
/// All work is done on a separate thread, which takes the streams apart and hands their packets to the cameras. So no
/// publisher delays a live view.
public final class RTMPServer: Sendable {
    private let shard: ShardThread<RTMPServerShard>
    /// The TCP port.
    public let port: UInt16

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - gate: Makes publishers cameras.
    ///   - admission: Decides who may publish.
    ///   - connections: The connections of all listeners, among which this server's are counted.
    ///   - report: Reports what happens with clients. Called on the server's thread; must not wait.
    /// - Throws: When the port cannot be opened.
    public init(
        _ configuration: RTMPServerConfiguration, gate: PublishingGate, admission: PublisherAdmission,
        random: RandomSource = .system, connections: ConnectionLedger = ConnectionLedger(),
        report: @escaping @Sendable (RTMPServerNews) -> Void = { _ in }
    ) throws(SystemCallError) {
        let (listeners, port) = try Self.listen(configuration.addresses)
        self.port = port
        let address = try ShardAddress<RTMPServerShard>()
        // The thread needs a port to wait on. It gets one that nobody knows.
        shard = try ShardThread(name: "rtmp-server", port: try UDPPort(.loopback()), address: address) { context in
            RTMPServerShard(
                context: context, address: address, limits: configuration, gate: gate, admission: admission,
                listeners: listeners, ledger: connections, random: random, report: report)
        }
    }

    /// Opens one listener for each address, all on one port.
    private static func listen(
        _ addresses: [TransportAddress]
    ) throws(SystemCallError) -> (listeners: [TCPListener], port: UInt16) {
        var listeners: [TCPListener] = []
        var port = addresses.first?.port ?? 0
        for address in addresses {
            do throws(SystemCallError) {
                let listener = try TCPListener(on: address.withPort(port))
                port = listener.localAddress?.port ?? port
                listeners.append(listener)
            } catch {
                // A host without IPv6 is served over IPv4.
                guard address.family == .ipv6, !listeners.isEmpty, error.isMissingFamily else {
                    var failure = error
                    failure.purpose += " for RTMP (choose another rtmp.port, or stop the program that uses this one)"
                    throw failure
                }
            }
        }
        return (listeners, port)
    }

    /// What the server has done.
    public func counters() async -> RTMPServerCounters {
        await withCheckedContinuation { continuation in
            let posted = shard.post { handler, _ in continuation.resume(returning: handler.readCounters()) }
            if !posted { continuation.resume(returning: RTMPServerCounters()) }
        }
    }

    /// The processor time that the server's thread has used.
    public var processorTime: Duration { shard.counters.processorTime }

    /// Ends every publisher and the thread; returns when it has ended.
    public func stop() {
        shard.stop()
        shard.join()
    }
}
