import AsyncHTTPClient
import Foundation
import HomeTypes
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// A request to a gateway's HTTP API.
public struct GatewayRequest: Sendable {
    /// The HTTP methods of the API.
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// The HTTP method.
    public var method: Method
    /// The path with its query, for example `/v1/devices`.
    public var path: String
    /// The body; nil for none.
    public var body: Data?
    /// The type of the body.
    public var contentType = "application/json"
    /// The same for all repetitions of a request, so that it takes effect once; nil for a request that may take effect
    /// twice.
    public var idempotencyKey: String?
    /// The version of the object that the request changes; the gateway refuses with `aborted` if it has another.
    public var version: String?
    /// How long to wait for the response. The gateway does not apply a command after this time.
    public var timeout: Duration = .seconds(30)

    /// Describes a request.
    public init(_ method: Method, _ path: String, body: Data? = nil) {
        self.method = method
        self.path = path
        self.body = body
    }
}

/// A response of a gateway's HTTP API that reports success.
public struct GatewayResponse: Sendable {
    /// The body, which is JSON unless the request was for something else.
    public var body: Data
    /// The version of the object in the body; nil if it has none.
    public var version: String?
}

extension GatewayConnection {
    /// Sends a request and waits for its response.
    /// - Throws: the error that the gateway reports; `unavailable` if it cannot be reached, `deadlineExceeded` when
    ///   the time is over.
    public func send(_ request: GatewayRequest) async throws(HomeError) -> GatewayResponse {
        try await attempt(request).get()
    }

    /// Sends a request, and repeats it a few times while the gateway cannot be reached, also through a reverse proxy. The
    /// request needs an idempotency key, unless it may take effect twice.
    /// - Throws: as `send`.
    public func sendRepeatedly(_ request: GatewayRequest) async throws(HomeError) -> GatewayResponse {
        let end = ContinuousClock.now + request.timeout
        var request = request
        var backOff = BackOff()
        var attempts = 4
        while true {
            attempts -= 1
            switch try await attempt(request) {
            case .success(let response): return response
            case .failure(let error):
                let wait = backOff.wait()
                request.timeout = ContinuousClock.now.duration(to: end) - wait
                guard error.code == .unavailable, attempts > 0, request.timeout > .zero else { throw error }
                do {
                    try await Task.sleep(for: wait)
                } catch {
                    throw .cancelled("the request to \(address) was cancelled")
                }
            }
        }
    }

    /// Sends a request once.
    /// - Returns: the response, or the reason why none came.
    /// - Throws: the error that the gateway reports.
    private func attempt(
        _ request: GatewayRequest
    ) async throws(HomeError) -> Result<GatewayResponse, HomeError> {
        let response: HTTPClientResponse
        let data: Data
        do {
            response = try await client.execute(
                message(request), timeout: .nanoseconds(max(1, request.timeout.wholeNanoseconds)))
            data = Data(buffer: try await response.body.collect(upTo: 64 << 20))
        } catch {
            return .failure(Self.failure(error, url: address))
        }
        do throws(HomeError) {
            try Self.check(response, data, url: address)
        } catch {
            // The gateway itself has not answered.
            guard Self.isAnswerForAbsentGateway(response, data) else { throw error }
            return .failure(error)
        }
        return .success(GatewayResponse(body: data, version: response.headers.first(name: "ETag")))
    }

    func send(
        _ method: GatewayRequest.Method, _ path: String, body: Data?, contentType: String = "application/json"
    ) async throws(HomeError) -> Data {
        var request = GatewayRequest(method, path, body: body)
        request.contentType = contentType
        return try await send(request).body
    }

    private func message(_ request: GatewayRequest) -> HTTPClientRequest {
        var message = HTTPClientRequest(url: address + request.path)
        message.method = HTTPMethod(rawValue: request.method.rawValue)
        message.headers.add(name: "Authorization", value: "Bearer \(token)")
        if let body = request.body {
            message.headers.add(name: "Content-Type", value: request.contentType)
            message.body = .bytes(ByteBuffer(bytes: body))
        }
        if let version = request.version { message.headers.add(name: "If-Match", value: version) }
        if let key = request.idempotencyKey {
            message.headers.add(name: "Idempotency-Key", value: key)
            let milliseconds = min(99_999_999, max(1, request.timeout.wholeNanoseconds / 1_000_000))
            message.headers.add(name: "Grpc-Timeout", value: "\(milliseconds)m")
        }
        return message
    }
}

extension Duration {
    /// The duration in nanoseconds, at most three centuries.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        guard abs(seconds) < 9_000_000_000 else { return seconds < 0 ? .min : .max }
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
