import COpenSSL
import CZlib
import Foundation
import Transport

/// One file of the page, as browsers get it. It is made when it is first asked for: a copy of what is in the program
/// would only take memory at rest.
final class WebAsset: Sendable {
    private struct Content: Sendable {
        let bytes: [UInt8]
        let digest: String
    }

    let mediaType: String
    private let make: @Sendable () -> [UInt8]
    private let content = Locked<Content?>(nil)
    private let compressed = Locked<[UInt8]?>(nil)

    /// - Parameter make: gives the bytes. It is called once, when they are first needed.
    init(_ mediaType: String, _ make: @escaping @Sendable () -> [UInt8]) {
        self.mediaType = mediaType
        self.make = make
    }

    private var made: Content {
        content.withLock { content in
            if let content { return content }
            let bytes = make()
            let made = Content(bytes: bytes, digest: Self.digest(of: bytes))
            content = made
            return made
        }
    }

    /// Whether somebody has asked for it.
    var isMade: Bool { content.withLock { $0 != nil } }

    var bytes: [UInt8] { made.bytes }

    /// The entity tag without its quotation marks: a digest of the bytes.
    var digest: String { made.digest }

    /// The content as text.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The content as gzip, where that is worth it: pictures are compressed already. It is made when it is first asked for.
    var gzip: [UInt8]? {
        guard mediaType.hasPrefix("text/") || mediaType.hasSuffix("json") || mediaType.hasSuffix("xml") else {
            return nil
        }
        return compressed.withLock { compressed in
            if compressed == nil { compressed = Self.gzip(bytes) ?? [] }
            return compressed?.isEmpty == false ? compressed : nil
        }
    }

    /// SHA-256, cut to 64 bits, in hexadecimal digits.
    static func digest(of bytes: [UInt8]) -> String { bytes.withUnsafeBytes { digest(of: $0) } }

    /// SHA-256 of bytes that are not copied, cut to 64 bits, in hexadecimal digits.
    static func digest(of bytes: UnsafeRawBufferPointer) -> String {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256(bytes.baseAddress, bytes.count, &digest)
        return digest.prefix(8).map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
    }

    /// A file of RFC 1952; nil if zlib has no memory.
    static func gzip(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        // 15 bits of window, and 16 for the header of gzip.
        guard
            deflateInit2_(
                &stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return nil }
        defer { deflateEnd(&stream) }
        var input = bytes
        var result = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))))
        let count = input.withUnsafeMutableBufferPointer { input in
            result.withUnsafeMutableBufferPointer { output -> Int? in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                return deflate(&stream, Z_FINISH) == Z_STREAM_END ? Int(stream.total_out) : nil
            }
        }
        return count.map { Array(result.prefix($0)) }
    }
}
