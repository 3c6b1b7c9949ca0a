import AsyncHTTPClient
import DatagramPort
import NIOCore
import NIOHTTP1
import NIOSSL
import PushAvStreamTransport
import Transport

/// Uploads to one endpoint over HTTPS: HTTP/2 where the server offers it, with the endpoint's certificate and key.
///
/// Redirects are not followed: footage goes where its owner said, or nowhere. Of a response only the status and
/// `Retry-After` count.
final class UploadClient: Sendable {
    /// The endpoint.
    let endpoint: UploadEndpoint
    private let client: HTTPClient
    private let deadlines: UploadDeadlines

    /// A longer body is not signed but protected by TLS alone, because signing needs all of it beforehand.
    static let largestSignedBody = 16 << 20
    /// More of a response is not read; its connection is closed instead.
    private static let largestResponse = 64 << 10

    init(_ endpoint: UploadEndpoint, deadlines: UploadDeadlines) throws {
        self.endpoint = endpoint
        self.deadlines = deadlines
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        // A connection that is closed still reads until the server agrees, so a flood would go on that long.
        tls.shutdownTimeout = .milliseconds(100)
        if let roots = endpoint.rootCertificates {
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(roots.utf8)))
        }
        if case .tls(.some(let chain), .some(let key)) = endpoint.kind {
            tls.certificateChain = try NIOSSLCertificate.fromPEMBytes(Array(chain.utf8)).map { .certificate($0) }
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem))
        }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .automatic
        configuration.decompression = .disabled
        configuration.timeout.connect = TimeAmount(deadlines.connect)
        configuration.timeout.read = TimeAmount(deadlines.idle)
        configuration.http2StreamChannelDebugInitializer = EarlyResponseGate.install
        // The queue decides when to try again.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Ends the client. It must not be used afterwards.
    func shutDown() async {
        // A client that is shut down already has nothing left to do.
        try? await client.shutdown()
    }

    /// Uploads one object.
    func put(_ request: UploadRequest, folder: String, growth: GrowingFile?, now: WallTime) async -> UploadOutcome {
        let url = request.destination.url + request.path
        guard url.lowercased().hasPrefix("https://") else {
            return .unreachable("\(request.destination.url) is not an https address; uploads use nothing else")
        }
        do {
            var message = HTTPClientRequest(url: url)
            message.method = .PUT
            message.headers.add(name: "Content-Type", value: request.contentType)
            if let seconds = request.segmentSeconds { message.headers.add(name: "X-EXTINF-duration", value: seconds) }
            let (file, timeout) = try attach(request.body, to: &message, folder: folder, growth: growth)
            if case .s3(let credentials, let region) = endpoint.kind {
                let signer = SignatureV4(credentials: credentials, region: region)
                if let failure = try await sign(&message, url, file, with: signer, at: now) { return failure }
            }
            return await send(message, file, patience: timeout)
        } catch {
            return .sourceFailed("\(error)")
        }
    }

    /// Sets the body, and returns the file that it is read from, and how long the request may take: all of it, or each piece
    /// of a file that grows.
    private func attach(
        _ body: UploadRequest.Body, to message: inout HTTPClientRequest, folder: String, growth: GrowingFile?
    ) throws -> (file: FileBody?, patience: Duration) {
        switch body {
        case .text(let text):
            message.body = .bytes(ByteBuffer(string: text))
            return (nil, deadlines.base)
        case .file(let path, let byteCount):
            let file = FileBody(path: "\(folder)/\(path)", byteCount: byteCount, growth: nil)
            message.body = .stream(file, length: .known(Int64(byteCount)))
            return (file, deadlines.base + .seconds(byteCount / max(1, deadlines.slowestBytesPerSecond)))
        case .growing(let path):
            let file = FileBody(path: "\(folder)/\(path)", byteCount: nil, growth: growth ?? GrowingFile())
            message.body = .stream(file, length: .unknown)
            return (file, deadlines.base)
        }
    }

    private func send(_ message: HTTPClientRequest, _ file: FileBody?, patience: Duration) async -> UploadOutcome {
        do {
            let response =
                if let file, file.byteCount == nil {
                    try await execute(message, growing: file, patience: patience)
                } else {
                    try await client.execute(message, timeout: TimeAmount(patience))
                }
            let status = Int(response.status.code)
            let retryAfter = response.headers.first(name: "Retry-After").flatMap(RetryAfter.parse)
            await Self.drain(response.body)
            guard (200..<300).contains(status) else { return .refused(status: status, retryAfter: retryAfter) }
            // A server that does not wait for the object cannot have it.
            guard file?.progress.isComplete ?? true else {
                return .unreachable("the server responded with status \(status) before it had all of the object")
            }
            return .accepted
        } catch {
            switch file?.progress.failure {
            case .missing, .shorter: return .sourceMissing
            case .system(let reason): return .sourceFailed(reason)
            case .abandoned: return .cancelled
            case nil: return Task.isCancelled ? .cancelled : .unreachable(Self.words(error))
            }
        }
    }

    /// Sends a file that grows. Nobody knows when it ends: key frames may be minutes apart, and a segment ends with the next
    /// one. So the server has time for each piece, and for the answer, and not for all of it.
    private func execute(
        _ message: HTTPClientRequest, growing file: FileBody, patience: Duration
    ) async throws -> HTTPClientResponse {
        try await withThrowingTaskGroup(of: HTTPClientResponse.self) { [client] group in
            group.addTask { try await client.execute(message, timeout: Self.longestSegment) }
            group.addTask {
                while true {
                    let now = MonotonicClock.now
                    let deadline = (file.progress.busySince ?? now) + patience
                    guard deadline > now else { throw HTTPClientError.deadlineExceeded }
                    try await Task.sleep(for: deadline - now)
                }
            }
            defer { group.cancelAll() }
            guard let response = try await group.next() else { throw CancellationError() }
            return response
        }
    }

    /// No segment is longer: a session is cut long before, and a camera that is silent ends its session.
    private static let longestSegment = TimeAmount.hours(24)

    /// Reads a short response, so that its connection can be used again, and gives up a long or slow one.
    private static func drain(_ body: HTTPClientResponse.Body) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                var count = 0
                // What comes after the status does not matter, and neither does its failure.
                do {
                    for try await piece in body {
                        count += piece.readableBytes
                        if count > largestResponse { return }
                    }
                } catch {}
            }
            group.addTask { try? await Task.sleep(for: .seconds(2)) }
            await group.next()
            group.cancelAll()
        }
    }

    /// What went wrong, for the owner.
    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError where error == .deadlineExceeded: "the server did not respond in time"
        case let error as HTTPClientError where error == .connectTimeout: "the server could not be reached in time"
        case let error as HTTPClientError where error == .remoteConnectionClosed:
            "the server closed the connection without a response"
        case let error as HTTPClientError: "the upload failed (\(error.shortDescription))"
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            "the server's certificate is for another name"
        case let error as NIOSSLError: "no secure connection: \(error)"
        case let error as IOError: "the connection failed: \(error)"
        default: "the connection failed (\(error))"
        }
    }
}
