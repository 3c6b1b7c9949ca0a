import AsyncHTTPClient
import DatagramPort
import Foundation
import HomeTypes
import NIOCore
import NIOHTTP1
import NIOSSL
import RecordingUpload
import Transport

/// Sends messages to push services (RFC 8030). It connects to the address that was checked and to no other, follows no redirect,
/// and reads nothing of the answer but its head.
struct PushClient: Sendable {
    /// How long one request may take.
    static let timeout = TimeAmount.seconds(10)
    /// How long the service keeps a message for a phone that is not reached, in seconds. A press is old after that.
    static let lifetime = 300

    let vapid: VAPID
    let settings: GatewayConfiguration.Push
    /// The addresses of a host name.
    let lookUp: @Sendable (String, UInt16) async throws(UnknownHostName) -> [TransportAddress]
    let now: @Sendable () -> Date

    init(
        vapid: VAPID, settings: GatewayConfiguration.Push,
        lookUp: @escaping @Sendable (String, UInt16) async throws(UnknownHostName) -> [TransportAddress] = {
            (host, port) async throws(UnknownHostName) in try await HostNameLookup.addresses(of: host, port: port)
        },
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.vapid = vapid
        self.settings = settings
        self.lookUp = lookUp
        self.now = now
    }

    /// Sends a message to a browser.
    /// - Parameter topic: replaces an earlier message with the same one that has not been delivered.
    /// - Returns: what came of it, and a word about it for the log where it is not accepted.
    func send(
        _ message: [UInt8], topic: String, to subscription: PushSubscription
    ) async -> (outcome: PushOutcome, problem: String?) {
        do {
            let endpoint = try PushEndpoint(subscription.endpoint, services: settings.services)
            let address = try await endpoint.address(lookUp: lookUp)
            var request = HTTPClientRequest(url: endpoint.url)
            request.method = .POST
            request.headers.add(name: "TTL", value: "\(Self.lifetime)")
            request.headers.add(name: "Urgency", value: "high")
            // At most 32 characters (RFC 8030, section 5.4), which say nothing to the service.
            let name = PushEncryption.hmac(subscription.recipient.secret, Array(topic.utf8)).prefix(24)
            request.headers.add(name: "Topic", value: Base64URL.text(name))
            request.headers.add(name: "Content-Encoding", value: "aes128gcm")
            request.headers.add(name: "Content-Type", value: "application/octet-stream")
            request.headers.add(
                name: "Authorization",
                value: try vapid.authorization(for: endpoint.origin, subject: subscription.page, at: now()))
            request.body = .bytes(
                ByteBuffer(bytes: try PushEncryption().encrypted(message, for: subscription.recipient)))
            return try await execute(request, at: address, endpoint)
        } catch let error as HomeError where error.code == .invalidArgument {
            // The config has changed: the service is no longer listed.
            return (.refused(status: 0), error.message)
        } catch let error as HomeError {
            return (.failed(retryAfter: nil), error.message)
        } catch let failure as P256Key.Failure {
            return (.refused(status: 0), "\(failure)")
        } catch {
            return (.failed(retryAfter: nil), Self.words(error))
        }
    }

    /// Sends a request by a client of its own, for which the service's name stands for the checked address alone.
    private func execute(
        _ request: HTTPClientRequest, at address: TransportAddress, _ endpoint: PushEndpoint
    ) async throws -> (outcome: PushOutcome, problem: String?) {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if endpoint.isListed, let file = settings.authorities {
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(file))
        }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        configuration.timeout.connect = .seconds(5)
        configuration.timeout.read = Self.timeout
        configuration.dnsOverride = [endpoint.host: address.host]
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<(outcome: PushOutcome, problem: String?), any Error>
        do {
            let response = try await client.execute(request, timeout: Self.timeout)
            let retryAfter = response.headers.first(name: "Retry-After").flatMap(RetryAfter.parse)
            result = .success(Self.outcome(Int(response.status.code), retryAfter, host: endpoint.host))
        } catch {
            result = .failure(error)
        }
        // A client that is shut down already has nothing left to do.
        try? await client.shutdown()
        return try result.get()
    }

    /// What a status means (RFC 8030, section 5; the services' own documents agree).
    static func outcome(_ status: Int, _ retryAfter: Duration?, host: String) -> (PushOutcome, String?) {
        switch status {
        case 200..<300: (.accepted, nil)
        case 404, 410: (.gone, nil)
        case 408, 429, 500...: (.failed(retryAfter: retryAfter), "\(host) answered with status \(status)")
        default: (.refused(status: status), "\(host) refused a message with status \(status)")
        }
    }

    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError: "the push service cannot be reached (\(error.shortDescription))"
        case is NIOSSLError, is NIOSSLExtraError: "the push service is not trusted: its certificate"
        default: "the push service cannot be reached"
        }
    }
}
