import ICE
import NetworkSimulator
import STUN
import TURN
import Testing
import Transport

/// An agent that first finds its addresses, by a STUN server and perhaps a TURN server, and then connects.
final class NetworkHost: SimulatedEndpoint {
    /// Where it receives media over UDP.
    let host: TransportAddress
    /// Where it accepts TCP connections; nil if it accepts none. The other host connects from ``connecting``.
    let passive: TransportAddress?
    /// Its end of its TCP connections to passive candidates.
    private let connecting: TransportAddress
    /// Its end of the way to the TURN server, and the server's; nil without one.
    private let turnWay: (own: TransportAddress, server: TransportAddress)?
    let addresses: [TransportAddress]

    private var agent: ICEAgent
    private var credentials: ICECredentials
    private let role: ICERole
    private var random: RandomSource
    private var finder: ReflexiveAddressFinder
    private let turnConfiguration: TURNConfiguration
    private var turn: TURNClient
    /// When it asks the server for another allocation, because it has lost the last one.
    private var nextAllocation: Instant?
    /// How long it waits before that; nil if it never asks again.
    var allocationPause: Duration?
    /// When it got each allocation.
    private(set) var allocations: [Instant] = []
    /// Where it is relayed, as far as its agent knows.
    private var told: [TransportAddress] = []
    /// When its agent began to want a restart of ICE.
    private(set) var restartWishes: [Instant] = []
    private var wantsRestart = false
    /// How often another path was selected.
    private(set) var pathChanges = 0
    private var reader = TURNStreamReader()
    /// The other host's passive candidates.
    private var passiveRemotes: Set<TransportAddress> = []
    private var outbox: [(bytes: [UInt8], source: TransportAddress, destination: TransportAddress)] = []
    private(set) var failure: ICEFailure?

    /// - Parameters:
    ///   - turnServer: the TURN server's address, by TCP where it is reached over a stream; nil for none.
    ///   - passivePort: where it accepts TCP connections; nil for none.
    init(
        _ role: ICERole, at host: String, seed: UInt64, turnServer: TransportAddress? = nil,
        passivePort: UInt16? = nil, start: Instant
    ) throws {
        let address = try #require(TransportAddress(host, port: 8189))
        let passive = passivePort.map { address.withPort($0) }
        let connecting = address.withPort(8191).by(.tcp)
        let turnWay = turnServer.map { (own: address.withPort(8192).by($0.route), server: $0) }
        var random = RandomSource.seeded(seed)
        let credentials = ICECredentials(using: &random)
        var finder = ReflexiveAddressFinder(random: random)
        finder.setServers([PublicServer.udp], at: start)
        var configuration = TURNConfiguration(username: "gatehouse", password: "secret")
        configuration.isStream = turnServer?.route == .tcp
        turnConfiguration = configuration
        var turn = TURNClient(configuration: configuration, random: random, now: start)
        if turnServer == nil { turn.close(at: start) }
        self.host = address
        self.passive = passive
        self.connecting = connecting
        self.turnWay = turnWay
        self.role = role
        self.credentials = credentials
        self.random = random
        self.finder = finder
        self.turn = turn
        addresses = [address, connecting] + [passive?.by(.tcp), turnWay?.own].compactMap { $0 }
        // It knows no other host yet, so it does nothing.
        agent = ICEAgent(
            configuration: ICEConfiguration(
                role: role, localCredentials: credentials, addresses: ICEAddresses(hosts: [address])),
            random: random, now: start)
    }

    var isConnected: Bool { agent.state == .connected }
    var pathKind: ICEPathKind? { agent.selectedPathKind }
    var selectedRemote: TransportAddress? { agent.selectedRemoteAddress }
    /// Whether it has an allocation at a server that does not answer.
    var isServerSilent: Bool { turn.isSilent }

    /// The connection to the TURN server ends.
    func loseAllocation(at now: Instant) {
        turn.close(at: now)
        nextAllocation = allocationPause.map { now + $0 }
        flush(at: now)
    }

    /// Makes the agent with the addresses that are known by now.
    func gather(_ other: NetworkHost, at now: Instant) {
        var configuration = ICEConfiguration(
            role: role, localCredentials: credentials, remoteCredentials: other.credentials, addresses: gathered,
            nomination: .aggressive)
        if role == .controlling {
            // A browser does not send checks less often where nothing has answered, and checks any port.
            configuration.timing = .persistent
            configuration.reach = .everything
        }
        agent = ICEAgent(configuration: configuration, random: random, now: now)
        // What the agent before wanted, which knew no other host, means nothing.
        (restartWishes, wantsRestart) = ([], false)
    }

    private var gathered: ICEAddresses {
        ICEAddresses(
            hosts: [host], reflexive: finder.observations.compactMap(\.address), relayed: turn.offeredAddresses,
            passive: [passive].compactMap { $0 })
    }

    /// Makes new credentials, for a restart.
    func renewCredentials() { credentials = ICECredentials(using: &random) }

    /// Restarts ICE with the current credentials and addresses.
    func restart(_ other: NetworkHost, at now: Instant) {
        agent.restart(
            localCredentials: credentials, remoteCredentials: other.credentials, addresses: gathered, at: now)
    }

