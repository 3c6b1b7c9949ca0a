public import HTTPMedia
public import Transport

/// What the mapper knows of the router's UPnP service.
struct UPnPState: Sendable {
    /// Where the description is, while it is being read.
    var description: (address: TransportAddress, path: String)?
    var service: UPnPService?
    /// Whether the search was answered with an address that is not the router's.
    var wasSentElsewhere = false
    /// The next HTTP request.
    var request: RouterMessage?
    /// The outside port that is asked for; another one after the router has said that a host has it.
    var port: UInt16?
    var portTries = 0
    /// The lease that is asked for, in seconds: 0 for a router that knows no leases.
    var lease = PortMapper.wantedLifetime
    /// The number of the pinhole that the router has opened.
    var pinhole: UInt16?
}

extension PortMapper {
    static let searchTransmissions = 2
    static let searchWait = Duration.seconds(3)
    /// The driver gives up earlier.
    private static let requestWait = Duration.seconds(15)
    /// WANIPConnection:1, table 2-20.
    private static let conflict: UInt16 = 718
    /// WANIPConnection:2, table 2-21: another mechanism, for example PCP, has the port.
    private static let otherConflict: UInt16 = 729
    private static let onlyPermanentLeases: UInt16 = 725
    private static let portTries = 4

    /// Takes the answer to a search. A device that is not the router may answer, too.
    mutating func handleSearchAnswer(_ datagram: UnsafeRawBufferPointer, from source: TransportAddress, at now: Instant)
    {
        guard let router = mapping.router, source.withPort(router.port) == router,
            let location = SSDPSearch.location(in: datagram)
        else { return }
        guard let found = UPnPService.address(location, router: router) else {
            // A router has several devices, and anybody can send in its name: another answer may be better.
            upnp.wasSentElsewhere = true
            return
        }
        upnp.description = found
        begin(.upnpDescription, at: now)
    }

    /// Makes the HTTP request of this step.
    mutating func request(at now: Instant) {
        due = now + Self.requestWait
        if step == .upnpDescription {
            upnp.request = upnp.description.map { fromClient(UPnPAction.download($0.path, from: $0.address)) }
        } else if let service = upnp.service {
            if step == .upnpMapping { hasAsked = true }
            upnp.request = action.map { fromClient($0.request(to: service)) }
        }
    }

    private var action: UPnPAction? {
        guard !asksForPinhole else { return pinholeAction }
        guard step == .upnpMapping else { return .getExternalIPAddress }
        guard let client else { return nil }
        return .addPortMapping(
            transport, external: mapping.external?.port ?? upnp.port ?? internalPort, client: client,
            internal: internalPort, lease: upnp.lease)
    }

    /// Takes the outcome of the last request of ``pollRequest()``.
    /// - Parameter response: nil if it failed, or was not answered in time.
    public mutating func handle(response: HTTPResponse?, at now: Instant) {
        switch step {
        case .idle, .waiting, .pcp, .natPMPAddress, .natPMPMapping, .upnpSearch: return
        case .upnpDescription, .upnpStatus, .upnpMapping: break
        }
        upnp.request = nil
        guard let response else {
            // A router that has restarted may have its service at another port.
            upnp.service = nil
            return fail(.noAnswer, at: now)
        }
        guard step != .upnpDescription else { return handleDescription(response, at: now) }
        guard let answer = action?.answer(response) else { return }
        if asksForPinhole { handlePinhole(answer, at: now) } else { handleMapping(answer, at: now) }
    }

    private mutating func handleMapping(_ answer: UPnPAction.Answer, at now: Instant) {
        switch answer {
        case .address(let host):
            guard let host else { return fail(.unusableAddress, at: now) }
            outsideHost = host
            begin(.upnpMapping, at: now)
        case .done: finishUPnP(at: now)
        case .refused(code: Self.onlyPermanentLeases) where step == .upnpMapping && upnp.lease > 0:
            upnp.lease = 0
            begin(.upnpMapping, at: now)
        case .refused(code: Self.conflict) where step == .upnpMapping && upnp.portTries < Self.portTries,
            .refused(code: Self.otherConflict) where step == .upnpMapping && upnp.portTries < Self.portTries:
            upnp.portTries += 1
            upnp.port = UInt16(1024 + random.next() % (65_536 - 1024))
            mapping.external = nil
            begin(.upnpMapping, at: now)
        case .refused(let code): refuseByUPnP(code: code, at: now)
        // No request for a mapping has such an answer.
        case .firewall, .pinhole, .unreadable: fail(.unusableService, at: now)
        }
    }

    /// The router has refused: it is searched for again before it is asked again.
    mutating func refuseByUPnP(code: UInt16, at now: Instant) {
        (upnp.service, upnp.portTries) = (nil, 0)
        fail(.refused(.upnp, code: code), at: now)
    }

    private mutating func handleDescription(_ response: HTTPResponse, at now: Instant) {
        guard let router = mapping.router, let base = upnp.description?.address, response.status == 200,
            let service = UPnPService(description: response.body, at: base, router: router)
        else { return fail(.unusableService, at: now) }
        upnp.service = service
        begin(.upnpStatus, at: now)
    }

    private mutating func finishUPnP(at now: Instant) {
        guard let outsideHost else { return fail(.unusableAddress, at: now) }
        let port = mapping.external?.port ?? upnp.port ?? internalPort
        upnp.portTries = 0
        succeed(outsideHost.withPort(port), lifetime: Self.wantedLifetime, at: now)
    }

    /// Asks for the end of the mapping.
    mutating func endUPnPMapping() {
        guard let service = upnp.service else { return }
        guard !asksForPinhole else { return endPinhole(at: service) }
        let port = mapping.external?.port ?? upnp.port ?? internalPort
        upnp.request = UPnPAction.deletePortMapping(transport, external: port).request(to: service)
    }
}
