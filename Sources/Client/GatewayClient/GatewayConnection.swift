import AsyncHTTPClient
import Foundation
import HomeTypes
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOSSL
import Transport

/// A gateway's HTTP API, reached with one token.
public struct GatewayConnection: Sendable {
    private let url: String
    /// The address of the gateway, without a trailing slash.
    public var address: String { url }
    let token: String
    let client: HTTPClient

    /// The client that all connections use. It reports immediately that a gateway is not running, without further
    /// attempts.
    private static let standardClient = HTTPClient(
        eventLoopGroupProvider: .singleton, configuration: Self.clientConfiguration(trusting: nil))

    private static func clientConfiguration(trusting certificates: [NIOSSLCertificate]?) -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let certificates { tls.trustRoots = .certificates(certificates) }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.connectionPool.retryConnectionEstablishment = false
        // Every event stream holds a connection. With the library's limit of eight, the ninth home of a process would
        // wait forever, and so would its commands.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4_096
        configuration.timeout.connect = .seconds(10)
        // The gateway writes to an event stream every 15 seconds. A connection that is silent for longer is dead.
        configuration.timeout.read = .seconds(45)
        return configuration
    }

    /// Reaches the gateway at `url`, for example `http://127.0.0.1:8080`.
    public init(url: String, token: String) {
        self.init(url: url, token: token, client: Self.standardClient)
    }

    /// Connects to the gateway at `url` by HTTPS with a certificate that the gateway signed itself.
    /// - Parameter certificate: the path of that certificate, in PEM. Nothing else is trusted.
    public init(url: String, token: String, certificate: String) throws(HomeError) {
        let certificates: [NIOSSLCertificate]
        do {
            certificates = try NIOSSLCertificate.fromPEMFile(certificate)
        } catch {
            throw .invalidArgument(
                "\(certificate) cannot be read as a certificate in PEM; the gateway keeps its own as "
                    + "https-certificate.pem in its state folder")
        }
        self.init(url: url, token: token, client: Self.client(trusting: certificates))
    }

    /// The clients that trust certificates of their own. They live as long as the process, like the standard client: a client
    /// that is released without being shut down ends the process in a debug build. An app may connect any number of times,
    /// so the connections with the same certificates share one.
    private static let clients = Locked<[[NIOSSLCertificate]: HTTPClient]>([:])

    private static func client(trusting certificates: [NIOSSLCertificate]) -> HTTPClient {
        clients.withLock { clients in
            if let known = clients[certificates] { return known }
            let client = HTTPClient(
                eventLoopGroupProvider: .singleton, configuration: clientConfiguration(trusting: certificates))
            clients[certificates] = client
            return client
        }
    }

    private init(url: String, token: String, client: HTTPClient) {
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.token = token
        self.client = client
    }

    /// Fetches `path` and returns its JSON text.
    public func get(_ path: String) async throws(HomeError) -> Data {
        try await send(.get, path, body: nil)
    }

    /// Posts `body` to `path` and returns the JSON text of the answer.
    public func post(_ path: String, contentType: String, body: Data) async throws(HomeError) -> Data {
        try await send(.post, path, body: body, contentType: contentType)
    }

    /// Changes what `path` names by the JSON in `body`, and returns the JSON text of the answer.
    public func patch(_ path: String, body: Data) async throws(HomeError) -> Data {
        try await send(.patch, path, body: body)
    }

    /// Deletes `path`.
    public func delete(_ path: String) async throws(HomeError) {
        _ = try await send(.delete, path, body: nil)
    }

    /// Sends a command to a device.
    @discardableResult
    public func send<Sent: Command>(_ command: Sent, to device: String) async throws(HomeError) -> Sent.Response {
        let encoded: Data
        do {
            encoded = try JSONEncoder().encode(command)
        } catch {
            throw .internal("the parameters of \(Sent.name) cannot be written as JSON: \(error)")
        }
        let path = "/v1/devices/\(Self.segment(device))/traits/\(Sent.trait.name)/commands/\(Sent.name)"
        return try decode(Sent.Response.self, try await send(.post, path, body: encoded))
    }

    /// A name as one segment of a path, whatever it contains.
    public static func segment(_ name: String) -> String {
        name.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~")))
            ?? ""
    }

    /// Decodes a response of the API.
    public func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws(HomeError) -> Value {
        do {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return try decoder.decode(type, from: data)
        } catch {
            throw .internal("the gateway at \(url) sent an unexpected response: \(error)")
        }
    }

    /// Opens a response that does not end on its own.
    func stream(_ path: String, headers: [(String, String)]) async throws(HomeError) -> HTTPClientResponse {
        var request = HTTPClientRequest(url: url + path)
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        let response: HTTPClientResponse
        var data = Data()
        do {
            response = try await client.execute(request, deadline: .distantFuture)
            if !(200..<300).contains(response.status.code) {
                data = Data(buffer: try await response.body.collect(upTo: 1 << 20))
            }
        } catch {
            throw Self.failure(error, url: url)
        }
        try Self.check(response, data, url: url)
        return response
    }

    static func check(
        _ response: HTTPClientResponse, _ data: Data, url: String
    ) throws(HomeError) {
        guard (200..<300).contains(response.status.code) else {
            if let failure = try? JSONDecoder().decode(HomeErrorResponse.self, from: data) {
                throw failure.homeError
            }
            if isAnswerForAbsentGateway(response, data) {
                throw .unavailable("\(url) answered with HTTP status \(response.status.code): the gateway is away")
            }
            throw .unknown(
                "\(url) answered with HTTP status \(response.status.code); it does not look like a gateway")
        }
    }

    /// Whether a reverse proxy has answered for a gateway that is not there (RFC 9110, sections 15.6.3 to 15.6.5).
    static func isAnswerForAbsentGateway(_ response: HTTPClientResponse, _ data: Data) -> Bool {
        guard [502, 503, 504].contains(response.status.code) else { return false }
        // The gateway's own answers have its form.
        return (try? JSONDecoder().decode(HomeErrorResponse.self, from: data)) == nil
    }
}
