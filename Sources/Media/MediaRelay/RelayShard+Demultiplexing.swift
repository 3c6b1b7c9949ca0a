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
        if DatagramKind(datagram) == .stun, let fragment = ICE.localUsernameFragment(inBindingRequest: datagram) {
            return byFragment[String(decoding: fragment, as: UTF8.self)]
        }
        return byAddress[source]
    }

    /// The address leads back to the viewer once the agent has authenticated a check from it.
    private func noteAddress(_ source: TransportAddress, local: TransportAddress, of viewer: Viewer) {
        guard viewer.peer.knowsRemoteAddress(source) else { return }
        guard byAddress[source] !== viewer else { return }
        byAddress[source] = viewer
        viewer.knownAddresses.append(source)
        if viewer.knownAddresses.count > Self.maximumAddressesPerViewer {
            let oldest = viewer.knownAddresses.removeFirst()
            if byAddress[oldest] === viewer, oldest != viewer.peer.remoteAddress { byAddress[oldest] = nil }
        }
    }
}
