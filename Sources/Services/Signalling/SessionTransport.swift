import DTLS
import DatagramPort
import ICE
import MediaRelay
import PeerConnection
import SDP
import Transport

/// How a viewer or a publisher reaches the gateway: the gateway's credentials and candidates, and their changes by
/// trickled fragments. Live views and publishers share this path from an offer to a connection.
struct SessionTransport {
    private(set) var credentials: ICECredentials
    /// The session's shard of the relay, which all of its credentials name. It is kept for as long as the session.
    private let placement: RelayPlacement
    /// Our addresses, as the answer named them. A restart brings those of its moment.
    private(set) var addresses: ICEAddresses
    /// Changes with each ICE restart.
    private(set) var generation = 1
    private var remoteFragment = ""
    private let identity: DTLSIdentity
    private let timing: ICETiming
    private let reach: ICEReach
    /// The names that have been looked up for the session.
    private var names = Set<String>()
    /// The candidates with names of the offer, until the session lives.
    private var namedCandidates: [ICECandidate] = []
    /// Whether the offer says that no other candidates follow, and its names are still unknown.
    private var offerEndsAfterNames = false
    /// The end of the viewer's candidates in this generation.
    private var end = CandidateEnd()
    /// The most names of one session: a browser has one for each of its interfaces.
    private static let maximumNames = 8

    /// What the gateway offers to the sender of a request, whose session lives at `placement`.
    init(
        for request: StartLiveViewRequest, at placement: RelayPlacement, in registry: SignallingRegistry,
        random: inout RandomSource
    ) {
        self.placement = placement
        credentials = placement.credentials(using: &random)
        addresses = Self.addresses(reached: request.reachedAddresses, in: registry)
        identity = registry.configuration.identity
        timing = registry.configuration.connectivity
        // Checks go to link-local addresses only for a viewer whose own request came from one.
        var reach = ICEReach()
        let address = request.viewerAddress.flatMap { TransportAddress($0, port: 1) }
        reach.includesLinkLocal = address?.isLinkLocal ?? false
        self.reach = reach
    }

    /// The transport as the answer describes it.
    var description: LocalTransportDescription {
        LocalTransportDescription(credentials: credentials, identity: identity, addresses: addresses)
    }

    /// The connection that offer and answer have agreed on.
    mutating func connect(_ negotiated: NegotiatedSession) -> PeerConnectionConfiguration {
        remoteFragment = negotiated.remote.usernameFragment
        namedCandidates = negotiated.remote.candidates.filter(\.isMulticastDNSName)
        var peer = PeerConnectionConfiguration(
            negotiated, as: .answerer, credentials: credentials, addresses: addresses, identity: identity)
        peer.timing = timing
        peer.reach = reach
        if !namedCandidates.isEmpty, peer.remoteCandidatesAreComplete {
            peer.remoteCandidatesAreComplete = false
            offerEndsAfterNames = true
        }
        return peer
    }

    /// Looks up the names in the candidates of the offer (draft-ietf-mmusic-mdns-ice-candidates, section 3.2.1). The relay has
    /// to know the session by now. The peer's own checks often show its address sooner, so nothing waits for this.
    mutating func lookUpNames(of sessionID: String, in registry: SignallingRegistry) {
        lookUp(namedCandidates, areComplete: offerEndsAfterNames, of: sessionID, in: registry)
        namedCandidates = []
        offerEndsAfterNames = false
    }

    /// - Parameter areComplete: whether no other candidates follow. The relay hears of it once no name is being looked up,
    ///   because it gives up a lite viewer as soon as none of its candidates is left.
    private mutating func lookUp(
        _ candidates: [ICECandidate], areComplete: Bool, of sessionID: String, in registry: SignallingRegistry
    ) {
        let (relay, end) = (registry.relay, end)
        if let resolve = registry.configuration.resolveName {
            for candidate in candidates where candidate.isMulticastDNSName {
                let name = candidate.host.lowercased()
                guard names.contains(name) || names.count < Self.maximumNames else { continue }
                names.insert(name)
                end.beginLookUp()
                resolve(name) { address in
                    let remote = address.flatMap { RemoteCandidate(candidate, at: $0) }
                    let isLast = end.endLookUp()
                    guard remote != nil || isLast else { return }
                    relay.addRemoteCandidates(sessionID, remote.map { [$0] } ?? [], areComplete: isLast)
                }
            }
        }
        if areComplete, end.endCandidates() { relay.addRemoteCandidates(sessionID, [], areComplete: true) }
    }

