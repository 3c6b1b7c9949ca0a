import AsyncHTTPClient
import Foundation
import HomeTypes
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// A live view on any WHEP server: the resource that a POST of an offer creates and a DELETE ends.
public struct WHEPResource: Sendable {
    /// The SDP answer.
    public let answerSdp: String
    private let location: String?
    private let token: String?
    private let client: HTTPClient

    /// Posts an offer to `url`.
    /// - Throws: `unavailable` when nothing answers, `unknown` for a refusal, `cancelled` when the task is cancelled.
    public init(
        url: String, token: String?, offerSdp: String, client: HTTPClient = .shared
    ) async throws(HomeError) {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/sdp")
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        request.body = .bytes(ByteBuffer(string: offerSdp))
        do {
            let response = try await client.execute(request, timeout: .seconds(30))
            let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
            guard response.status.code == 201 else {
                throw HomeError.unknown("\(url) answered \(response.status.code) to the offer: \(text.prefix(300))")
            }
            answerSdp = text
            let location = response.headers.first(name: "Location").map { Self.resolve($0, against: url) }
            self.location = location
            // The token is only for the server that it was meant for, whatever that server answers.
            self.token = location.map { Self.haveSameOrigin($0, url) } ?? false ? token : nil
            self.client = client
        } catch let error as HomeError {
            throw error
        } catch {
            if Task.isCancelled { throw .cancelled("the offer to \(url) was cancelled") }
            throw .unavailable("no WHEP server answers at \(url): \(error)")
        }
    }

    /// Ends the live view. It is not an error if the server has ended it already.
    public func delete() async {
        guard let location else { return }
        var request = HTTPClientRequest(url: location)
        request.method = .DELETE
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        // The view is over in any case, and a server that misses this request finds out on its own.
        if let response = try? await client.execute(request, timeout: .seconds(5)) {
            _ = try? await response.body.collect(upTo: 65_536)
        }
    }

    /// Whether two addresses belong to one server (RFC 6454, section 5).
    static func haveSameOrigin(_ first: String, _ second: String) -> Bool {
        guard let first = origin(of: first), let second = origin(of: second) else { return false }
        return first == second
    }

    /// The scheme, the host and the port of an address (RFC 6454, section 4); nil without a scheme or a host.
    private static func origin(of address: String) -> (scheme: String, host: String, port: Int?)? {
        guard let url = URL(string: address), let scheme = url.scheme?.lowercased(), let host = url.host?.lowercased()
        else { return nil }
        return (scheme, host, url.port ?? ["http": 80, "https": 443][scheme])
    }

    /// A Location may be relative (RFC 9110, section 10.2.2).
    static func resolve(_ location: String, against base: String) -> String {
        guard let base = URL(string: base), let url = URL(string: location, relativeTo: base) else { return location }
        return url.absoluteString
    }
}
