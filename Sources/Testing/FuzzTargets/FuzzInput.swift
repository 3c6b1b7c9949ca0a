/// Takes an input apart, for targets that need more than one piece.
///
/// After the end every value is zero and every piece is empty, so a target needs no checks of its own.
struct FuzzInput {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isEmpty: Bool { offset >= bytes.count }

    mutating func byte() -> UInt8 {
        guard offset < bytes.count else { return 0 }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func word() -> UInt16 { UInt16(byte()) << 8 | UInt16(byte()) }

    /// This many bytes, or what is left.
    mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer {
        let end = min(bytes.count, offset + count)
        defer { offset = end }
        return UnsafeRawBufferPointer(rebasing: bytes[min(offset, end)..<end])
    }

    /// A piece whose length is in the two bytes before it.
    mutating func piece() -> UnsafeRawBufferPointer { bytes(Int(word())) }

    /// Everything that is left.
    mutating func rest() -> UnsafeRawBufferPointer { bytes(bytes.count) }
}

extension [UInt8] {
    /// A piece in the form that ``FuzzInput/piece()`` reads.
    static func piece(_ content: some Collection<UInt8>) -> [UInt8] {
        [UInt8(truncatingIfNeeded: content.count >> 8), UInt8(truncatingIfNeeded: content.count)] + content
    }

    init(text: String) { self = Array(text.utf8) }
}

extension String {
    init(fuzzed bytes: UnsafeRawBufferPointer) { self.init(decoding: bytes, as: UTF8.self) }
}
