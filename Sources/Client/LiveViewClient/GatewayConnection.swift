import AsyncHTTPClient
import Foundation
import HomeTypes
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOSSL
import Transport

/// A gateway's HTTP API, as far as a viewer needs it.
public struct GatewayConnection: Sendable {
    private let url: String
    /// The address of the gateway, without a slash at its end.
    public var address: String { url }
    private let token: String
    private let client: HTTPClient

    /// The client that all connections use. It reports at once, without many attempts, that a gateway does not run.
    private static let standardClient = HTTPClient(
        eventLoopGroupProvider: .singleton, configuration: Self.clientConfiguration(certificate: nil))

    private static func clientConfiguration(certificate: String?) -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let certificate { tls.trustRoots = .file(certificate) }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .seconds(10)
        return configuration
    }

    /// Reaches the gateway at `url`, for example `http://127.0.0.1:8080`.
    public init(url: String, token: String) {
        self.init(url: url, token: token, client: Self.standardClient)
    }

    /// Connects to the gateway at `url` by HTTPS with a certificate that the gateway signed itself.
    /// - Parameter certificate: the path of that certificate, in PEM. Nothing else is trusted.
    public init(url: String, token: String, certificate: String) throws(HomeError) {
        do {
            guard try !NIOSSLCertificate.fromPEMFile(certificate).isEmpty else {
                throw HomeError.invalidArgument("\(certificate) contains no PEM certificate")
            }
        } catch {
            throw .invalidArgument(
                "\(certificate) cannot be read as a certificate in PEM; the gateway keeps its own as "
                    + "https-certificate.pem in its state folder")
        }
        // It lives as long as the process, like the standard client.
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: Self.clientConfiguration(certificate: certificate))
        Self.kept.withLock { $0.append(client) }
        self.init(url: url, token: token, client: client)
    }

    /// Keeps clients alive, because a client that is released without being shut down ends the process in a debug
    /// build.
    private static let kept = Locked<[HTTPClient]>([])

    private init(url: String, token: String, client: HTTPClient) {
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.token = token
        self.client = client
    }

    /// Fetches `path` and returns its JSON text.
    public func get(_ path: String) async throws(HomeError) -> Data {
        try await send(.GET, path, body: nil)
    }

    /// Posts `body` to `path` and returns the JSON text of the answer.
    public func post(_ path: String, contentType: String, body: Data) async throws(HomeError) -> Data {
        try await send(.POST, path, body: body, contentType: contentType)
    }

    /// Deletes `path`.
    public func delete(_ path: String) async throws(HomeError) {
        _ = try await send(.DELETE, path, body: nil)
    }

    /// Sends a command to a device.
    @discardableResult
    public func send<Command: TraitCommand>(
        _ command: Command.Type, to device: String, _ parameters: Command.Parameters
    ) async throws(HomeError) -> Command.Result {
        let encoded: Data
        do {
            encoded = try JSONEncoder().encode(parameters)
        } catch {
            throw .internal("the parameters of \(command.name) cannot be written as JSON: \(error)")
        }
        let path = "/v1/devices/\(Self.segment(device))/traits/\(command.trait.name)/commands/\(command.name)"
        return try decode(Command.Result.self, try await send(.POST, path, body: encoded))
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

    func send(
        _ method: HTTPMethod, _ path: String, body: Data?, contentType: String = "application/json"
    ) async throws(HomeError) -> Data {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        if let body {
            request.headers.add(name: "Content-Type", value: contentType)
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let response: HTTPClientResponse
        let data: Data
        do {
            response = try await client.execute(request, timeout: .seconds(30))
            data = Data(buffer: try await response.body.collect(upTo: 4 << 20))
        } catch {
            throw Self.failure(error, url: url)
        }
        try Self.check(response, data, path, url: url)
        return data
    }

    /// Opens a response that does not end by itself.
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
        try Self.check(response, data, path, url: url)
        return response
    }

    private static func check(
        _ response: HTTPClientResponse, _ data: Data, _ path: String, url: String
    ) throws(HomeError) {
        guard (200..<300).contains(response.status.code) else {
            if let failure = try? JSONDecoder().decode(HomeErrorResponse.self, from: data) { throw failure.homeError }
            throw .unknown("the gateway at \(url) answered \(response.status.code) to \(path)")
        }
    }
}

extension GatewayConnection {
    /// The reason why a request got no response, in words, because the libraries below have none.
    private static func failure(_ error: any Error, url: String) -> HomeError {
        switch error as? HTTPClientError {
        case .invalidURL?, .emptyScheme?, .emptyHost?:
            return .invalidArgument(
                "\(url) is not the address of a gateway; one looks like http://127.0.0.1:8080")
        case .connectTimeout?, .deadlineExceeded?, .readTimeout?:
            return .unavailable("the gateway at \(url) did not answer in time")
        case .remoteConnectionClosed?:
            return .unavailable(
                "the gateway at \(url) closed the connection; does this port accept "
                    + "\(url.hasPrefix("https") ? "http" : "https")://?")
        default: break
        }
        let told = "\(error)"
        if told.contains("unsupportedScheme") {
            return .invalidArgument("\(url) is not the address of a gateway; it begins with http:// or https://")
        }
        if told.contains("CERTIFICATE_VERIFY_FAILED") {
            return .unavailable(
                "the certificate of \(url) is not trusted on this machine. If the gateway signed it itself, copy "
                    + "https-certificate.pem from its state folder and name the copy with --certificate")
        }
        if told.contains("WRONG_VERSION_NUMBER") {
            return .unavailable("\(url) does not speak HTTPS; try http://")
        }
        if told.contains("unable to validate") || told.contains("noCertificateToValidate") || told.contains("hostname")
        {
            return .unavailable("the certificate of \(url) is for another name or address")
        }
        if told.contains("UnknownHost") {
            return .unavailable("the host name in \(url) cannot be resolved; check the name, or use an address")
        }
        if told.contains("Connection refused") {
            return .unavailable("no gateway runs at \(url); start it with gatehouse serve, or check the port")
        }
        if told.contains("unreachable") || told.contains("No route") {
            return .unavailable("the host of \(url) cannot be reached; check the network")
        }
        return .unavailable("no gateway answers at \(url): \(told)")
    }
}
