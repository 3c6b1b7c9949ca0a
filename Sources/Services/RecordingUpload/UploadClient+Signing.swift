import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import PushAvStreamTransport
import Transport

extension UploadClient {
    /// Signs a request to a store, with the hash of its body where that fits into memory.
    /// - Returns: why the body cannot be read; nil when all is well.
    func sign(
        _ message: inout HTTPClientRequest, _ url: String, _ file: FileBody?, with signer: SignatureV4,
        at now: WallTime
    ) async throws -> UploadOutcome? {
        guard let parts = URLComponents(string: url), let host = parts.percentEncodedHost, !host.isEmpty else {
            return .unreachable("\(url) is not an address")
        }
        let authority = parts.port.map { $0 == 443 ? host : "\(host):\($0)" } ?? host
        var hash = "UNSIGNED-PAYLOAD"
        if let file {
            guard let byteCount = file.byteCount else {
                // A store wants to know the length first.
                return .refused(status: 411)
            }
            if byteCount <= Self.largestSignedBody {
                do {
                    let whole = try await Self.read(file)
                    hash = SignatureV4.hash(of: Array(whole.readableBytesView))
                    message.body = .bytes(whole)
                } catch FileBody.Fault.missing, FileBody.Fault.shorter {
                    return .sourceMissing
                }
            }
        } else if let body = message.body {
            var bytes: [UInt8] = []
            for try await piece in body { bytes += piece.readableBytesView }
            hash = SignatureV4.hash(of: bytes)
        }
        var signed = message.headers.map { (name: $0.name.lowercased(), value: $0.value) }
        signed.append((name: "host", value: authority))
        message.headers.replaceOrAdd(name: "Host", value: authority)
        for header in signer.headers(
            method: "PUT", path: parts.percentEncodedPath, headers: signed, payloadHash: hash, at: now)
        {
            message.headers.replaceOrAdd(name: header.name, value: header.value)
        }
        return nil
    }

    private static func read(_ file: FileBody) async throws -> ByteBuffer {
        var whole = ByteBuffer()
        for try await piece in file { whole.writeImmutableBuffer(piece) }
        return whole
    }
}
