public import DatagramPort
import Transport

/// The thread of the viewers' TCP connections, and its port.
struct TCPThread: Sendable {
    var thread: ShardThread<TCPDriver>
    var port: UInt16
}

/// Viewers whose network lets no UDP through connect over TCP (RFC 6544). Nothing of this exists before the first call.
extension MediaRelay {
    /// Accepts TCP connections at the addresses of the media port. A second call does nothing.
    ///
    /// - Parameters:
    ///   - port: the TCP port; nil for the number of the media port.
    ///   - ledger: the connections of all listeners, among which these are counted.
    ///   - limits: what the connections may cost.
    ///   - report: gets why an address cannot be listened at for now, and nil when all of them are again. It is called on the
    ///     connections' thread and must not wait.
    /// - Throws: `SystemCallError` when the port is in use or cannot be opened.
    public func acceptConnections(
        at port: UInt16? = nil, countedIn ledger: ConnectionLedger = ConnectionLedger(),
        limits: TCPLimits = TCPLimits(), report: @escaping @Sendable (SystemCallError?) -> Void = { _ in }
    ) throws(SystemCallError) {
        let links = links
        let wanted = port ?? self.port.localPort
        let addresses = self.port.ports.first?.localAddresses ?? []
        try tcpThread.withLock { thread throws(SystemCallError) in
            guard thread == nil else { return }
            var listeners: [TCPListener] = []
            var chosen = wanted
            for address in addresses {
                let listener = try TCPListener(on: address.withPort(chosen))
                chosen = listener.localAddress?.port ?? chosen
                listeners.append(listener)
            }
            let address = try ShardAddress<TCPDriver>()
            let sockets = listeners
            let started = try ShardThread(name: "media-tcp", port: try UDPPort(.loopback()), address: address) {
                TCPDriver(
                    context: $0, address: address, listeners: sockets, links: links, ledger: ledger, limits: limits,
                    report: report)
            }
            links.connected.setReader { address.wake() }
            thread = TCPThread(thread: started, port: chosen)
        }
    }

    /// The TCP port at which viewers connect; nil without one. Reading it waits for nobody.
    public var tcpPort: UInt16? { tcpThread.withLock { $0?.port } }

    /// What the listener has done; nil without one.
    public func tcpCounters() async -> TCPCounters? {
        guard let thread = tcpThread.withLock({ $0?.thread }) else { return nil }
        return await withCheckedContinuation { continuation in
            let posted = thread.post { driver, _ in continuation.resume(returning: driver.readCounters()) }
            if !posted { continuation.resume(returning: nil) }
        }
    }

    /// Sends what still waits, and closes the connections and the port.
    func stopAccepting() {
        let thread = tcpThread.withLock { $0.take() }?.thread
        // The thread takes what waits in the queue before it ends.
        thread?.stop()
        thread?.join()
        links.connected.setReader(nil)
    }
}