    /// Learns the other host's candidates.
    func learnCandidates(of other: NetworkHost) {
        for candidate in other.agent.localCandidates {
            let address = candidate.address.by(.direct)
            if candidate.route == .tcp { passiveRemotes.insert(address) }
            agent.addRemoteCandidate(
                RemoteCandidate(address: address, priority: candidate.priority, type: candidate.type))
        }
    }

    // MARK: - The endpoint

    func receive(_ datagram: SimulatedDatagram) {
        let now = datagram.arrival
        datagram.bytes.withUnsafeBytes { raw in
            if datagram.destination == turnWay?.own {
                receiveFromServer(raw, isStream: datagram.destination.route == .tcp, at: now)
            } else if datagram.destination == passive?.by(.tcp) {
                _ = agent.handle(raw, from: datagram.source, to: datagram.destination.by(.direct), at: now)
            } else if datagram.destination == connecting {
                _ = agent.handle(raw, from: datagram.source.by(.direct), to: host, at: now)
            } else if !finder.handle(raw, from: datagram.source, at: now) {
                _ = agent.handle(raw, from: datagram.source, to: host, at: now)
            }
        }
        flush(at: now)
    }

    private func receiveFromServer(_ bytes: UnsafeRawBufferPointer, isStream: Bool, at now: Instant) {
        guard isStream else { return receiveMessage(bytes, at: now) }
        reader.append(bytes)
        var messages: [[UInt8]] = []
        while (try? reader.next { messages.append(Array($0)) }) == true {}
        for message in messages { message.withUnsafeBytes { receiveMessage($0, at: now) } }
    }

    private func receiveMessage(_ message: UnsafeRawBufferPointer, at now: Instant) {
        if case .data(let peer, let range) = turn.handle(message, at: now), let relayed = turn.relayedAddresses.first {
            _ = agent.handle(
                UnsafeRawBufferPointer(rebasing: message[range]), from: peer.by(.relayed), to: relayed, at: now)
        }
        flush(at: now)
    }

    var nextDeadline: Instant? {
        [agent.nextDeadline, turn.nextDeadline, finder.nextDeadline, nextAllocation].compactMap { $0 }.min()
    }

    func handleDeadline(at now: Instant) {
        agent.handleDeadline(at: now)
        turn.handleDeadline(at: now)
        if let due = nextAllocation, due <= now {
            nextAllocation = nil
            turn = TURNClient(configuration: turnConfiguration, random: random, now: now)
        }
        flush(at: now)
    }

    func pollTransmit(
        into buffer: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> (transmit: Transmit, source: TransportAddress)? {
        if outbox.isEmpty { flush(at: now) }
        guard !outbox.isEmpty else { return nil }
        let (bytes, source, destination) = outbox.removeFirst()
        buffer.copyBytes(from: bytes)
        return (Transmit(destination: destination, byteCount: bytes.count), source)
    }

    /// Takes what the machines have to send.
    private func flush(at now: Instant) {
        withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 8) { whole in
            let buffer = UnsafeMutableRawBufferPointer(rebasing: whole[..<4096])
            for _ in 0..<1000 {
                guard let transmit = agent.pollTransmit(into: buffer, at: now) else { break }
                send(
                    UnsafeRawBufferPointer(rebasing: buffer[..<transmit.byteCount]), to: transmit.destination,
                    by: UnsafeMutableRawBufferPointer(rebasing: whole[4096...]), at: now)
            }
            while let event = agent.pollEvent() {
                switch event {
                case .failed(let reason): failure = reason
                case .pairChanged: pathChanges += 1
                case .connected, .disconnected: break
                }
            }
            for _ in 0..<1000 {
                guard let count = turn.pollTransmit(into: buffer, at: now) else { break }
                sendToServer(buffer[..<count])
            }
            while let event = turn.pollEvent() {
                switch event {
                case .allocated: allocations.append(now)
                case .failed: nextAllocation = allocationPause.map { now + $0 }
                }
            }
            while let transmit = finder.pollTransmit(into: buffer, at: now) {
                outbox.append((Array(buffer[..<transmit.byteCount]), host, transmit.destination))
            }
            _ = finder.pollEvent()
        }
        recordRestartWish(at: now)
        // As the gateway's driver does.
        guard turn.offeredAddresses != told else { return }
        told = turn.offeredAddresses
        agent.setRelayed(told, at: now)
        flush(at: now)
    }

    private func recordRestartWish(at now: Instant) {
        if agent.wantsRestart, !wantsRestart { restartWishes.append(now) }
        wantsRestart = agent.wantsRestart
    }

    private func send(
        _ bytes: UnsafeRawBufferPointer, to destination: TransportAddress, by buffer: UnsafeMutableRawBufferPointer,
        at now: Instant
    ) {
        switch destination.route {
        case .tcp:
            if let passive { outbox.append((Array(bytes), passive.by(.tcp), destination)) }
        case .relayed:
            let count = turn.send(bytes, to: destination.by(.direct), into: buffer, at: now)
            if count > 0 { sendToServer(buffer[..<count]) }
        case .direct where passiveRemotes.contains(destination):
            outbox.append((Array(bytes), connecting, destination.by(.tcp)))
        case .direct: outbox.append((Array(bytes), host, destination))
        }
    }

    private func sendToServer(_ message: Slice<UnsafeMutableRawBufferPointer>) {
        if let turnWay { outbox.append((Array(message), turnWay.own, turnWay.server)) }
    }
}
