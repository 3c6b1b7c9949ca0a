import DatagramPort
public import PortMapping
import Transport

/// Keeps the router forwarding the media port, on a thread of its own.
public final class PortMappingService: Sendable {
    private let thread: ShardThread<PortMappingDriver>
    private let known: Locked<PortMapping>

    /// Starts the thread.
    /// - Parameters:
    ///   - internalPort: the UDP port of this host.
    ///   - router: finds the router.
    ///   - changed: called on the thread after each change of ``mapping``. It must not wait.
    /// - Throws: `SystemCallError` when the socket cannot be opened or the thread cannot be started.
    public init(
        internalPort: UInt16, router: @escaping @Sendable () -> DefaultRouter? = { DefaultRouter.current() },
        changed: @escaping @Sendable (PortMapping) -> Void = { _ in }
    ) throws(SystemCallError) {
        let known = Locked(PortMapping())
        self.known = known
        var settings = UDPPort.Configuration()
        settings.ipv6Address = nil
        (settings.receiveBufferSize, settings.sendBufferSize) = (65_536, 65_536)
        thread = try ShardThread(name: "port-mapping", port: UDPPort(settings)) { context in
            PortMappingDriver(context: context, internalPort: internalPort, router: router) { mapping in
                let isNew = known.withLock { previous in
                    defer { previous = mapping }
                    return previous != mapping
                }
                if isNew { changed(mapping) }
            }
        }
    }

    /// What is known now. Reading it waits for nobody.
    public var mapping: PortMapping { known.withLock { $0 } }

    /// Ends the mapping, and the thread.
    public func stop() {
        thread.stop()
        thread.join()
    }
}
