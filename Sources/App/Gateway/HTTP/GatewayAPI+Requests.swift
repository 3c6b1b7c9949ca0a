import DatagramPort
import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import NIOCore
import Transport

/// What a request says: its sender, the device that it names, and what its headers say about time and repetitions.
extension GatewayAPI {
    /// Who sent the request. Every route except the public ones knows it.
    func authorization(_ context: GatewayRequestContext) throws -> Authorization {
        guard let authorization = context.authorization else { throw HomeError.unauthenticated("a token is needed") }
        return authorization
    }

    /// The caller's principal.
    func principal(_ context: GatewayRequestContext) throws -> String {
        try authorization(context).principal
    }

    /// Fails unless a token still permits what it permitted when the request came, and a scope where the device is now. A
    /// camera's answer may take a while.
    /// - Throws: what ``TokenRegistry/requireStill(_:toGive:)`` throws, and `notFound` for a device that has left the
    ///   structure for which the token permits the scope.
    func requireStill(_ authorization: Authorization, _ scope: Caller.Scope, of device: String) throws(HomeError) {
        try tokens.requireStill(authorization)
        guard authorization.access.permits(scope, hub.directory.device(device)) else {
            throw HomeHub.unknownDevice(device)
        }
    }

    /// The identifier of the device that the path names by its identifier or its key. A text that names no device comes
    /// back as it is.
    func deviceID(_ context: GatewayRequestContext) throws -> String {
        hub.names.id(of: try context.parameters.require("device"))
    }

    func caller(_ request: Request, _ context: GatewayRequestContext) throws -> Caller {
        let authorization = try self.authorization(context)
        return Caller(
            principal: authorization.principal, access: authorization.access, requestID: UUID().uuidString,
            idempotencyKey: request.headers[Self.idempotencyKey].map(Self.unquoted),
            remainingSeconds: try request.headers[Self.timeout].map(Self.seconds(ofTimeout:)),
            address: context.remoteHost.map(Self.literal), reachedAddresses: reachedAddresses(request, context))
    }

    /// The IETF draft "The Idempotency-Key HTTP Header Field".
    private static let idempotencyKey = HTTPField.Name("Idempotency-Key") ?? .from
    /// gRPC's header, which its HTTP gateways use as well.
    private static let timeout = HTTPField.Name("Grpc-Timeout") ?? .from

    /// A key without the quotation marks that it has as a string of a structured field (RFC 9651, section 3.3.3).
    /// Widely used clients send it without.
    static func unquoted(_ text: String) -> String {
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        return String(text.dropFirst().dropLast())
    }

    /// The seconds of a timeout: one to eight digits and a unit (gRPC over HTTP/2, "Timeout").
    static func seconds(ofTimeout text: String) throws(HomeError) -> Double {
        let units: [Character: Double] = ["H": 3_600, "M": 60, "S": 1, "m": 1e-3, "u": 1e-6, "n": 1e-9]
        let digits = text.dropLast()
        guard let unit = text.last.flatMap({ units[$0] }), (1...8).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = Double(digits)
        else {
            throw HomeError.invalidArgument(
                "Grpc-Timeout must be one to eight digits and a unit, for example 500m for half a second or 10S")
        }
        return count * unit
    }
}

/// What the body of a request contains. ``JSONBody`` reads JSON.
extension Request {
    /// The body, which has to have this media type, as text.
    func text(mediaType: String) async throws -> String {
        guard hasMediaType(mediaType) else {
            throw HTTPFailure.unsupportedMediaType(expected: mediaType)
        }
        let bytes = try await self.bytes(upTo: GatewayAPI.maximumSDPSize)
        guard let text = String(bytes: bytes.readableBytesView, encoding: .utf8) else {
            throw HomeError.invalidArgument("the body is not UTF-8 text")
        }
        return text
    }

    /// The body, which has to have one of these media types, as bytes.
    func bytes(mediaTypes: [String], limit: Int) async throws -> [UInt8] {
        guard mediaTypes.contains(where: hasMediaType) else {
            throw HTTPFailure.unsupportedMediaType(expected: mediaTypes[0])
        }
        return Array(try await bytes(upTo: limit).readableBytesView)
    }

    /// The body, whatever its media type.
    func bytes(upTo limit: Int) async throws -> ByteBuffer {
        // If a client announces that it will send too much, its body is not read at all.
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw HTTPFailure.contentTooLarge(limit: limit)
        }
        do {
            return try await body.collect(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw HTTPFailure.contentTooLarge(limit: limit)
        }
    }

    /// Whether the client says that the body has this media type.
    func hasMediaType(_ expected: String) -> Bool {
        let given = headers[.contentType]?.prefix { $0 != ";" }
        return given?.trimmingCharacters(in: .whitespaces).lowercased() == expected
    }
}

