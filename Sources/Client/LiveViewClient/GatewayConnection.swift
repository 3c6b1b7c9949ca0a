import AsyncHTTPClient
import Foundation
import HomeTypes
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// A gateway's HTTP API, as far as a viewer needs it.
public struct GatewayConnection: Sendable {
    /// What a started live view is.
    public struct StartedLiveView: Codable, Sendable {
        /// The session's name.
        public var mediaSessionId: String
        /// The SDP answer.
        public var answerSdp: String
        /// The length of the lease in seconds.
        public var liveSessionDurationSeconds: UInt16
        /// In words, what of the offer was not used and why.
        public var notes: [String]?
    }

    private let url: String
    private let token: String
    private let client: HTTPClient

    /// Reaches the gateway at `url`, for example `http://127.0.0.1:8080`.
    public init(url: String, token: String, client: HTTPClient = .shared) {
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

    /// Gives a device's trait a command with a JSON object of arguments.
    public func command(
        device: String, trait: String, _ command: String, _ arguments: [String: any Encodable & Sendable] = [:]
    ) async throws(HomeError) -> Data {
        let encoded: Data
        do {
            encoded = try JSONEncoder().encode(arguments.mapValues(AnyEncodable.init))
        } catch {
            throw .internal("the arguments of \(command) cannot be written as JSON: \(error)")
        }
        return try await send(
            .POST, "/v1/devices/\(Self.segment(device))/traits/\(trait)/commands/\(command)", body: encoded)
    }

    /// A name as one segment of a path, whatever somebody has typed.
    public static func segment(_ name: String) -> String {
        name.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~")))
            ?? ""
    }

    /// Starts a live view.
    public func startLiveView(device: String, offerSdp: String) async throws(HomeError) -> StartedLiveView {
        try decode(
            StartedLiveView.self,
            try await command(device: device, trait: "WebRtcLiveView", "startLiveView", ["offerSdp": offerSdp]))
    }

    /// Decodes a response of the API.
    public func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws(HomeError) -> Value {
        do {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return try decoder.decode(type, from: data)
        } catch {
            throw .internal("the gateway at \(url) answered something that is not understood: \(error)")
        }
    }

    private func send(
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
            throw .unavailable("no gateway answers at \(url) (\(error)); start one with: gatehouse serve")
        }
        guard (200..<300).contains(response.status.code) else {
            if let failure = try? JSONDecoder().decode(HomeErrorResponse.self, from: data) { throw failure.homeError }
            throw .unknown("the gateway at \(url) answered \(response.status.code) to \(path)")
        }
        return data
    }
}

/// Any value that can be encoded.
private struct AnyEncodable: Encodable {
    let value: any Encodable

    init(_ value: any Encodable & Sendable) {
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
    }
}
