import ICE
import NetworkSimulator
import STUN
import Testing
import Transport

/// A budget that several agents share.
final class Account {
    var budget: CheckBudget

    init(_ budget: CheckBudget = CheckBudget()) { self.budget = budget }
}

/// An agent on a simulated host.
final class ICEPeer: SimulatedEndpoint {
    var agent: ICEAgent
    var addresses: [TransportAddress]
    let credentials: ICECredentials
    /// Where a TURN server relays for the agent.
    let relayed: TransportAddress?
    /// Where the agent accepts TCP connections. What goes there and comes from there stands for packets of a connection.
    let passive: TransportAddress?
    private(set) var events: [(at: Instant, event: ICEEvent)] = []
    private(set) var transmitted: [(at: Instant, destination: TransportAddress, messageClass: STUNMessageClass)] = []
    /// What pays for checks to silent addresses; peers of one principal share it.
    var account = Account()
    /// What the peer must not send, by its message class.
    var suppressed: Set<STUNMessageClass> = []

    init(
        _ role: ICERole, at hosts: [String], seed: UInt64, nomination: ICENomination = .regular,
        isLiteAtOtherEnd: Bool = false, timing: ICETiming = ICETiming(), reach: ICEReach = ICEReach(),
        relayedAt relay: String? = nil, passiveAt passiveHost: String? = nil,
        start: Instant = Instant(nanoseconds: 1_000_000_000)
    ) throws {
        let hostAddresses = try hosts.map { try #require(TransportAddress($0, port: 8189)) }
        relayed = try relay.map { try #require(TransportAddress($0, port: 50_000)) }
        passive = try passiveHost.map { try #require(TransportAddress($0, port: 8190)) }
        addresses = hostAddresses + [relayed, passive].compactMap { $0 }
        var random = RandomSource.seeded(seed)
        credentials = ICECredentials(using: &random)
        var configuration = ICEConfiguration(
            role: role, localCredentials: credentials,
            addresses: ICEAddresses(
                hosts: hostAddresses, relayed: [relayed].compactMap { $0 }, passive: [passive].compactMap { $0 }),
            remoteIsLite: isLiteAtOtherEnd, nomination: nomination)
        configuration.timing = timing
        configuration.reach = reach
        agent = ICEAgent(configuration: configuration, random: random, now: start)
    }

    /// Learns the other side's credentials, and its candidates unless told otherwise.
    func learn(_ other: ICEPeer, candidates: Bool = true) {
        agent.setRemote(credentials: other.credentials)
        if candidates { learnCandidates(of: other) }
    }

    func learnCandidates(of other: ICEPeer) {
        for candidate in other.agent.localCandidates {
            agent.addRemoteCandidate(
                RemoteCandidate(address: candidate.address.by(.direct), priority: candidate.priority))
        }
    }

    /// The host is from now on known by another address, as a phone that left the Wi-Fi.
    func move(to host: String) throws {
        addresses = [try #require(TransportAddress(host, port: 8189))]
    }

    var selectedRemote: TransportAddress? { agent.selectedRemoteAddress }
    var validRemote: TransportAddress? { agent.validRemoteAddress }
    var isConnected: Bool { agent.state == .connected }
    var lastEvent: ICEEvent? { events.last?.event }
    var eventCount: Int { events.count }

    func receive(_ datagram: SimulatedDatagram) {
        let route: TransportAddress.Route =
            datagram.destination == relayed ? .relayed : datagram.destination == passive ? .tcp : .direct
        let source = datagram.source.by(route)
        datagram.bytes.withUnsafeBytes {
            _ = agent.handle($0, from: source, to: datagram.destination, at: datagram.arrival)
        }
        collect(at: datagram.arrival)
    }

    /// Takes what an input made the agent say, for a test that plays the other side by hand.
    func takeOutput(at now: Instant) -> [(destination: TransportAddress, bytes: [UInt8])] {
        var sent: [(destination: TransportAddress, bytes: [UInt8])] = []
        withUnsafeTemporaryAllocation(byteCount: STUN.sufficientBufferSize, alignment: 8) { buffer in
            while sent.count < 1000, let transmit = agent.pollTransmit(into: buffer, at: now, budget: &account.budget) {
                sent.append((transmit.destination, Array(buffer[..<transmit.byteCount])))
            }
        }
        collect(at: now)
        return sent
    }

    var nextDeadline: Instant? { agent.nextDeadline }

    func handleDeadline(at now: Instant) {
        agent.handleDeadline(at: now)
        collect(at: now)
    }

    func pollTransmit(
        into buffer: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> (transmit: Transmit, source: TransportAddress)? {
        while let transmit = agent.pollTransmit(into: buffer, at: now, budget: &account.budget) {
            collect(at: now)
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<transmit.byteCount])
            guard let message = try? STUNMessage(parsing: bytes) else { continue }
            if suppressed.contains(message.messageClass) { continue }
            transmitted.append((now, transmit.destination, message.messageClass))
            if let relayed, transmit.destination.route == .relayed {
                var direct = transmit
                direct.destination = transmit.destination.by(.direct)
                return (direct, relayed)
            }
            if let passive, transmit.destination.route == .tcp {
                var direct = transmit
                direct.destination = transmit.destination.by(.direct)
                return (direct, passive)
            }
            // A source that the host no longer has is what a kernel would refuse.
            if let source = agent.transmitSource, addresses.contains(source) { return (transmit, source) }
            if let source = addresses.first(where: { $0.family == transmit.destination.family }) {
                return (transmit, source)
            }
        }
        return nil
    }

    private func collect(at now: Instant) {
        while let event = agent.pollEvent() { events.append((now, event)) }
    }
}

/// Two agents and the network between them.
struct Call {
    let simulation: Simulation
    /// The controlling side, a viewer.
    let viewer: ICEPeer
    /// The controlled side.
    let gateway: ICEPeer

    static let viewerHost = "198.51.100.7"
    static let gatewayHost = "203.0.113.5"

    /// Both know each other's credentials; the viewer knows the gateway's candidates. The gateway learns the viewer
    /// by its checks alone unless told otherwise.
    init(
        conditions: LinkConditions = LinkConditions(latency: .milliseconds(10)), seed: UInt64 = 1,
        nomination: ICENomination = .regular, viewer viewerHosts: [String] = [Call.viewerHost],
        gateway gatewayHosts: [String] = [Call.gatewayHost], gatewayKnowsCandidates: Bool = false,
        roles: (viewer: ICERole, gateway: ICERole) = (.controlling, .controlled)
    ) throws {
        viewer = try ICEPeer(
            roles.viewer, at: viewerHosts, seed: seed &* 2 &+ 1, nomination: nomination, timing: .persistent)
        gateway = try ICEPeer(roles.gateway, at: gatewayHosts, seed: seed &* 2 &+ 2)
        simulation = Simulation(network: SimulatedNetwork(seed: seed, conditions: conditions))
        viewer.learn(gateway)
        gateway.learn(viewer, candidates: gatewayKnowsCandidates)
        simulation.endpoints = [viewer, gateway]
    }

    var areConnected: Bool { viewer.isConnected && gateway.isConnected }

    /// Runs until both sides have selected a pair; whether they did.
    func connect(within duration: Duration = .seconds(40)) -> Bool {
        simulation.run(for: duration) { areConnected }
    }

    /// Whether each side sends to the other's first address.
    var pathsMatch: Bool {
        viewer.selectedRemote == gateway.addresses.first && gateway.selectedRemote == viewer.addresses.first
    }
}

func path(_ remote: TransportAddress?, _ local: TransportAddress?) throws -> ICEPath {
    ICEPath(remote: try #require(remote), local: local)
}
