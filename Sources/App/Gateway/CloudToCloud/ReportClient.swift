import AsyncHTTPClient
import CloudToCloud
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import RecordingUpload

/// Sends reports to the cloud over HTTPS, and gets the tokens for them. It follows no redirect: a report and its token go to
/// the address of the config and nowhere else.
actor ReportClient {
    /// How long one request may take.
    static let timeout = TimeAmount.seconds(15)
    /// How much of a response is read, in bytes.
    static let largestResponse = 64 << 10

    /// What became of a message, with a word about it for the log.
    struct Delivery: Sendable, Equatable {
        var outcome: CloudReportQueue.Outcome
        /// Nil when all is well. Never holds a secret.
        var problem: String?
    }

    private struct Token {
        var text: String
        var endsAt: Date
    }

    private struct TokenAnswer: Decodable {
        var access_token: String
        var expires_in: Double?
    }

    private struct Refusal: Error {
        var delivery: Delivery
    }

    private let settings: GatewayConfiguration.ReportState
    private let account: ServiceAccount?
    private let client: HTTPClient
    private let now: @Sendable () -> Date
    private var token: Token?

    /// Makes a client.
    /// - Throws: what is wrong with the credentials or the file of the authorities.
    init(_ settings: GatewayConfiguration.ReportState, now: @escaping @Sendable () -> Date = { Date() }) throws {
        self.settings = settings
        self.account = settings.credentials.hasPrefix("{") ? try ServiceAccount(json: settings.credentials) : nil
        self.now = now
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let file = settings.authorities {
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(file))
        }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        configuration.timeout.connect = .seconds(5)
        configuration.timeout.read = Self.timeout
        configuration.connectionPool.retryConnectionEstablishment = false
        self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Ends the client. It must not be used afterwards.
    func shutDown() async {
        // A client that is shut down already has nothing left to do.
        try? await client.shutdown()
    }

    /// Sends one message.
    func send(_ message: CloudReportQueue.Message, user: String) async -> Delivery {
        do {
            let report = CloudReport(message, user: user, requestID: TokenRegistry.newID(prefix: "r"))
            var request = HTTPClientRequest(url: settings.url + report.path)
            request.method = .POST
            request.headers.add(name: "Authorization", value: "Bearer \(try await bearer())")
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: try report.json()))
            let (status, retryAfter, _) = try await execute(request)
            // The token may have been withdrawn before its time.
            if status == 401 { token = nil }
            return Self.delivery(status, retryAfter, of: "the report")
        } catch let refusal as Refusal {
            return refusal.delivery
        } catch let failure as ServiceAccount.Failure {
            return Delivery(outcome: .refused, problem: failure.reason)
        } catch {
            return Delivery(outcome: .failed(retryAfter: nil), problem: Self.words(error))
        }
    }

    /// The token for the next request: that of the config, or one that the account gets and that still works for a minute.
    private func bearer() async throws -> String {
        guard let account else { return settings.credentials }
        if let token, token.endsAt > now().addingTimeInterval(60) { return token.text }
        var request = HTTPClientRequest(url: account.tokenURL)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        request.body = .bytes(ByteBuffer(string: try account.tokenRequest(at: now())))
        let (status, retryAfter, body) = try await execute(request)
        guard status == 200, let answer = try? JSONDecoder().decode(TokenAnswer.self, from: body) else {
            var delivery = Self.delivery(status, retryAfter, of: "the request for a token")
            // Without a token no report is possible, so none is given up because of it.
            if delivery.outcome != .failed(retryAfter: retryAfter) { delivery.outcome = .failed(retryAfter: nil) }
            delivery.problem = delivery.problem ?? "the response to the request for a token holds no token"
            throw Refusal(delivery: delivery)
        }
        let made = Token(text: answer.access_token, endsAt: now().addingTimeInterval(answer.expires_in ?? 300))
        token = made
        return made.text
    }

    private func execute(
        _ request: HTTPClientRequest
    ) async throws -> (status: Int, retryAfter: Duration?, body: Data) {
        let client = self.client
        // The timeout of the request ends with the head of the response; the body has to come in the same time.
        return try await withThrowingTaskGroup(of: (Int, Duration?, Data).self) { group in
            group.addTask {
                let response = try await client.execute(request, timeout: Self.timeout)
                let body = try await response.body.collect(upTo: Self.largestResponse)
                return (
                    Int(response.status.code),
                    response.headers.first(name: "Retry-After").flatMap(RetryAfter.parse),
                    Data(body.readableBytesView)
                )
            }
            group.addTask {
                try await Task.sleep(for: .nanoseconds(Self.timeout.nanoseconds))
                throw HTTPClientError.deadlineExceeded
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }

    /// What a status means for the message.
    static func delivery(_ status: Int, _ retryAfter: Duration?, of what: String) -> Delivery {
        switch status {
        case 200..<300: Delivery(outcome: .accepted, problem: nil)
        // A redirect is not followed; the receiver's administrator may mend it.
        case 300..<400:
            Delivery(outcome: .failed(retryAfter: retryAfter), problem: "\(what) was redirected (\(status))")
        case 401, 403, 408, 429, 500...:
            Delivery(outcome: .failed(retryAfter: retryAfter), problem: "\(what) was answered with status \(status)")
        default: Delivery(outcome: .refused, problem: "\(what) was refused with status \(status)")
        }
    }

    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout:
            "the cloud did not respond in time"
        case let error as HTTPClientError: "the cloud cannot be reached (\(error.shortDescription))"
        case is NIOSSLError, is NIOSSLExtraError:
            "the connection to the cloud is not secure: its certificate is not trusted"
        case is NIOTooManyBytesError: "the cloud's response is too long"
        default: "the cloud cannot be reached"
        }
    }
}
