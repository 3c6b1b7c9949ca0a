import COpenSSL

/// AES-128-GCM with one key and in one direction, for records.
final class RecordCipher {
    private let context: OpaquePointer

    private static let tagLength = 16

    init?(key: [UInt8], encrypts: Bool) {
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        guard EVP_CipherInit_ex(context, EVP_aes_128_gcm(), nil, key, nil, encrypts ? 1 : 0) == 1 else {
            EVP_CIPHER_CTX_free(context)
            ERR_clear_error()
            return nil
        }
        self.context = context
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    /// Writes the cipher text and the tag of `text` into `output`, which has room for both.
    func seal(
        _ text: UnsafeRawBufferPointer, nonce: [UInt8], header: [UInt8], into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard output.count >= text.count + Self.tagLength, let start = output.baseAddress else { return false }
        let isDone =
            begin(nonce: nonce, header: header)
            && crypt(text, into: start)
            && finish(encrypts: true, tag: start + text.count)
        if !isDone { ERR_clear_error() }
        return isDone
    }

    /// Decrypts, in place, a cipher text that its tag follows. Without a right tag what is left there means nothing.
    func open(_ sealed: UnsafeMutableRawBufferPointer, nonce: [UInt8], header: [UInt8]) -> Bool {
        guard sealed.count >= Self.tagLength, let start = sealed.baseAddress else { return false }
        let count = sealed.count - Self.tagLength
        let isDone =
            begin(nonce: nonce, header: header)
            && crypt(UnsafeRawBufferPointer(rebasing: sealed[..<count]), into: start)
            && finish(encrypts: false, tag: start + count)
        if !isDone { ERR_clear_error() }
        return isDone
    }

    private func begin(nonce: [UInt8], header: [UInt8]) -> Bool {
        var written: Int32 = 0
        // The key and the direction stay; -1 says so.
        return EVP_CipherInit_ex(context, nil, nil, nil, nonce, -1) == 1
            && EVP_CipherUpdate(context, nil, &written, header, Int32(header.count)) == 1
    }

    private func crypt(_ text: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer) -> Bool {
        var written: Int32 = 0
        guard !text.isEmpty else { return true }
        return EVP_CipherUpdate(
            context, output.assumingMemoryBound(to: UInt8.self), &written,
            text.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(text.count)) == 1
    }

    private func finish(encrypts: Bool, tag: UnsafeMutableRawPointer) -> Bool {
        var written: Int32 = 0
        var nothing = [UInt8](repeating: 0, count: 16)
        let length = Int32(Self.tagLength)
        if !encrypts {
            guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, length, tag) == 1 else { return false }
        }
        guard EVP_CipherFinal_ex(context, &nothing, &written) == 1 else { return false }
        return !encrypts || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, length, tag) == 1
    }
}
