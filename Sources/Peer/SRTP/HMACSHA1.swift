import COpenSSL

/// HMAC-SHA1 (RFC 2104). Its two key blocks are hashed once, so a packet costs two small copies and no allocation.
struct HashedMessageAuthentication<Hash: SHA1Primitives>: BitwiseCopyable {
    private var inner = SHA_CTX()
    private var outer = SHA_CTX()

    /// Keys the function; a key is at most 64 bytes long, and SRTP's is 20.
    init(key: [UInt8]) {
        var block = [UInt8](repeating: 0x36, count: 64)
        for (offset, byte) in key.prefix(64).enumerated() { block[offset] ^= byte }
        Hash.start(&inner)
        block.withUnsafeBytes { Hash.update(&inner, $0) }
        for offset in block.indices { block[offset] ^= 0x36 ^ 0x5C }
        Hash.start(&outer)
        block.withUnsafeBytes { Hash.update(&outer, $0) }
    }

    /// Authenticates `message` followed by `suffix` in network order, if there is one.
    func code(of message: UnsafeRawBufferPointer, suffix: UInt32?) -> SHA1Digest {
        var digest = SHA1Digest()
        var state = inner
        Hash.update(&state, message)
        if let suffix {
            withUnsafeBytes(of: suffix.bigEndian) { Hash.update(&state, $0) }
        }
        Hash.finish(&state, &digest)
        state = outer
        withUnsafeBytes(of: digest) { Hash.update(&state, $0) }
        Hash.finish(&state, &digest)
        return digest
    }
}

typealias HMACSHA1 = HashedMessageAuthentication<LowLevelSHA1>

/// The 20 bytes of a SHA-1 digest.
struct SHA1Digest: BitwiseCopyable {
    private var first: UInt64 = 0
    private var second: UInt64 = 0
    private var third: UInt32 = 0
}

/// SHA-1 without the envelope API.
protocol SHA1Primitives {
    static func start(_ state: inout SHA_CTX)
    static func update(_ state: inout SHA_CTX, _ bytes: UnsafeRawBufferPointer)
    static func finish(_ state: inout SHA_CTX, _ digest: inout SHA1Digest)
}

/// OpenSSL 3 marks these functions as deprecated in favour of EVP_MAC. But EVP_MAC allocates and frees its state for
/// each message and takes 14 % longer, and EVP cannot copy a keyed state into our memory. The functions are the same
/// code underneath, so we use them on purpose. The generic parameter keeps the compiler from repeating the notice at
/// each build.
enum LowLevelSHA1: SHA1Primitives {
    @available(*, deprecated, message: "deliberate, see the type's comment")
    static func start(_ state: inout SHA_CTX) {
        SHA1_Init(&state)
    }

    @available(*, deprecated, message: "deliberate, see the type's comment")
    static func update(_ state: inout SHA_CTX, _ bytes: UnsafeRawBufferPointer) {
        SHA1_Update(&state, bytes.baseAddress, bytes.count)
    }

    @available(*, deprecated, message: "deliberate, see the type's comment")
    static func finish(_ state: inout SHA_CTX, _ digest: inout SHA1Digest) {
        withUnsafeMutableBytes(of: &digest) { bytes in
            _ = SHA1_Final(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), &state)
        }
    }
}
