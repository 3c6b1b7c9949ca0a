import ICE
import STUN
import Transport

/// How names that travel over the network say which shard they belong to.
///
/// The first character of a local username fragment names the session's shard, and the first byte of a transaction
/// identifier the shard that awaits the answer. Neither is a secret: anybody may send a datagram to any shard anyway.
enum ShardMark {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Makes credentials whose fragment names `shard`. With one shard they are like any others.
    static func credentials(for shard: Int, of count: Int, using random: inout RandomSource) -> ICECredentials {
        var credentials = ICECredentials(using: &random)
        guard count > 1 else { return credentials }
        var fragment = Array(credentials.usernameFragment.utf8)
        let step = (value(of: fragment[0]) / count) * count + shard
        fragment[0] = alphabet[step < alphabet.count ? step : shard]
        credentials.usernameFragment = String(decoding: fragment, as: UTF8.self)
        return credentials
    }

    /// The shard that a fragment names. Every fragment names one, also one that was made elsewhere.
    static func shard(ofFragment fragment: some Collection<UInt8>, of count: Int) -> Int {
        guard count > 1, let first = fragment.first else { return 0 }
        return value(of: first) % count
    }

    /// The shard that a STUN message names: a binding request by its username, the answer to one by its transaction. Nil
    /// for anything else.
    static func shard(ofMessage datagram: UnsafeRawBufferPointer, of count: Int) -> Int? {
        if let fragment = ICE.localUsernameFragment(inBindingRequest: datagram) {
            return shard(ofFragment: fragment, of: count)
        }
        guard let id = STUNTransactionID(ofBindingResponse: datagram), Int(id.mark) < count else { return nil }
        return Int(id.mark)
    }

    /// The home of a camera's tracks: spread evenly, and always the same.
    static func home(of camera: String, of count: Int) -> Int {
        guard count > 1 else { return 0 }
        // FNV-1a, because Swift's own hashes differ from run to run.
        let hash = camera.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return Int((hash ^ hash >> 32) % UInt64(count))
    }

    private static func value(of character: UInt8) -> Int {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: 0
        }
    }
}
