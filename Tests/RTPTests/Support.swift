import RTP
import Transport

/// What `write` puts into a buffer of `capacity` bytes.
func written(capacity: Int = 1500, _ write: (inout ByteWriter) -> Void) -> [UInt8] {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 8)
    defer { memory.deallocate() }
    var writer = ByteWriter(memory)
    write(&writer)
    return Array(memory[..<writer.count])
}

/// A byte pattern in which no two places nearby are alike.
func pattern(_ count: Int, seed: Int = 1) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ seed) }
}

/// Bytes written as hexadecimal digits, with spaces where it reads well.
func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// Changed copies of the members of a corpus: bytes flipped, cut off, added, repeated. The same seed, the same copies.
struct Mutations: Sequence, IteratorProtocol {
    private let corpus: [[UInt8]]
    private var left: Int
    private var random: RandomSource

    init(of corpus: [[UInt8]], count: Int, seed: UInt64) {
        self.corpus = corpus
        left = count
        random = .seeded(seed)
    }

    mutating func next() -> [UInt8]? {
        guard left > 0 else { return nil }
        left -= 1
        var bytes = corpus[Int.random(in: 0..<corpus.count, using: &random)]
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 1 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 2 where place < bytes.count: bytes[place] = Bool.random(using: &random) ? 0 : 255
            case 3: bytes.removeSubrange(place...)
            case 4: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
            default: bytes.insert(contentsOf: bytes.prefix(place), at: place)
            }
        }
        return bytes
    }
}

/// One packet that a test sends.
struct SentPacket {
    var sequenceNumber: UInt16
    var timestamp: UInt32
    var marker: Bool
    var payload: [UInt8]
}
