import STUN
import Testing
import Transport

@Suite struct STUNMutationTests {
    /// Everything that can be asked of a message, so that a wrong offset traps.
    private func exercise(_ bytes: [UInt8], _ key: inout MessageIntegrityKey) -> Bool {
        bytes.withUnsafeBytes { raw in
            guard let message = try? STUNMessage(parsing: raw) else { return false }
            _ = message.username.map { $0.reduce(0) { $0 &+ Int($1) } }
            _ = message.mappedAddress
            _ = message.errorCode
            _ = message.hasValidFingerprint
            _ = message.hasValidIntegrity(&key)
            return true
        }
    }

    @Test func mutatedMessagesNeverTrap() {
        var random = RandomSource.seeded(5769)
        var key = MessageIntegrityKey(Vectors.password)
        var read = 0
        for round in 0..<20_000 {
            var bytes = Vectors.all[round % Vectors.all.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                switch Int.random(in: 0..<5, using: &random) {
                case 0 where !bytes.isEmpty:
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                case 1 where !bytes.isEmpty:
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] ^=
                        1 << UInt8.random(in: 0..<8, using: &random)
                case 2:
                    bytes.removeLast(Int.random(in: 0...min(8, bytes.count), using: &random))
                case 3:
                    bytes += (0..<Int.random(in: 0..<8, using: &random)).map { _ in
                        UInt8(truncatingIfNeeded: random.next())
                    }
                default:
                    // The length is made right again, so that the attributes are reached.
                    if bytes.count >= 20 {
                        while !bytes.count.isMultiple(of: 4) { bytes.append(0) }
                        let length = UInt16(bytes.count - 20)
                        bytes[2] = UInt8(length >> 8)
                        bytes[3] = UInt8(truncatingIfNeeded: length)
                    }
                }
            }
            if exercise(bytes, &key) { read += 1 }
        }
        // Some must get through, or the mutations reach nothing behind the header.
        #expect(read > 1000)
    }

    @Test func everyPrefixIsRefusedAndNothingTraps() {
        var key = MessageIntegrityKey(Vectors.password)
        for vector in Vectors.all {
            for count in 0..<vector.count {
                #expect(!exercise(Array(vector.prefix(count)), &key))
            }
        }
    }
}
