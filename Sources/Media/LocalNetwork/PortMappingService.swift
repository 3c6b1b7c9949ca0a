import DatagramPort
public import PortMapping
import Transport

/// Keeps the router forwarding the media port, and the TCP port of media, on a thread of its own.
public final class PortMappingService: Sendable {
    private let thread: ShardThread<PortMappingDriver>
    private let known: Locked<PortMappings>

    /// Starts the thread.
    /// - Parameters:
    ///   - mediaPort: the UDP port of this host.
    ///   - tcpPort: its TCP port; nil for none.
    ///   - router: finds the router.
    ///   - ipv6Router: finds the router of IPv6.
    ///   - changed: called on the thread after each change of ``mappings``. It must not wait.
    /// - Throws: `SystemCallError` when the socket cannot be opened or the thread cannot be started.
    public init(
        mediaPort: UInt16, tcpPort: UInt16? = nil,
        router: @escaping @Sendable () -> DefaultRouter? = { DefaultRouter.current() },
        ipv6Router: @escaping @Sendable () -> IPv6Router? = { IPv6Router.current() },
        changed: @escaping @Sendable (PortMappings) -> Void = { _ in }
    ) throws(SystemCallError) {
        let known = Locked(PortMappings())
        self.known = known
        var settings = UDPPort.Configuration()
        (settings.receiveBufferSize, settings.sendBufferSize) = (65_536, 65_536)
        thread = try ShardThread(name: "port-mapping", port: UDPPort(settings)) { context in
            PortMappingDriver(
                context: context, mediaPort: mediaPort, tcpPort: tcpPort, router: router, ipv6Router: ipv6Router
            ) { mappings in
                let isNew = known.withLock { previous in
                    defer { previous = mappings }
                    return previous != mappings
                }
                if isNew { changed(mappings) }
            }
        }
    }

    /// What is known now. Reading it waits for nobody.
    public var mappings: PortMappings { known.withLock { $0 } }

    /// Ends the mappings, and the thread.
    public func stop() {
        thread.stop()
        thread.join()
    }
}
