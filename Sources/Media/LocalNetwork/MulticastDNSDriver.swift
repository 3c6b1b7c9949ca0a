import DatagramPort
import MulticastDNS
import Transport

/// The thread of multicast DNS: the sockets, the name's owner and the resolver.
final class MulticastDNSDriver: ShardHandler {
    /// How often the interfaces are looked at. The kernel would say so at once, but a name may come a few seconds late.
    private static let scanInterval = Duration.seconds(5)
    /// The most interfaces that are used.
    private static let maximumInterfaces = 16
    /// A flood on one link must not starve the others: so many messages are read before the next link has its turn.
    private static let maximumReads = 32

    private struct Key: Hashable {
        var interface: String
        var index: UInt32
        var family: TransportAddress.Family
    }

    private struct Link {
        var id: Int
        var socket: MulticastSocket
        var watch: ShardContext.Watch
    }

    private let context: ShardContext
    private let changed: @Sendable (MulticastDNSState) -> Void
    private var responder: MulticastDNSResponder?
    private var resolver = MulticastDNSResolver()
    private var links: [Key: Link] = [:]
    private var nextLink = 1
    private var nextScan = Instant.zero
    private var waiting: [DNSName: [@Sendable (TransportAddress?) -> Void]] = [:]
    private var state = MulticastDNSState()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: MulticastDNS.maximumMessageSize, alignment: 8)

    init(context: ShardContext, name: String?, changed: @escaping @Sendable (MulticastDNSState) -> Void) {
        self.context = context
        self.changed = changed
        responder = name.map { MulticastDNSResponder(name: $0, random: .system) }
    }

    deinit { buffer.deallocate() }

    /// Looks a candidate's name up. `found` is called once, on this thread.
    func resolve(_ text: String, at now: Instant, _ found: @escaping @Sendable (TransportAddress?) -> Void) {
        switch resolver.resolve(text, at: now) {
        case .address(let address): found(address)
        case .unknown: found(nil)
        case .refused:
            state.refusedNames += 1
            found(nil)
        case .asking:
            guard let name = MulticastDNSResolver.candidateName(text) else { return found(nil) }
            waiting[name, default: []].append(found)
        }
        finishTurn(at: now)
    }

    var nextDeadline: Instant? {
        [nextScan, responder?.nextDeadline, resolver.nextDeadline].compactMap { $0 }.min()
    }

    // The thread's own port is not used.
    func handleDatagrams(_ datagrams: DatagramBatch, at now: Instant) {}

    func handleDeadline(at now: Instant) {
        if nextScan <= now { scan(at: now) }
        responder?.handleDeadline(at: now)
        resolver.handleDeadline(at: now)
        finishTurn(at: now)
    }

    func handleStop(at now: Instant) {
        responder?.sayGoodbye()
        finishTurn(at: now)
        for link in links.values { context.unwatch(link.watch) }
        links = [:]
        for found in waiting.values.joined() { found(nil) }
        waiting = [:]
    }

    // MARK: - Links

    private func scan(at now: Instant) {
        nextScan = now + Self.scanInterval
        let interfaces = multicastInterfaces().prefix(Self.maximumInterfaces)
        var wanted: [Key: MulticastInterface] = [:]
        for interface in interfaces {
            for family in Set(interface.addresses.map(\.family)) {
                wanted[Key(interface: interface.name, index: interface.index, family: family)] = interface
            }
        }
        for (key, link) in links where wanted[key] == nil {
            context.unwatch(link.watch)
            links[key] = nil
        }
        state.failure = nil
        for (key, interface) in wanted where links[key] == nil { open(key, interface) }
        let ordered = links.sorted { $0.value.id < $1.value.id }
        resolver.setLinks(ordered.map(\.value.id))
        responder?.setLinks(
            ordered.map { .init(id: $0.value.id, addresses: wanted[$0.key]?.addresses ?? []) }, at: now)
        state.interfaces = interfaces.map(\.name).filter { name in links.keys.contains { $0.interface == name } }
    }

    private func open(_ key: Key, _ interface: MulticastInterface) {
        do throws(SystemCallError) {
            let socket = try MulticastSocket(
                joining: key.family == .ipv4 ? MulticastDNS.groupIPv4 : MulticastDNS.groupIPv6, on: interface)
            let id = nextLink
            let watch = try context.watch(socket.descriptor, for: .readable) { [weak self] _ in
                self?.receive(from: key)
            }
            nextLink += 1
            links[key] = Link(id: id, socket: socket, watch: watch)
        } catch {
            // The next scan tries again.
            state.failure = "\(error)"
        }
    }

    private func receive(from key: Key) {
        guard let link = links[key] else { return }
        let now = context.now
        for _ in 0..<Self.maximumReads {
            guard let (count, source) = link.socket.receive(into: buffer) else { break }
            let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
            // What is not a message is somebody else's mistake.
            guard let message = try? MulticastDNSMessage(parsing: bytes) else {
                state.unreadableMessages += 1
                continue
            }
            responder?.handle(message, on: link.id, from: source, at: now)
            resolver.handle(message, from: source, at: now)
            drain()
        }
        finishTurn(at: now)
    }

    // MARK: - What follows

    /// Sends what both machines want to send, and passes on what the resolver has found out.
    private func drain() {
        while let transmit = responder?.pollTransmit() ?? resolver.pollTransmit() {
            let link = links.values.first { $0.id == transmit.link }
            link?.socket.send(transmit.bytes, to: transmit.destination)
        }
        while let event = resolver.pollEvent() {
            if event.address == nil { state.unknownNames += 1 } else { state.resolvedNames += 1 }
            for found in waiting.removeValue(forKey: event.name) ?? [] { found(event.address) }
        }
    }

    private func finishTurn(at now: Instant) {
        drain()
        if let responder {
            state.name = responder.name.description
            state.isAnnounced = responder.isAnnounced
            state.isRenamed = responder.isRenamed
            state.answeredQueries = responder.answered
        }
        changed(state)
    }
}
