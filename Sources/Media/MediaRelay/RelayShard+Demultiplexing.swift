import ICE
import PeerConnection
import RTP
import Transport

extension RelayShard {
    /// How many addresses may lead to one viewer: those of its candidates, and a few that its router invents.
    private static let maximumAddressesPerViewer = 8

    /// Takes one datagram from the socket. It is decrypted where it stands.
    func handle(
        _ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, to local: TransportAddress,
        at now: Instant
    ) {
        guard let viewer = viewer(for: UnsafeRawBufferPointer(datagram), from: source) else {
            counters.strayDatagrams += 1
            return
        }
        let kind = DatagramKind(UnsafeRawBufferPointer(datagram))
        switch viewer.peer.handle(datagram, from: source, to: local, at: now) {
        case .nothing:
            if kind == .stun { noteAddress(source, local: local, of: viewer) }
        case .rtp(let count):
            viewer.receiveRTP(UnsafeRawBufferPointer(rebasing: datagram[..<count]), at: now)
        case .rtcp(let count):
            viewer.receiveRTCP(
                UnsafeRawBufferPointer(rebasing: datagram[..<count]), through: &sender, limits: limits, at: now)
        }
        service(viewer, at: now)
    }

    /// A connectivity check names its session by the username; everything else is known by its address.
    private func viewer(for datagram: UnsafeRawBufferPointer, from source: TransportAddress) -> Viewer? {
        let kind = DatagramKind(datagram)
        if kind == .stun, let fragment = ICE.localUsernameFragment(inBindingRequest: datagram) {
            return byFragment[String(decoding: fragment, as: UTF8.self)]
        }
        if let viewer = byAddress[source] { return viewer }
        return kind == .stun ? byAskedAddress[source] : nil
    }

    /// Remembers whom a check was sent to: the answer comes from there, perhaps before any check of the viewer's own, and
    /// from a lite agent nothing else ever comes.
    func noteAsked(_ address: TransportAddress, by viewer: Viewer) {
        guard byAddress[address] !== viewer, byAskedAddress[address] !== viewer else { return }
        byAskedAddress[address] = viewer
        viewer.askedAddresses.append(address)
        if viewer.askedAddresses.count > Self.maximumAskedAddresses {
            let oldest = viewer.askedAddresses.removeFirst()
            if byAskedAddress[oldest] === viewer { byAskedAddress[oldest] = nil }
        }
    }

    /// As many as an agent has pairs.
    private static let maximumAskedAddresses = 32

    /// The address leads back to the viewer once the agent has authenticated a check from it.
    private func noteAddress(_ source: TransportAddress, local: TransportAddress, of viewer: Viewer) {
        guard viewer.peer.knowsRemoteAddress(source) else { return }
        guard byAddress[source] !== viewer else { return }
        byAddress[source] = viewer
        viewer.knownAddresses.removeAll { $0 == source }
        viewer.knownAddresses.append(source)
        guard viewer.knownAddresses.count > Self.maximumAddressesPerViewer,
            let oldest = viewer.knownAddresses.firstIndex(where: { $0 != viewer.peer.remoteAddress })
        else { return }
        let address = viewer.knownAddresses.remove(at: oldest)
        if byAddress[address] === viewer { byAddress[address] = nil }
    }
}
