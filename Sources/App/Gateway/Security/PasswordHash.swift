import COpenSSL
import Foundation

/// A password as the store keeps it: what scrypt (RFC 7914) makes of the password and a salt. The password cannot be made from it
/// again, and each guess costs 32 MiB and some tenths of a second.
struct PasswordHash: Sendable, Codable, Equatable {
    /// The lengths in bytes that a password may have.
    static let lengths = 10...256

    /// scrypt's N, a power of two. With ``blockSize`` it decides the memory: 128 bytes times both.
    private var cost: UInt64 = 1 << 15
    /// scrypt's r.
    private var blockSize: UInt64 = 8
    /// scrypt's p.
    private var parallelism: UInt64 = 1
    private var salt: Data
    private var key: Data

    /// Hashes a password with a new salt; nil if the system's random source or its memory fails. It takes some tenths of a
    /// second.
    init?(_ password: String) {
        var salt = [UInt8](repeating: 0, count: 16)
        guard RAND_bytes(&salt, 16) == 1 else { return nil }
        self.salt = Data(salt)
        self.key = Data()
        guard let key = derive(password) else { return nil }
        self.key = Data(key)
    }

    /// Whether a password is the right one. It takes as long as making the hash.
    func matches(_ password: String) -> Bool {
        guard let given = derive(password), given.count == key.count else { return false }
        return CRYPTO_memcmp(given, Array(key), given.count) == 0
    }

    private func derive(_ password: String) -> [UInt8]? {
        // Keyboards differ in how they write an accented letter.
        let bytes = password.precomposedStringWithCanonicalMapping.utf8.map { CChar(bitPattern: $0) }
        var key = [UInt8](repeating: 0, count: 32)
        let most: UInt64 = 64 << 20
        let isMade = EVP_PBE_scrypt(
            bytes, bytes.count, Array(salt), salt.count, cost, blockSize, parallelism, most, &key, key.count)
        return isMade == 1 ? key : nil
    }
}
