import DatagramPort
import Transport

/// The TURN server that relays for the gateway. Nothing of this exists before the first server is named.
extension MediaRelay {
    /// Changes the TURN server; nil for none.
    /// - Parameter changed: called on the server's thread after each change of ``turnState``. It must not wait.
    /// - Throws: `SystemCallError` when the socket cannot be opened or the thread cannot be started.
    public func setTURNServer(
        _ server: TURNServer?, changed: @escaping @Sendable (TURNState?) -> Void = { _ in }
    ) throws(SystemCallError) {
        let (links, known) = (links, knownTURNState)
        let thread = try turnThread.withLock { thread throws(SystemCallError) in
            if let thread { return thread as ShardThread<TURNDriver>? }
            guard server != nil else { return nil }
            let address = try ShardAddress<TURNDriver>()
            let port = try UDPPort(UDPPort.Configuration())
            let started = try ShardThread(name: "turn", port: port, address: address) { context in
                TURNDriver(context: context, links: links)
            }
            links.relayed.setReader { address.wake() }
            thread = started
            return started
        }
        thread?.post { driver, now in
            driver.use(
                server,
                changed: { state in
                    known.withLock { $0 = state }
                    changed(state)
                }, at: now)
        }
    }

    /// What is known of the TURN server; nil without one. Reading it waits for nobody.
    public var turnState: TURNState? { knownTURNState.withLock { $0 } }

    /// Where the TURN server relays for the gateway; empty while it does not.
    public var relayedAddresses: [TransportAddress] { turnState?.relayedAddresses ?? [] }

    /// Ends the server's thread, which gives the allocation back.
    func stopRelaying() {
        let thread = turnThread.withLock { $0.take() }
        links.relayed.setReader(nil)
        thread?.stop()
        thread?.join()
    }
}
