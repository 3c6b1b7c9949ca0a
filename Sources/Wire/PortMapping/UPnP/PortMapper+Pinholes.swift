import Transport

/// Pinholes in an IPv6 router's firewall by UPnP (WANIPv6FirewallControl:1).
extension PortMapper {
    /// The request of this step.
    var pinholeAction: UPnPAction? {
        guard step == .upnpMapping else { return .getFirewallStatus }
        guard let client else { return nil }
        if let id = upnp.pinhole { return .updatePinhole(id: id, lease: Self.wantedLifetime) }
        return .addPinhole(transport, client: client, internal: internalPort, lease: Self.wantedLifetime)
    }

    /// Handles the answer to it.
    mutating func handlePinhole(_ answer: UPnPAction.Answer, at now: Instant) {
        switch answer {
        case .firewall(let isOn, let opensPinholes):
            guard isOn else { return refuseByUPnP(code: UPnPCode.firewallDisabled, at: now) }
            guard opensPinholes else { return refuseByUPnP(code: UPnPCode.pinholesNotAllowed, at: now) }
            begin(.upnpMapping, at: now)
        case .pinhole(let id):
            upnp.pinhole = id
            finishPinhole(at: now)
        case .done: finishPinhole(at: now)
        case .refused where step == .upnpMapping && upnp.pinhole != nil:
            // A router that has restarted does not know the pinhole, or has given its number to another host. Whatever the code is,
            // it is asked for a new one: miniupnpd 2.3.1 says 402 (invalid arguments) and not 704 (no such entry).
            upnp.pinhole = nil
            begin(.upnpMapping, at: now)
        case .refused(let code): refuseByUPnP(code: code, at: now)
        case .address, .unreadable:
            upnp.service = nil
            fail(.unusableService, at: now)
        }
    }

    private mutating func finishPinhole(at now: Instant) {
        guard let client else { return }
        succeed(client.withPort(internalPort), lifetime: Self.wantedLifetime, at: now)
    }

    /// Asks the router to close the pinhole.
    mutating func endPinhole(at service: UPnPService) {
        guard let id = upnp.pinhole else { return }
        upnp.request = fromClient(UPnPAction.deletePinhole(id: id).request(to: service))
    }

    /// The request with the address that it has to leave from. A firewall opens pinholes only for the address that asks
    /// (section 2.6.3.3).
    func fromClient(_ message: RouterMessage) -> RouterMessage {
        guard asksForPinhole else { return message }
        return RouterMessage(destination: message.destination, bytes: message.bytes, source: client)
    }
}