    /// Applies a trickled fragment (RFC 8840): candidates, or other credentials, which restart ICE (RFC 9725, section
    /// 4.4.2). A restart offers the present addresses, because the old ones may be the reason for it.
    /// - Parameter reached: see ``StartLiveViewRequest/reachedAddresses``.
    mutating func take(
        _ text: String, of sessionID: String, reached: [String], in registry: SignallingRegistry,
        random: inout RandomSource
    ) throws(SignallingError) -> TrickleResult {
        let relay = registry.relay
        let fragment: TrickleFragment
        do throws(SDPError) {
            fragment = try TrickleFragment(parsing: text)
        } catch {
            throw .unreadableFragment(error)
        }
        if let (fault, line) = fragment.credentialFault { throw .unusableCredentials(fault, line: line) }
        let candidates = fragment.allCandidates.compactMap(RemoteCandidate.init(_:))
        guard let remote = fragment.credentials, remote.usernameFragment != remoteFragment else {
            relay.addRemoteCandidates(sessionID, candidates)
            lookUp(fragment.allCandidates, areComplete: fragment.endsCandidates, of: sessionID, in: registry)
            return .added
        }
        credentials = placement.credentials(using: &random)
        remoteFragment = remote.usernameFragment
        generation += 1
        addresses = Self.addresses(reached: reached, in: registry)
        end.cancel()
        end = CandidateEnd()
        relay.restartICE(
            sessionID, local: credentials,
            remote: ICECredentials(usernameFragment: remote.usernameFragment, password: remote.password),
            addresses: addresses)
        relay.addRemoteCandidates(sessionID, candidates)
        lookUp(fragment.allCandidates, areComplete: fragment.endsCandidates, of: sessionID, in: registry)
        let answer = TrickleFragment(
            usernameFragment: credentials.usernameFragment, password: credentials.password,
            sections: [
                TrickleFragment.Section(
                    mid: fragment.sections.first?.mid, candidates: ICECandidate.all(addresses), isComplete: true)
            ])
        return .restarted(fragment: answer.encoded(), iceGeneration: "\(generation)")
    }

    /// The present addresses of the gateway. The hosts are the addresses at which this viewer may reach the media port: first
    /// the one that it has just reached the gateway at, because that one works, then those of the config, then those of the
    /// host's interfaces.
    ///
    /// Loopback addresses come last. A viewer on this host reaches its other addresses as well, and a program on this host that
    /// asks for somebody elsewhere, as a proxy that does not say so, looks like such a viewer.
    private static func addresses(reached: [String], in registry: SignallingRegistry) -> ICEAddresses {
        let relay = registry.relay
        let port = relay.port.localPort
        let reached = reached.compactMap { TransportAddress($0, port: port) }
        var hosts = reached
        hosts += registry.configuration.addresses.map { $0.withPort(port) }
        hosts += registry.configuration.interfaceAddresses().map { $0.withPort(port) }
        if hosts.isEmpty { hosts = [TransportAddress(ipv4: 0x7F00_0001, port: port)] }
        var seen = Set<TransportAddress>()
        hosts = hosts.filter { $0.isUsableDestination && seen.insert($0).inserted }
        hosts = hosts.filter { !$0.isLoopback } + hosts.filter(\.isLoopback)
        // Browsers ignore link-local candidates.
        let reachedHosts = hosts.prefix { reached.contains($0) && !$0.isLoopback && !$0.isLinkLocal }.count
        let outside = relay.outsideAddresses
        let passive = relay.tcpPort.map { port in
            Self.passive(
                hosts: hosts, outside: outside, forwarded: registry.configuration.forwardedTCPAddresses(), port: port)
        }
        return ICEAddresses(
            hosts: hosts, reachedHosts: UInt8(clamping: reachedHosts), reflexive: outside,
            relayed: relay.relayedAddresses, passive: passive ?? [])
    }

    /// Where a viewer may open a TCP connection: at the hosts, where the router forwards the TCP port, and at the other outside
    /// addresses, if a rule on the router forwards the port under its own number. Nobody can tell whether there is one without
    /// trying, and a viewer that names the gateway by a name has shown no address that works.
    /// - Parameters:
    ///   - outside: the addresses at which the UDP port is seen, or forwarded; only their hosts count.
    ///   - forwarded: where the router says that it forwards to the TCP port from.
    private static func passive(
        hosts: [TransportAddress], outside: [TransportAddress], forwarded: [TransportAddress], port: UInt16
    ) -> [TransportAddress] {
        let hasLoopback = hosts.contains(where: \.isLoopback)
        // Where the router has chosen another port, the port belongs to another machine.
        let others = outside.filter { address in !forwarded.contains { $0.hasSameHost(as: address) } }
        var seen = Set<TransportAddress>()
        return (hosts.map { $0.withPort(port) } + forwarded + others.map { $0.withPort(port) }).filter {
            $0.isUsableDestination && (hasLoopback || !$0.isLoopback) && seen.insert($0).inserted
        }
    }
}