/// Where a viewer reaches the gateway.
extension GatewayAPI {
    /// The addresses at which the viewer reaches the gateway, the best first: that of the connection, and that of the `Host`
    /// header, which differs behind a forwarded port.
    func reachedAddresses(_ request: Request, _ context: GatewayRequestContext) -> [String] {
        let isForwarded = Self.forwardingHeaders.contains { request.headers[$0] != nil }
        let client = context.remoteHost.flatMap { TransportAddress(Self.literal($0), port: 1) }
        return Self.reachedAddresses(
            local: context.localHost, authority: request.head.authority, isForwarded: isForwarded,
            viewer: isForwarded ? Self.forwardedViewer(request.headers) : client)
    }

    /// The headers that a reverse proxy adds to forwarded requests.
    static let forwardingHeaders = ["Forwarded", "X-Forwarded-For", "Via"].compactMap { HTTPField.Name($0) }

    private static let forwardedFor = HTTPField.Name("X-Forwarded-For") ?? .from

    /// The viewer's address as the nearest proxy has seen it: the last one in `X-Forwarded-For`. Nil if there is none.
    ///
    /// A client that needs no proxy can write anything into the header, so it must decide on nothing but the order of the
    /// candidates that this client is offered.
    static func forwardedViewer(_ headers: HTTPFields) -> TransportAddress? {
        guard let last = headers[forwardedFor]?.split(separator: ",").last else { return nil }
        let text = last.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
        // Some proxies add the port.
        return TransportAddress(text, port: 1) ?? TransportAddress(host(ofAuthority: String(text)), port: 1)
    }

    /// The addresses at which a viewer reaches the gateway, the best first: where its request has arrived, or where the kernel
    /// would send from to it if a proxy has forwarded the request; then the one that it has written into `Host`.
    ///
    /// A loopback address among them lets the viewer name loopback candidates, so only the connection itself may bring
    /// one. What a client writes into `Host` proves nothing. Neither does a connection from this machine that a proxy
    /// makes for somebody elsewhere.
    ///
    /// A connection that a proxy makes, or that a router has translated, does not show an address that the viewer reaches. Its
    /// local end is left out, unless nothing else is known. The addresses of the interfaces are offered in any case.
    ///
    /// - Parameters:
    ///   - local: the connection's local end.
    ///   - authority: the header `Host`.
    ///   - isForwarded: whether a proxy says that it forwards for another host.
    ///   - viewer: the viewer's address, if it is known.
    ///   - interfaces: the addresses of the interfaces, which every viewer is offered.
    ///   - route: this host's address towards another one.
    static func reachedAddresses(
        local: String?, authority: String?, isForwarded: Bool, viewer: TransportAddress?,
        interfaces: () -> [TransportAddress] = { hostAddresses().map(\.address) },
        route: (TransportAddress) -> TransportAddress? = { ownAddress(towards: $0) }
    ) -> [String] {
        let local = local.map(literal)
        var addresses: [String] = []
        if isForwarded, let viewer, let own = route(viewer), !isTranslated(own, for: viewer) {
            let isOffered = own.host == local || interfaces().contains { $0.hasSameHost(as: own) }
            if isOffered, !isOwnAlone(own.host) { addresses.append(own.host) }
        }
        if let local, !(isForwarded && isOwnAlone(local)), !addresses.contains(local) {
            let address = TransportAddress(local, port: 1)
            let isReached = isForwarded ? viewer == nil : !isTranslated(address, for: viewer)
            if isReached || interfaces().isEmpty { addresses.append(local) }
        }
        if let host = authority.map(self.host(ofAuthority:)), isAddressLiteral(host), !isOwnAlone(host),
            !addresses.contains(host)
        {
            addresses.append(host)
        }
        return addresses
    }

    /// Whether a viewer elsewhere reaches an address of this machine only because a router translates: it has a global address,
    /// and the machine's is a private one.
    private static func isTranslated(_ own: TransportAddress?, for viewer: TransportAddress?) -> Bool {
        guard let own, let viewer else { return false }
        return viewer.isGlobal && !own.isGlobal
    }

    /// Whether an address has a meaning only on its own machine or link.
    private static func isOwnAlone(_ text: String) -> Bool {
        guard let address = TransportAddress(text, port: 1) else { return false }
        return address.isLoopback || address.isLinkLocal || !address.isUsableDestination
    }

    /// The host of `host`, `host:port` or `[literal]:port`, without brackets.
    static func host(ofAuthority authority: String) -> String {
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }

    static func isAddressLiteral(_ text: String) -> Bool {
        TransportAddress(text, port: 1) != nil
    }

    /// An address as the kernel returned it, without scope, and an IPv4 address without its IPv6 mapping.
    static func literal(_ text: String) -> String {
        let plain = text.split(separator: "%", maxSplits: 1).first.map(String.init) ?? text
        let mapping = "::ffff:"
        if plain.lowercased().hasPrefix(mapping), plain.contains(".") { return String(plain.dropFirst(mapping.count)) }
        return plain
    }
}
